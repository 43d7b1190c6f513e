/* load.c - from the file to the document. Everything is read at once and the file is closed again:
 * analysis and renderers see plain structures only. Reading is tolerant where nothing is lost (see
 * rows.h) and reports damage in the notes of the trial; a file that SQLite itself calls corrupt is
 * refused. A missing table means that nothing was requested, as in profiles from before the table
 * existed. What a field may contain is in tables.c. */
#include "profile/rows.h"
#include "profile/schema1.h"

#include <limits.h>
#include <math.h>

static const struct assay__key of_profile[] = {{.number = 1}}; /* a file holds one */
static const char no_reason[] = "the profile has neither a value nor a reason";

/* A list of texts from `notes`; trial 0: those of the profile. subjects may be NULL. */
static void load_notes(struct assay__loader *loader, int64_t trial, const char *kind,
                       const char ***texts, unsigned char **subjects, size_t *count)
{
    struct assay__note_row note;
    const struct assay__key keys[] = {{.number = 1}, {.number = trial}, {.text = kind}};
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_note, keys, 3, NULL);
    while (assay__rows_read(&rows, &note)) {
        if (!note.text) continue;
        *texts = assay__rows_grow(loader, *texts, *count, sizeof **texts);
        if (subjects) *subjects = assay__rows_grow(loader, *subjects, *count, 1);
        if (loader->code) continue; /* which ends the rows */
        if (subjects) (*subjects)[*count] = (unsigned char)note.subject;
        (*texts)[(*count)++] = note.text;
    }
}

static void load_head(struct assay__loader *loader)
{
    struct assay__environment *e = &loader->profile->environment;
    struct assay__plan *plan = &loader->profile->plan;
    if (!assay__load_one(loader, &assay__stored_profile, NULL, loader->profile))
        assay__load_failed(loader, ASSAY_EFORMAT, "damaged profile: no header row");
    loader->profile->schema = loader->db->schema; /* the mark counts, which was checked */
    assay__load_one(loader, &assay__stored_environment, of_profile, e);
    load_notes(loader, 0, "disturbance", &e->disturbances, &e->disturbance_kinds,
               &e->disturbance_count);
    load_notes(loader, 0, "unknown", &e->unknown, NULL, &e->unknown_count);
    plan->asked = assay__load_one(loader, &assay__stored_plan, of_profile, plan);
    if (!isfinite(plan->slo_s)) plan->slo_metric = NULL; /* a limit is both */
}

/* --- models ----------------------------------------------------------------------------------- */

/* The shape of a tensor whose rank is known; axes without a row are symbolic without a name. */
static void load_dims(struct assay__loader *loader, const struct assay__key keys[4],
                      struct assay__tensor_info *tensor)
{
    if (tensor->rank <= 0) return;
    int64_t *dims = assay__load_array(loader, (size_t)tensor->rank, sizeof *dims);
    const char **symbols = assay__load_array(loader, (size_t)tensor->rank, sizeof *symbols);
    if (loader->code) return;
    for (int i = 0; i < tensor->rank; i++) {
        dims[i] = -1;
        symbols[i] = "";
    }
    struct assay__axis_row dim;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_dim, keys, 4, NULL);
    while (assay__rows_read(&rows, &dim)) {
        int64_t axis = assay__rows_position(&rows);
        if (axis < 0 || axis >= tensor->rank) continue;
        dims[axis] = dim.size;
        symbols[axis] = dim.symbol;
    }
    tensor->dims = dims;
    tensor->symbols = symbols;
}

/* trial 0: of the model itself. */
static void load_tensors(struct assay__loader *loader, int64_t model, int64_t trial,
                         const char *role, struct assay__tensor_info **tensors, size_t *count)
{
    struct assay__key keys[] = {
        {.number = model}, {.number = trial}, {.text = role}, {.number = 0}};
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_tensor, keys, 3, NULL);
    for (struct assay__tensor_info *t; (t = assay__rows_append(&rows, tensors, count));) {
        keys[3].number = assay__rows_position(&rows);
        load_dims(loader, keys, t);
    }
}

