/* put.c - a document as rows. Each function replaces what the file has for its subject. Lists are
 * deleted and written anew: they are short (samples are not among them), and known as a whole. What
 * was not requested has no row, so that a reader can distinguish it from nothing found. */
#include "profile/put.h"

#include "profile/chunk.h"
#include "profile/tables.h"

#include <math.h>
#include <stdlib.h>

static const struct assay__key of_profile[] = {{.number = 1}}; /* a file holds one */

/* A list of texts as rows of `notes`; trial 0: of the profile. subjects: of each; NULL: none. */
static void put_notes(struct assay__writer *w, int64_t trial, const char *kind,
                      const char *const *texts, const unsigned char *subjects, size_t count)
{
    const struct assay__key keys[] = {{.number = 1}, {.number = trial}, {.text = kind}};
    assay__writer_clear(w, &assay__stored_note, keys, 3);
    for (size_t i = 0; i < count; i++) {
        struct assay__note_row row = {texts[i], subjects ? subjects[i] : 0};
        assay__writer_row(w, &assay__stored_note, keys, (int64_t)i, &row);
    }
}

/* trial 0: of the model itself. */
static void put_tensors(struct assay__writer *w, int64_t model, int64_t trial, const char *role,
                        const struct assay__tensor_info *tensors, size_t count)
{
    struct assay__key keys[] = {
        {.number = model}, {.number = trial}, {.text = role}, {.number = 0}};
    assay__writer_rows(w, &assay__stored_tensor, keys, tensors, count);
    assay__writer_clear(w, &assay__stored_dim, keys, 3);
    for (size_t i = 0; i < count; i++) {
        const struct assay__tensor_info *tensor = &tensors[i];
        keys[3].number = (int64_t)i;
        for (int axis = 0; tensor->dims && axis < tensor->rank; axis++) {
            struct assay__axis_row dim = {tensor->dims[axis],
                                          tensor->symbols ? tensor->symbols[axis] : NULL};
            assay__writer_row(w, &assay__stored_dim, keys, axis, &dim);
        }
    }
}

static void put_metrics(struct assay__writer *w, int64_t trial, int64_t launch,
                        const struct assay_metrics *set)
{
    const struct assay__key keys[] = {{.number = trial}, {.number = launch}};
    assay__writer_clear(w, &assay__stored_metric, keys, 2);
    for (size_t i = 0; i < assay_metrics_count(set); i++)
        assay__writer_row(w, &assay__stored_metric, keys, (int64_t)i, assay_metrics_at(set, i));
}

/* --- the profile itself ----------------------------------------------------------------------- */

static void put_model(struct assay__writer *w, const struct assay__model_info *m)
{
    const struct assay__cell_info *cell = &m->cell;
    const struct assay__key of_model[] = {{.number = m->id}};
    bool is_cell = (cell->kind && cell->kind[0]) || (cell->fault && cell->fault[0]);
    assay__writer_row(w, &assay__stored_model, of_profile, m->id, m);
    assay__writer_rows(w, &assay__stored_operator, of_model, m->operators, m->operator_count);
    assay__writer_rows(w, &assay__stored_cell, of_model, cell, is_cell);
    assay__writer_rows(w, &assay__stored_cell_group, of_model, cell->groups,
                       is_cell ? cell->group_count : 0);
    put_tensors(w, m->id, 0, "input", m->inputs, m->input_count);
    put_tensors(w, m->id, 0, "output", m->outputs, m->output_count);
}

void assay__put_profile(struct assay__writer *w, const struct assay_profile *p)
{
    const struct assay__environment *e = &p->environment;
    struct assay_profile head = *p;
    head.schema = ASSAY_SCHEMA_VERSION;
    head.complete = false; /* only a finished store is complete */
    assay__writer_row(w, &assay__stored_profile, NULL, 1, &head);
    assay__writer_row(w, &assay__stored_environment, of_profile, 0, e);
    put_notes(w, 0, "disturbance", e->disturbances, e->disturbance_kinds, e->disturbance_count);
    put_notes(w, 0, "unknown", e->unknown, NULL, e->unknown_count);
    assay__writer_rows(w, &assay__stored_plan, of_profile, &p->plan, p->plan.asked);
    put_model(w, p->models[0]);
    assay__writer_rows(w, &assay__stored_ceiling, of_profile, p->ceilings, p->ceiling_count);
}

