/* load.c - from the file to the document. Everything is read at once and the file closed again:
 * analysis and renderers see plain structures only. Reading is tolerant where nothing is lost (see
 * rows.h) and says what was damaged in the notes of the trial; a file SQLite itself calls corrupt
 * is refused. */
#include "profile/rows.h"
#include "profile/schema1.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define RANK_LIMIT 64

static void load_header(struct assay__loader *loader)
{
    struct assay_profile *profile = loader->profile;
    struct assay__rows rows = assay__rows_start(loader,
                                                "SELECT * FROM profiles ORDER BY id LIMIT 1", "");
    if (!assay__rows_next(&rows)) {
        assay__load_failed(loader, ASSAY_EFORMAT, "damaged profile: it has no head");
        return;
    }
    profile->schema = (int)assay__rows_int(&rows, "schema", 1, ASSAY_SCHEMA_VERSION,
                                           ASSAY_SCHEMA_VERSION);
    profile->assay_version = assay__rows_text(&rows, "assay_version");
    assay__profile_set_command(profile, assay__rows_text(&rows, "command"));
    profile->command_line = assay__rows_text(&rows, "command_line");
    profile->created = assay__rows_text(&rows, "created");
    profile->complete = assay__rows_int(&rows, "complete", 0, 1, 0) == 1;
    profile->interrupted = assay__rows_int(&rows, "interrupted", 0, 1, 0) == 1;
    assay__rows_stop(&rows);
}

/* Rows of one text column as a list. */
static void load_texts(struct assay__rows rows, const char *column, const char ***texts,
                       size_t *count)
{
    while (assay__rows_next(&rows)) {
        const char **bigger = assay__rows_grow(rows.loader, *texts, *count, sizeof *bigger);
        if (!bigger) continue; /* the failure ends the loop */
        *texts = bigger;
        bigger[(*count)++] = assay__rows_text(&rows, column);
    }
}

static void load_notes(struct assay__loader *loader, int64_t trial, const char *kind,
                       const char ***texts, size_t *count)
{
    load_texts(
        assay__rows_start(
            loader,
            "SELECT text FROM notes WHERE profile=1 AND trial=?1 AND kind=?2 ORDER BY position",
            "is", trial, kind),
        "text", texts, count);
}

static void load_environment(struct assay__loader *loader)
{
    struct assay__environment *e = &loader->profile->environment;
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM environments WHERE profile=1 LIMIT 1", "");
    if (assay__rows_next(&rows)) {
        e->host = assay__rows_text(&rows, "host");
        e->os = assay__rows_text(&rows, "os");
        e->kernel = assay__rows_text(&rows, "kernel");
        e->architecture = assay__rows_text(&rows, "architecture");
        e->cpu_model = assay__rows_text(&rows, "cpu_model");
        e->virtualized = assay__rows_text(&rows, "virtualized");
        e->governor = assay__rows_text(&rows, "governor");
        e->simd = assay__rows_text(&rows, "simd");
        e->container = assay__rows_text(&rows, "container");
        e->packages = (int)assay__rows_int(&rows, "packages", 0, INT_MAX, 0);
        e->cores = (int)assay__rows_int(&rows, "cores", 0, INT_MAX, 0);
        e->threads = (int)assay__rows_int(&rows, "threads", 0, INT_MAX, 0);
        e->memory_bytes = assay__rows_real(&rows, "memory_bytes");
        e->cpu_max_hz = assay__rows_real(&rows, "cpu_max_hz");
        e->l1d_bytes = assay__rows_real(&rows, "l1d_bytes");
        e->l2_bytes = assay__rows_real(&rows, "l2_bytes");
        e->l3_bytes = assay__rows_real(&rows, "l3_bytes");
    }
    assay__rows_stop(&rows);
    load_notes(loader, 0, "disturbance", &e->disturbances, &e->disturbance_count);
    load_notes(loader, 0, "unknown", &e->unknown, &e->unknown_count);
}

/* --- tensors ---------------------------------------------------------------------------------- */