static void load_models(struct assay__loader *loader)
{
    struct assay_profile *p = loader->profile;
    struct assay__model_info *model = p->models[0]; /* is there already */
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_model, of_profile, 1, NULL);
    for (; assay__rows_next(&rows); model = NULL) {
        if (!model) model = assay__profile_model(p);
        if (!model) {
            assay__load_no_memory(loader);
            continue;
        }
        model->id = (int)assay__rows_int(&rows, "id", 1, INT_MAX, model->id);
        assay__rows_fill(&rows, model);
    }
    for (size_t i = 0; i < p->model_count; i++) {
        struct assay__model_info *m = p->models[i];
        struct assay__cell_info *cell = &m->cell;
        const struct assay__key of_model[] = {{.number = m->id}};
        assay__load_list(loader, &assay__stored_operator, of_model, NULL, &m->operators,
                         &m->operator_count);
        assay__load_one(loader, &assay__stored_cell, of_model, cell);
        assay__load_list(loader, &assay__stored_cell_group, of_model, NULL, &cell->groups,
                         &cell->group_count);
        load_tensors(loader, m->id, 0, "input", &m->inputs, &m->input_count);
        load_tensors(loader, m->id, 0, "output", &m->outputs, &m->output_count);
    }
}

/* --- layers ----------------------------------------------------------------------------------- */

/* Both are in the order of the layers' positions: one pass, because a statement for each of 100,000
 * layers would take seconds. */
static void load_origins(struct assay__loader *loader, const struct assay__key *of_trial,
                         struct assay__layers *layers, const int64_t *positions)
{
    size_t at = 0;
    const char *node;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_layer_origin, of_trial, 1,
                                             NULL);
    while (assay__rows_read(&rows, &node)) {
        int64_t position = assay__rows_int(&rows, "layer", 0, INT64_MAX, -1);
        while (at < layers->count && positions[at] < position)
            at++;
        if (at == layers->count) break;
        struct assay__layer *layer = &layers->items[at];
        if (position < 0 || positions[at] != position) continue; /* of no layer */
        const char **bigger = assay__rows_grow(loader, layer->from, layer->from_count,
                                               sizeof *bigger);
        if (!bigger) continue;
        layer->from = bigger;
        bigger[layer->from_count++] = node;
    }
    assay__rows_stop(&rows);
}

/* Index of the layer with this position; -1: there is none. */
static int layer_at(const int64_t *positions, size_t count, int64_t position)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (positions[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && positions[low] == position ? (int)low : -1;
}

/* Edges of layers that do not exist are left out. */
static void load_edges(struct assay__loader *loader, const struct assay__key *of_trial,
                       struct assay__trial *trial, const int64_t *positions)
{
    struct assay__layers *layers = &trial->layers;
    struct assay__edge edge;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_edge, of_trial, 1, trial);
    while (assay__rows_read(&rows, &edge)) {
        int producer = layer_at(positions, layers->count, edge.producer);
        int consumer = layer_at(positions, layers->count, edge.consumer);
        bool whole = (producer >= 0) == (edge.producer >= 0) &&
                     (consumer >= 0) == (edge.consumer >= 0);
        if (!whole || (producer < 0 && consumer < 0)) continue;
        struct assay__edge *bigger = assay__rows_grow(loader, layers->edges, layers->edge_count,
                                                      sizeof *bigger);
        if (!bigger) break;
        layers->edges = bigger;
        bigger[layers->edge_count++] = (struct assay__edge){producer, consumer, edge.tensor,
                                                            edge.bytes};
    }
    assay__rows_stop(&rows);
}

static void load_layers(struct assay__loader *loader, const struct assay__key *of_trial,
                        struct assay__trial *trial)
{
    struct assay__layers *layers = &trial->layers;
    int64_t *positions = NULL;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_layer, of_trial, 1, NULL);
    for (struct assay__layer *l; (l = assay__rows_append(&rows, &layers->items, &layers->count));) {
        positions = assay__rows_grow(loader, positions, layers->count - 1, sizeof *positions);
        if (!positions) break;
        positions[layers->count - 1] = assay__rows_position(&rows);
        if (l->state == ASSAY_UNAVAILABLE) l->time_ns = NAN;
    }
    assay__rows_stop(&rows);
    if (!positions) return;
    load_origins(loader, of_trial, layers, positions);
    load_edges(loader, of_trial, trial, positions);
}

/* --- memory and counters ---------------------------------------------------------------------- */