void assay__put_findings(struct assay__writer *w, const struct assay_profile *p)
{
    assay__writer_clear(w, &assay__stored_finding, of_profile, 1);
    assay__writer_clear(w, &assay__stored_evidence, of_profile, 1);
    for (size_t i = 0; i < p->finding_count; i++) {
        struct assay__finding f = assay__finding_tried(&p->findings[i]);
        const struct assay__key keys[] = {{.number = 1}, {.number = (int64_t)i}};
        assay__writer_row(w, &assay__stored_finding, of_profile, (int64_t)i, &f);
        for (size_t e = 0; e < f.evidence_count; e++)
            assay__writer_row(w, &assay__stored_evidence, keys, (int64_t)e, &f.evidence[e]);
    }
}

/* --- layers and series ------------------------------------------------------------------------ */

/* Writes `count` values of each column as chunks, after two keys and the chunk's number, first
 * value and count. */
static void put_chunks(struct assay__writer *w, sqlite3_stmt *statement, int64_t trial, int64_t key,
                       const double *const *columns, int column_count, size_t count)
{
    int64_t chunk = 0;
    for (size_t first = 0; first < count; first += ASSAY__CHUNK_VALUES) {
        size_t left = count - first, part = left < ASSAY__CHUNK_VALUES ? left : ASSAY__CHUNK_VALUES;
        const int64_t keys[] = {trial, key, chunk++, (int64_t)first, (int64_t)part};
        const double *const parts[] = {columns[0] + first, columns[column_count - 1] + first};
        assay__writer_chunk(w, statement, keys, 5, parts, column_count, part);
    }
}

static void put_layers(struct assay__writer *w, int64_t trial, const struct assay__layers *layers)
{
    const struct assay__key of_trial[] = {{.number = trial}};
    assay__writer_clear(w, &assay__stored_layer, of_trial, 1);
    for (size_t i = 0; i < layers->count; i++) {
        struct assay__layer titled = layers->items[i];
        titled.title = assay__layer_title(&titled);
        assay__writer_row(w, &assay__stored_layer, of_trial, (int64_t)i, &titled);
    }
    assay__writer_clear(w, &assay__stored_layer_origin, of_trial, 1);
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__key keys[] = {{.number = trial}, {.number = (int64_t)i}};
        const struct assay__layer *layer = &layers->items[i];
        for (size_t f = 0; f < layer->from_count; f++)
            assay__writer_row(w, &assay__stored_layer_origin, keys, (int64_t)f, &layer->from[f]);
    }
    assay__writer_rows(w, &assay__stored_edge, of_trial, layers->edges, layers->edge_count);
    assay__writer_run(w, "DELETE FROM layer_time_chunks WHERE trial=?1", of_trial, 1);
    if (layers->launch_count == 0 || layers->count == 0) return;
    sqlite3_stmt *statement = assay__writer_prepare(
        w, "INSERT OR REPLACE INTO layer_time_chunks(trial,launch,chunk,first,count,encoding,data)"
           " VALUES(?,?,?,?,?,?,?)");
    double *column = malloc(layers->count * sizeof *column);
    if (!column && w->code == SQLITE_OK) w->code = SQLITE_NOMEM;
    for (size_t l = 0; l < layers->launch_count && w->code == SQLITE_OK; l++) {
        for (size_t i = 0; i < layers->count; i++) {
            const double *times_ns = layers->items[i].launch_times_ns;
            column[i] = times_ns ? times_ns[l] : (double)NAN;
        }
        put_chunks(w, statement, trial, layers->launch_ids[l], (const double *const[]){column}, 1,
                   layers->count);
    }
    sqlite3_finalize(statement);
    free(column);
}

static void put_series(struct assay__writer *w, const struct assay__trial *t)
{
    const struct assay__key of_trial[] = {{.number = t->id}};
    assay__writer_rows(w, &assay__stored_series, of_trial, t->series, t->series_count);
    assay__writer_run(w, "DELETE FROM series_chunks WHERE trial=?1", of_trial, 1);
    sqlite3_stmt *statement = assay__writer_prepare(
        w, "INSERT INTO series_chunks(trial,series,chunk,first,count,time_encoding,time_data,"
           "value_encoding,value_data) VALUES(?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < t->series_count && w->code == SQLITE_OK; i++) {
        const double *const columns[] = {t->series[i].times_ns, t->series[i].values};
        put_chunks(w, statement, t->id, (int64_t)i, columns, 2, t->series[i].count);
    }
    sqlite3_finalize(statement);
}

/* --- a trial ---------------------------------------------------------------------------------- */