/* The shape of a tensor whose rank is known; axes without a row are symbolic without a name. */
static void load_dims(struct assay__loader *loader, int64_t trial, const char *role,
                      int64_t position, struct assay__tensor_info *tensor)
{
    if (tensor->rank <= 0 || loader->code) return;
    struct assay__arena *arena = loader->profile->arena;
    int64_t *dims = assay__arena_array(arena, (size_t)tensor->rank, sizeof *dims);
    const char **symbols = assay__arena_array(arena, (size_t)tensor->rank, sizeof *symbols);
    if (!dims || !symbols) {
        assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
        return;
    }
    for (int i = 0; i < tensor->rank; i++) {
        dims[i] = -1;
        symbols[i] = "";
    }
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT axis, size, symbol FROM dims WHERE profile=1 AND trial=?1 AND role=?2"
        " AND tensor=?3 ORDER BY axis",
        "isi", trial, role, position);
    while (assay__rows_next(&rows)) {
        int64_t axis = assay__rows_int(&rows, "axis", 0, tensor->rank - 1, -1);
        if (axis < 0) continue;
        dims[axis] = assay__rows_int(&rows, "size", 0, INT64_MAX, -1);
        symbols[axis] = assay__rows_text(&rows, "symbol");
    }
    tensor->dims = dims;
    tensor->symbols = symbols;
}

static void load_tensors(struct assay__loader *loader, int64_t trial, const char *role,
                         struct assay__tensor_info **tensors, size_t *count)
{
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM tensors WHERE profile=1 AND trial=?1 AND role=?2 ORDER BY position",
        "is", trial, role);
    while (assay__rows_next(&rows)) {
        struct assay__tensor_info *bigger = assay__rows_grow(loader, *tensors, *count,
                                                             sizeof *bigger);
        if (!bigger) continue;
        *tensors = bigger;
        struct assay__tensor_info *tensor = &bigger[(*count)++];
        tensor->name = assay__rows_text(&rows, "name");
        tensor->dtype = assay__rows_text(&rows, "dtype");
        tensor->fill = assay__rows_text(&rows, "fill");
        tensor->rank = (int)assay__rows_int(&rows, "rank", 0, RANK_LIMIT, -1);
        load_dims(loader, trial, role, assay__rows_int(&rows, "position", 0, INT64_MAX, -1),
                  tensor);
    }
}

/* --- the model -------------------------------------------------------------------------------- */

static void load_operators(struct assay__loader *loader)
{
    struct assay__model_info *m = loader->profile->models[0];
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM operators WHERE profile=1 ORDER BY position", "");
    while (assay__rows_next(&rows)) {
        struct assay__operator_info *bigger = assay__rows_grow(loader, m->operators,
                                                               m->operator_count, sizeof *bigger);
        if (!bigger) continue;
        m->operators = bigger;
        struct assay__operator_info *op = &bigger[m->operator_count++];
        op->op = assay__rows_text(&rows, "op");
        op->count = assay__rows_int(&rows, "count", 0, INT64_MAX, -1);
        op->flops = assay__rows_real(&rows, "flops");
        op->macs = assay__rows_real(&rows, "macs");
        op->bytes = assay__rows_real(&rows, "bytes");
    }
}

static void load_cell(struct assay__loader *loader)
{
    struct assay__cell_info *cell = &loader->profile->models[0]->cell;
    struct assay__rows rows = assay__rows_start(loader,
                                                "SELECT * FROM cells WHERE profile=1 LIMIT 1", "");
    if (assay__rows_next(&rows)) {
        cell->kind = assay__rows_text(&rows, "kind");
        cell->form = assay__rows_text(&rows, "form");
        cell->steps = assay__rows_int(&rows, "steps", 1, INT_MAX, -1);
        cell->fault = assay__rows_text(&rows, "fault");
    }
    assay__rows_stop(&rows);
    rows = assay__rows_start(loader,
                             "SELECT * FROM neuron_groups WHERE profile=1 ORDER BY position", "");
    while (cell->group_count < ASSAY__CELL_GROUPS && assay__rows_next(&rows)) {
        struct assay__cell_group *bigger = assay__rows_grow(loader, cell->groups, cell->group_count,
                                                            sizeof *bigger);
        if (!bigger) continue;
        cell->groups = bigger;
        struct assay__cell_group *group = &bigger[cell->group_count++];
        group->name = assay__rows_text(&rows, "name");
        group->neurons = assay__rows_int(&rows, "neurons", 0, INT_MAX, -1);
        group->flops = assay__rows_real(&rows, "flops");
        group->flops_needed = assay__rows_real(&rows, "flops_needed");
        group->state = assay__rows_state(&rows, "state");
    }
    assay__rows_stop(&rows);
}