/* What was not looked for, or not requested, has no row. */
static void load_memory(struct assay__loader *loader, const struct assay__key *of_trial,
                        struct assay__trial *trial)
{
    struct assay__peak *peak = &trial->peak;
    struct assay__allocations *a = &trial->allocations;
    if (assay__load_one(loader, &assay__stored_peak, of_trial, peak)) {
        assay__load_list(loader, &assay__stored_peak_tensor, of_trial, trial, &peak->tensors,
                         &peak->count);
        if (!peak->reason[0] && peak->count == 0 && peak->alive != 0)
            peak->reason = "the profile has neither tensors nor a reason";
    }
    if (!assay__load_one(loader, &assay__stored_allocations, of_trial, a)) return;
    assay__load_list(loader, &assay__stored_phase, of_trial, trial, &a->phases, &a->phase_count);
    assay__load_list(loader, &assay__stored_class, of_trial, trial, &a->classes, &a->class_count);
    assay__load_list(loader, &assay__stored_site, of_trial, trial, &a->sites, &a->site_count);
    if (!a->reason[0] && a->phase_count == 0)
        a->reason = "the profile has neither allocations nor a reason";
}

/* One value per name, unknown where there is no row. */
static double *load_class_values(struct assay__loader *loader, const struct assay__trial *trial,
                                 int64_t position)
{
    double *values = assay__load_array(loader, trial->counter_count, sizeof *values);
    for (size_t i = 0; values && i < trial->counter_count; i++)
        values[i] = NAN;
    double value;
    const struct assay__key keys[] = {{.number = trial->id}, {.number = position}};
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_counter_value, keys, 2, NULL);
    while (assay__rows_read(&rows, &value)) {
        int64_t at = assay__rows_position(&rows);
        if (at >= 0 && at < (int64_t)trial->counter_count) values[at] = value;
    }
    return values;
}

static void load_class_counters(struct assay__loader *loader, const struct assay__key *of_trial,
                                struct assay__trial *trial)
{
    struct assay__counter_info info;
    if (!assay__load_one(loader, &assay__stored_counter_info, of_trial, &info)) return;
    trial->class_counter_note = info.note;
    if (info.counters < 0) return;
    /* If names were requested they are not NULL, even if there are none. */
    trial->counter_names = assay__rows_grow(loader, NULL, 0, sizeof *trial->counter_names);
    assay__load_list(loader, &assay__stored_counter_name, of_trial, trial, &trial->counter_names,
                     &trial->counter_count);
    if (!loader->code && info.counters != (int64_t)trial->counter_count)
        assay__load_note(loader, trial, "damaged profile: names of counters are missing");
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_class_counters, of_trial, 1,
                                             trial);
    for (struct assay__class_counters *c;
         (c = assay__rows_append(&rows, &trial->class_counters, &trial->class_counter_count));)
        /* The writer puts a row for every value, so an intact file has room for all of them. */
        if (assay__rows_charge(loader, trial->counter_count))
            c->values = load_class_values(loader, trial, assay__rows_position(&rows));
}

/* --- trials ----------------------------------------------------------------------------------- */

static void load_metrics(struct assay__loader *loader, int64_t trial, int64_t launch,
                         struct assay_metrics *set)
{
    struct assay_metric metric;
    const struct assay__key keys[] = {{.number = trial}, {.number = launch}};
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_metric, keys, 2, NULL);
    while (assay__rows_read(&rows, &metric)) {
        if (!metric.name[0]) continue;
        bool unavailable = metric.state == ASSAY_UNAVAILABLE || isnan(metric.value);
        if (unavailable && !metric.note[0]) metric.note = no_reason;
        if (assay_metrics_put(set, &metric) == ASSAY_ENOMEM) assay__load_no_memory(loader);
    }
}

void assay__load_note(struct assay__loader *loader, struct assay__trial *trial, const char *note)
{
    if (assay__trial_add_note(loader->profile, trial, note)) assay__load_no_memory(loader);
}

static void load_launches(struct assay__loader *loader, const struct assay__key *of_trial,
                          struct assay__trial *trial)
{
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_launch, of_trial, 1, NULL);
    while (assay__rows_next(&rows)) {
        struct assay__launch *launch = assay__trial_launch(loader->profile, trial);
        if (!launch) {
            assay__load_no_memory(loader);
            continue;
        }
        const char *damage = NULL;
        launch->id = (int)assay__rows_int(&rows, "id", 1, INT_MAX, launch->id);
        assay__rows_fill(&rows, launch);
        load_metrics(loader, trial->id, launch->id, launch->metrics);
        assay__load_samples(loader, trial->id, launch, &damage);
        if (damage) assay__load_note(loader, trial, damage);
    }
}