static void put_class_counters(struct assay__writer *w, const struct assay__trial *t)
{
    const struct assay__key of_trial[] = {{.number = t->id}};
    bool asked = t->counter_names != NULL;
    bool said = t->class_counter_note && t->class_counter_note[0];
    struct assay__counter_info info = {asked ? (int64_t)t->counter_count : -1,
                                       t->class_counter_note};
    size_t classes = asked ? t->class_counter_count : 0;
    assay__writer_rows(w, &assay__stored_counter_info, of_trial, &info, asked || said);
    assay__writer_rows(w, &assay__stored_counter_name, of_trial, t->counter_names,
                       asked ? t->counter_count : 0);
    assay__writer_rows(w, &assay__stored_class_counters, of_trial, t->class_counters, classes);
    assay__writer_clear(w, &assay__stored_counter_value, of_trial, 1);
    for (size_t c = 0; c < classes; c++) {
        const struct assay__key keys[] = {{.number = t->id}, {.number = (int64_t)c}};
        const double *values = t->class_counters[c].values;
        for (size_t i = 0; values && i < t->counter_count; i++)
            assay__writer_row(w, &assay__stored_counter_value, keys, (int64_t)i, &values[i]);
    }
}

/* Its row, and the facts in rows of their own. Models after the first are written with the trials
 * that run them, so that a killed capture has them too. */
static void put_facts(struct assay__writer *w, const struct assay__trial *t)
{
    const struct assay__key of_trial[] = {{.number = t->id}};
    const struct assay__power_info *power = &t->power;
    struct assay__trial row = *t;
    row.model_id = t->model->id;
    if (row.model_id > 1) put_model(w, t->model);
    assay__writer_row(w, &assay__stored_trial, of_profile, t->id, &row);
    assay__writer_rows(w, &assay__stored_option, of_trial, t->options, t->option_count);
    assay__writer_rows(w, &assay__stored_axis, of_trial, t->axes, t->axis_count);
    assay__writer_rows(w, &assay__stored_token, of_trial, t->generation.ids,
                       t->generation.id_count);
    assay__writer_rows(w, &assay__stored_feedback, of_trial, t->feedback, t->feedback_count);
    assay__writer_rows(w, &assay__stored_token_time, of_trial, t->generation.times,
                       t->generation.time_count);
    assay__writer_rows(w, &assay__stored_requirements, of_trial, t->required, t->required != NULL);
    assay__writer_rows(w, &assay__stored_placed_node, of_trial, t->placement.nodes,
                       t->placement.node_count);
    assay__writer_rows(w, &assay__stored_power, of_trial, power, power->gap != ASSAY__POWER_UNREAD);
    assay__writer_rows(w, &assay__stored_power_rail, of_trial, power->rails, power->rail_count);
    assay__writer_rows(w, &assay__stored_power_warning, of_trial, power->warnings,
                       power->warning_count);
}

void assay__put_trial(struct assay__writer *w, const struct assay__trial *t)
{
    const struct assay__key of_trial[] = {{.number = t->id}};
    put_facts(w, t);
    put_tensors(w, t->model->id, t->id, "input", t->inputs, t->input_count);
    put_notes(w, t->id, "note", t->notes, NULL, t->note_count);
    put_notes(w, t->id, "assumed", t->assumed, NULL, t->assumed_count);
    put_notes(w, t->id, "stability", t->stability.reasons, NULL, t->stability.reason_count);
    put_metrics(w, t->id, 0, t->metrics);
    put_layers(w, t->id, &t->layers);
    put_series(w, t);
    assay__writer_rows(w, &assay__stored_span, of_trial, t->spans, t->span_count);
    /* The row that says whether there is anything, then its lists. */
    const struct assay__peak *p = &t->peak;
    const struct assay__allocations *a = &t->allocations;
    bool looked = p->reason != NULL, tracked = a->reason != NULL;
    assay__writer_rows(w, &assay__stored_peak, of_trial, p, looked);
    assay__writer_rows(w, &assay__stored_peak_tensor, of_trial, p->tensors, looked ? p->count : 0);
    assay__writer_rows(w, &assay__stored_allocations, of_trial, a, tracked);
    assay__writer_rows(w, &assay__stored_phase, of_trial, a->phases, tracked ? a->phase_count : 0);
    assay__writer_rows(w, &assay__stored_class, of_trial, a->classes, tracked ? a->class_count : 0);
    assay__writer_rows(w, &assay__stored_site, of_trial, a->sites, tracked ? a->site_count : 0);
    put_class_counters(w, t);
}

void assay__put_launch(struct assay__writer *w, int trial, const struct assay__launch *l)
{
    const struct assay__key of_trial[] = {{.number = trial}};
    assay__writer_row(w, &assay__stored_launch, of_trial, l->id, l);
    put_metrics(w, trial, l->id, l->metrics);
}