static void load_model(struct assay__loader *loader)
{
    struct assay__model_info *m = loader->profile->models[0];
    struct assay__rows rows = assay__rows_start(loader,
                                                "SELECT * FROM models WHERE profile=1 LIMIT 1", "");
    if (assay__rows_next(&rows)) {
        m->name = assay__rows_text(&rows, "name");
        m->path = assay__rows_text(&rows, "path");
        m->format = assay__rows_text(&rows, "format");
        m->fingerprint = assay__rows_text(&rows, "fingerprint");
        m->sha256 = assay__rows_text(&rows, "sha256");
        m->parameters = assay__rows_int(&rows, "parameters", 0, INT64_MAX, -1);
        m->weight_bytes = assay__rows_int(&rows, "weight_bytes", 0, INT64_MAX, -1);
        m->node_count = assay__rows_int(&rows, "node_count", 0, INT64_MAX, -1);
        m->ir_version = (int)assay__rows_int(&rows, "ir_version", 0, INT_MAX, -1);
        m->opset = assay__rows_text(&rows, "opset");
        m->producer = assay__rows_text(&rows, "producer");
    }
    assay__rows_stop(&rows);
    load_operators(loader);
    load_cell(loader);
    load_tensors(loader, 0, "input", &m->inputs, &m->input_count);
    load_tensors(loader, 0, "output", &m->outputs, &m->output_count);
}

/* --- trials ----------------------------------------------------------------------------------- */

static void load_metrics(struct assay__loader *loader, int64_t trial, int64_t launch,
                         struct assay_metrics *set)
{
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM metrics WHERE trial=?1 AND launch=?2 ORDER BY position", "ii", trial,
        launch);
    while (assay__rows_next(&rows)) {
        struct assay_metric metric = {
            .name = assay__rows_text(&rows, "name"),
            .value = assay__rows_real(&rows, "value"),
            .unit = assay__rows_text(&rows, "unit"),
            .state = assay__rows_state(&rows, "state"),
            .source = assay__rows_text(&rows, "source"),
            .note = assay__rows_text(&rows, "note"),
        };
        if (!metric.name[0]) continue;
        bool unavailable = metric.state == ASSAY_UNAVAILABLE || isnan(metric.value);
        if (unavailable && !metric.note[0])
            metric.note = "the profile holds no value and no reason";
        if (assay_metrics_put(set, &metric) == ASSAY_ENOMEM)
            assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
    }
}

static void load_layer(struct assay__rows *rows, struct assay__layer *layer)
{
    layer->index = (int)assay__rows_int(rows, "layer", 0, INT_MAX, 0);
    layer->name = assay__rows_text(rows, "name");
    layer->op = assay__rows_text(rows, "op");
    layer->provider = assay__rows_text(rows, "provider");
    layer->time_ns = assay__rows_real(rows, "time_ns");
    layer->host_enqueue_ns = assay__rows_real(rows, "host_enqueue_ns");
    layer->share = assay__rows_real(rows, "share");
    layer->flops = assay__rows_real(rows, "flops");
    layer->bytes = assay__rows_real(rows, "bytes");
    layer->live_bytes = assay__rows_real(rows, "live_bytes");
    layer->weight_bytes = assay__rows_real(rows, "weight_bytes");
    layer->bound = assay__rows_text(rows, "bound");
    layer->state = assay__rows_state(rows, "state");
    layer->method = assay__rows_text(rows, "method");
    layer->note = assay__rows_text(rows, "note");
    layer->inputs = assay__rows_text(rows, "inputs");
    layer->weights = assay__rows_text(rows, "weights");
    layer->outputs = assay__rows_text(rows, "outputs");
    layer->attributes = assay__rows_text(rows, "attributes");
    if (layer->state == ASSAY_UNAVAILABLE) layer->time_ns = NAN;
}

/* Both are in the order of the layers' positions: one pass, where a statement for each of 100,000
 * layers takes seconds. */
static void load_origins(struct assay__loader *loader, int64_t trial, struct assay__layers *layers,
                         const int64_t *positions)
{
    size_t at = 0;
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT layer, node FROM layer_origins WHERE trial=?1 ORDER BY layer, position",
        "i", trial);
    while (assay__rows_next(&rows)) {
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
        bigger[layer->from_count++] = assay__rows_text(&rows, "node");
    }
    assay__rows_stop(&rows);
}

static void load_layers(struct assay__loader *loader, int64_t trial, struct assay__layers *layers)
{
    int64_t *positions = NULL;
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM layers WHERE trial=?1 ORDER BY position", "i", trial);
    while (assay__rows_next(&rows)) {
        struct assay__layer *bigger = assay__rows_grow(loader, layers->items, layers->count,
                                                       sizeof *bigger);
        int64_t *more = assay__rows_grow(loader, positions, layers->count, sizeof *more);
        if (!bigger || !more) continue;
        layers->items = bigger;
        positions = more;
        positions[layers->count] = assay__rows_int(&rows, "position", 0, INT64_MAX, -1);
        load_layer(&rows, &bigger[layers->count++]);
    }
    load_origins(loader, trial, layers, positions);
}