static void load_spans(struct assay__loader *loader, const struct assay__key *of_trial,
                       struct assay__trial *trial)
{
    struct assay__span span;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_span, of_trial, 1, trial);
    while (assay__rows_read(&rows, &span)) {
        if (!(span.begin_ns <= span.end_ns))
            assay__load_note(loader, trial,
                             "damaged profile: a span ends before it begins; it is left out");
        else if (assay__trial_add_span(loader->profile, trial, &span))
            assay__load_no_memory(loader);
    }
}

/* Series are written when a run ends: a capture that was killed has none, and its reader must not
 * conclude that none were requested. */
static void note_lost_series(struct assay__loader *loader)
{
    struct assay_profile *p = loader->profile;
    for (size_t i = 0; i < p->trial_count && !p->complete && !p->interrupted; i++)
        if (p->trials[i].protocol.watched && p->trials[i].series_count == 0)
            assay__load_note(loader, &p->trials[i],
                             "sensor readings are saved when a run ends; this capture did not end, "
                             "so they are lost");
}

/* What schema1.c reads from the texts of an older profile. */
static void load_facts(struct assay__loader *loader, const struct assay__key *of_trial,
                       struct assay__trial *trial)
{
    struct assay__power_info *power = &trial->power;
    struct assay__placement *placement = &trial->placement;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_axis, of_trial, 1, trial);
    for (struct assay__axis_value *a;
         (a = assay__rows_append(&rows, &trial->axes, &trial->axis_count));)
        if (a->axis == ASSAY__AXIS_COUNT) trial->axis_count--; /* none that we know */
    struct assay__requirements *required = assay__load_array(loader, 1, sizeof *required);
    if (required && assay__load_one(loader, &assay__stored_requirements, of_trial, required))
        trial->required = required;
    assay__load_list(loader, &assay__stored_token, of_trial, trial, &trial->generation.ids,
                     &trial->generation.id_count);
    assay__load_list(loader, &assay__stored_feedback, of_trial, trial, &trial->feedback,
                     &trial->feedback_count);
    assay__load_list(loader, &assay__stored_token_time, of_trial, trial, &trial->generation.times,
                     &trial->generation.time_count);
    assay__load_list(loader, &assay__stored_placed_node, of_trial, trial, &placement->nodes,
                     &placement->node_count);
    assay__load_one(loader, &assay__stored_power, of_trial, power);
    assay__load_list(loader, &assay__stored_power_rail, of_trial, trial, &power->rails,
                     &power->rail_count);
    assay__load_list(loader, &assay__stored_power_warning, of_trial, trial, &power->warnings,
                     &power->warning_count);
}

static void load_trials(struct assay__loader *loader)
{
    struct assay_profile *p = loader->profile;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_trial, of_profile, 1, NULL);
    while (assay__rows_next(&rows)) {
        struct assay__trial *trial = assay__profile_trial(p);
        if (!trial) {
            assay__load_no_memory(loader);
            continue;
        }
        trial->id = (int)assay__rows_int(&rows, "id", 1, INT_MAX, trial->id);
        assay__rows_fill(&rows, trial);
        for (size_t i = 1; i < p->model_count; i++) /* otherwise the first, which it already has */
            if (p->models[i]->id == trial->model_id) trial->model = p->models[i];
        const struct assay__key of_trial[] = {{.number = trial->id}};
        assay__load_list(loader, &assay__stored_option, of_trial, NULL, &trial->options,
                         &trial->option_count);
        load_facts(loader, of_trial, trial);
        load_tensors(loader, trial->model->id, trial->id, "input", &trial->inputs,
                     &trial->input_count);
        load_notes(loader, trial->id, "note", &trial->notes, NULL, &trial->note_count);
        load_notes(loader, trial->id, "assumed", &trial->assumed, NULL, &trial->assumed_count);
        load_notes(loader, trial->id, "stability", &trial->stability.reasons, NULL,
                   &trial->stability.reason_count);
        load_metrics(loader, trial->id, 0, trial->metrics);
        load_layers(loader, of_trial, trial);
        load_launches(loader, of_trial, trial);
        assay__load_layer_times(loader, trial);
        assay__load_series(loader, trial);
        load_spans(loader, of_trial, trial);
        load_memory(loader, of_trial, trial);
        load_class_counters(loader, of_trial, trial);
    }
}

static void load_findings(struct assay__loader *loader)
{
    struct assay_profile *p = loader->profile;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_finding, of_profile, 1, NULL);
    for (struct assay__finding *f;
         (f = assay__rows_append(&rows, &p->findings, &p->finding_count));) {
        const struct assay__key keys[] = {{.number = 1}, {.number = assay__rows_position(&rows)}};
        assay__load_list(loader, &assay__stored_evidence, keys, NULL, &f->evidence,
                         &f->evidence_count);
    }
}