static void load_options(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT key, value FROM options WHERE trial=?1 ORDER BY position", "i",
        (int64_t)trial->id);
    while (assay__rows_next(&rows)) {
        struct assay__pair *bigger = assay__rows_grow(loader, trial->options, trial->option_count,
                                                      sizeof *bigger);
        if (!bigger) continue;
        trial->options = bigger;
        struct assay__pair *pair = &bigger[trial->option_count++];
        pair->key = assay__rows_text(&rows, "key");
        pair->value = assay__rows_text(&rows, "value");
    }
}

static enum assay__trial_state trial_state_of(const char *name)
{
    int state = assay__trial_state_parse(name);
    return state < 0 ? ASSAY__TRIAL_RUNNING : (enum assay__trial_state)state;
}

void assay__load_note(struct assay__loader *loader, struct assay__trial *trial, const char *note)
{
    const char **bigger = assay__rows_grow(loader, trial->notes, trial->note_count, sizeof *bigger);
    if (!bigger) return;
    trial->notes = bigger;
    bigger[trial->note_count++] = note;
}

static void load_launches(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM launches WHERE trial=?1 ORDER BY id", "i", (int64_t)trial->id);
    while (assay__rows_next(&rows)) {
        struct assay__launch *launch = assay__trial_launch(loader->profile, trial);
        if (!launch) {
            assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
            continue;
        }
        const char *damage = NULL;
        launch->id = (int)assay__rows_int(&rows, "id", 1, INT_MAX, launch->id);
        launch->state = trial_state_of(assay__rows_text(&rows, "state"));
        launch->reason = assay__rows_text(&rows, "reason");
        launch->streams = (int)assay__rows_int(&rows, "streams", 1, 65536, 1);
        launch->warmup = (size_t)assay__rows_int(&rows, "warmup", 0, INT64_MAX / 2, 0);
        launch->wall_ns = assay__rows_real(&rows, "wall_ns");
        launch->p50_ns = assay__rows_real(&rows, "p50_ns");
        launch->log_tail = assay__rows_text(&rows, "log_tail");
        load_metrics(loader, trial->id, launch->id, launch->metrics);
        assay__load_samples(loader, trial->id, launch, &damage);
        if (damage) assay__load_note(loader, trial, damage);
    }
}

static void load_trial_row(struct assay__rows *rows, struct assay__trial *trial)
{
    struct assay__layers *layers = &trial->layers;
    trial->id = (int)assay__rows_int(rows, "id", 1, INT_MAX, trial->id);
    trial->state = trial_state_of(assay__rows_text(rows, "state"));
    trial->reason = assay__rows_text(rows, "reason");
    trial->target.engine = assay__rows_text(rows, "engine");
    trial->target.engine_version = assay__rows_text(rows, "engine_version");
    trial->target.engine_library = assay__rows_text(rows, "engine_library");
    trial->target.device = assay__rows_text(rows, "device");
    trial->batch = assay__rows_int(rows, "batch", 0, INT64_MAX, -1);
    trial->stability.verdict = assay__rows_text(rows, "stability");
    trial->stability.more_iterations = assay__rows_int(rows, "more_iterations", 0, INT64_MAX, -1);
    layers->method = assay__rows_text(rows, "layers_method");
    layers->reason = assay__rows_text(rows, "layers_reason");
    layers->engine_ns = assay__rows_real(rows, "engine_ns");
    layers->unattributed_ns = assay__rows_real(rows, "unattributed_ns");
    layers->scale_factor = assay__rows_real(rows, "layers_scale");
    layers->slowdown = assay__rows_real(rows, "layers_slowdown");
    layers->spread = assay__rows_real(rows, "layers_spread");
    layers->contention = assay__rows_real(rows, "layers_contention");
    layers->sessions = (int)assay__rows_int(rows, "layers_sessions", 0, INT_MAX, 0);
    layers->discarded = (int)assay__rows_int(rows, "layers_discarded", 0, INT_MAX, 0);
}

/* Series are written when a run ends: a capture that was killed has none, and its reader must not
 * take that for none asked for. */
static void note_lost_series(struct assay__loader *loader, struct assay__trial *trial)
{
    const struct assay_profile *profile = loader->profile;
    if (trial->protocol.watched && !profile->complete && !profile->interrupted &&
        trial->series_count == 0)
        assay__load_note(loader, trial,
                         "what was read over time is kept when a run ends; this capture did not "
                         "end, so it is lost");
}