static void load_ceilings(struct assay__loader *loader)
{
    struct assay_profile *p = loader->profile;
    struct assay__trial *first = p->trial_count ? &p->trials[0] : NULL;
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_ceiling, of_profile, 1, first);
    for (struct assay__ceiling_info *c;
         (c = assay__rows_append(&rows, &p->ceilings, &p->ceiling_count));)
        if (isnan(c->value) && !c->note[0]) c->note = no_reason;
}

/* --- damage ----------------------------------------------------------------------------------- */

/* What is missing from a profile although its writer put it there. A missing table is treated as an
 * empty one, and a report on an empty table looks as if nothing had been measured: the notes of
 * every trial say so here (an error if there is no trial). Required are the tables that existed
 * from the start of the file's schema (`since` of their field tables), with their keys. A capture
 * that was killed lacks rows, never tables. */

static const char samples[] = "sample_chunks"; /* the only such table without a field table */

/* Views and virtual tables do not prepare on this connection, so they count as missing. */
static bool has_samples(struct assay__loader *loader)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        loader->db->sqlite,
        "SELECT trial, launch, stream, chunk, first, count, encoding, data FROM sample_chunks", -1,
        &statement, NULL);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

static bool has_table(struct assay__loader *loader, const struct assay__field_table *table)
{
    static const struct assay__key any[ASSAY__KEYS_MOST];
    struct assay__rows rows = assay__rows_of(loader, table, any, assay__keys_count(table), NULL);
    bool found = rows.statement != NULL;
    assay__rows_stop(&rows);
    return found;
}

static bool demand(struct assay__loader *loader, const char *table, bool found)
{
    if (found || loader->code) return true;
    const char *text = assay__arena_printf(
        loader->profile->arena, "damaged profile: its table '%s' is missing or not readable",
        table);
    struct assay_profile *profile = loader->profile;
    if (!text)
        assay__load_no_memory(loader);
    else if (profile->trial_count == 0)
        assay__load_failed(loader, ASSAY_EFORMAT, text);
    for (size_t i = 0; i < profile->trial_count && text; i++)
        assay__load_note(loader, &profile->trials[i], text);
    return false;
}

static void note_damage(struct assay__loader *loader)
{
    struct assay_profile *profile = loader->profile;
    if (loader->code) return;
    bool sound = demand(loader, samples, has_samples(loader));
    for (size_t i = 0; i < assay__table_count; i++) {
        const struct assay__field_table *table = assay__tables[i];
        if ((table->since ? table->since : 2) <= loader->db->schema)
            sound &= demand(loader, table->name, has_table(loader, table));
    }
    /* The writer puts a trial's metrics before it marks the profile as complete, including
     * unavailable ones. */
    for (size_t i = 0; i < profile->trial_count && sound && profile->complete; i++) {
        struct assay__trial *trial = &profile->trials[i];
        if (trial->state != ASSAY__TRIAL_OK || assay_metrics_get(trial->metrics, "latency.p50"))
            continue;
        assay__load_note(loader, trial,
                         "damaged profile: the trial is complete, but its latency.p50 is missing");
    }
}

int assay_profile_open(const char *path, struct assay_profile **out, struct assay_error *error)
{
    struct assay__db *db = NULL;
    if (!path || !out)
        return assay_error_set(error, ASSAY_EINVAL, "no path, or nowhere to put the profile");
    *out = NULL;
    int code = assay__db_open(path, &db, error);
    if (code) return code;
    struct assay__loader loader = {
        .db = db, .path = path, .error = error, .profile = assay__profile_new()};
    if (!loader.profile ||
        !(loader.profile->path = assay__arena_strdup(loader.profile->arena, path))) {
        assay__load_no_memory(&loader);
        goto out;
    }
    /* One transaction: of a capture that is still running, a consistent state is read. */
    assay__sql_exec(db->sqlite, "BEGIN");
    load_head(&loader);
    load_models(&loader);
    load_trials(&loader);
    load_findings(&loader);
    load_ceilings(&loader);
    if (!loader.code && db->schema == 1 && assay__schema1_derive(loader.profile))
        assay__load_failed(&loader, ASSAY_ENOMEM, "out of memory");
    note_lost_series(&loader);
    note_damage(&loader);
out:
    assay__db_close(db);
    if (loader.code)
        assay_profile_close(loader.profile);
    else
        *out = loader.profile;
    return loader.code;
}