static void load_trials(struct assay__loader *loader)
{
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM trials WHERE profile=1 ORDER BY id", "");
    while (assay__rows_next(&rows)) {
        struct assay__trial *trial = assay__profile_trial(loader->profile);
        if (!trial) {
            assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
            continue;
        }
        load_trial_row(&rows, trial);
        load_options(loader, trial);
        load_tensors(loader, trial->id, "input", &trial->inputs, &trial->input_count);
        load_notes(loader, trial->id, "note", &trial->notes, &trial->note_count);
        load_notes(loader, trial->id, "stability", &trial->stability.reasons,
                   &trial->stability.reason_count);
        load_metrics(loader, trial->id, 0, trial->metrics);
        load_layers(loader, trial->id, &trial->layers);
        load_launches(loader, trial);
        assay__load_layer_times(loader, trial);
        assay__load_peak(loader, trial);
        assay__load_series(loader, trial);
        assay__load_spans(loader, trial);
        assay__load_allocations(loader, trial);
        assay__load_class_counters(loader, trial);
    }
}

static void load_findings(struct assay__loader *loader)
{
    struct assay_profile *profile = loader->profile;
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM findings WHERE profile=1 ORDER BY position", "");
    while (assay__rows_next(&rows)) {
        struct assay__finding *bigger = assay__rows_grow(loader, profile->findings,
                                                         profile->finding_count, sizeof *bigger);
        if (!bigger) continue;
        profile->findings = bigger;
        struct assay__finding *finding = &bigger[profile->finding_count++];
        finding->id = assay__rows_text(&rows, "id");
        finding->severity = assay__rows_text(&rows, "severity");
        finding->title = assay__rows_text(&rows, "title");
        finding->advice = assay__rows_text(&rows, "advice");
        finding->expected_gain = assay__rows_real(&rows, "expected_gain");
        finding->verified_gain = assay__rows_real(&rows, "verified_gain");
        finding->effort = assay__rows_text(&rows, "effort");
        finding->state = assay__rows_text(&rows, "state");
        finding->reason = assay__rows_text(&rows, "reason");
        finding->energy_saving = assay__rows_real(&rows, "energy_saving");
        finding->verified_low = assay__rows_real(&rows, "verified_low");
        finding->verified_high = assay__rows_real(&rows, "verified_high");
        finding->verified_smallest = assay__rows_real(&rows, "verified_smallest");
        finding->verified_energy = assay__rows_real(&rows, "verified_energy");
        finding->verified_energy_low = assay__rows_real(&rows, "verified_energy_low");
        finding->verified_energy_high = assay__rows_real(&rows, "verified_energy_high");
        finding->verified_drift = assay__rows_real(&rows, "verified_drift");
        finding->verified_of = assay__rows_text(&rows, "verified_of");
        finding->tried = assay__rows_text(&rows, "tried");
        finding->drift_note = assay__rows_text(&rows, "drift_note");
        load_texts(assay__rows_start(
                       loader,
                       "SELECT text FROM evidence WHERE profile=1 AND finding=?1 ORDER BY position",
                       "i", assay__rows_int(&rows, "position", 0, INT64_MAX, -1)),
                   "text", &finding->evidence, &finding->evidence_count);
    }
}

int assay_profile_open(const char *path, struct assay_profile **out, struct assay_error *error)
{
    struct assay__db *db = NULL;
    *out = NULL;
    int code = assay__db_open(path, &db, error);
    if (code) return code;
    struct assay__loader loader = {
        .db = db, .path = path, .error = error, .profile = assay__profile_new()};
    if (!loader.profile ||
        !(loader.profile->path = assay__arena_strdup(loader.profile->arena, path))) {
        assay__load_failed(&loader, ASSAY_ENOMEM, "out of memory");
        goto out;
    }
    /* One transaction: a capture that is still running shows one moment. */
    assay__sql_exec(db->sqlite, "BEGIN");
    load_header(&loader);
    load_environment(&loader);
    load_model(&loader);
    load_trials(&loader);
    load_findings(&loader);
    assay__load_ceilings(&loader);
    if (!loader.code && assay__schema1_derive(loader.profile))
        assay__load_failed(&loader, ASSAY_ENOMEM, "out of memory");
    for (size_t i = 0; !loader.code && i < loader.profile->trial_count; i++)
        note_lost_series(&loader, &loader.profile->trials[i]);
    assay__load_damage(&loader);
out:
    assay__db_close(db);
    if (loader.code)
        assay_profile_close(loader.profile);
    else
        *out = loader.profile;
    return loader.code;
}
