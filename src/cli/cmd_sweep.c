/* cmd_sweep.c - assay sweep: one model at every point of a grid (batch, sequence, threads, optimisation, precision, device), launches
 * alternating between the points; what is best for a goal, and where the knee is. A point that fails is a result. */
#include "advise/change.h"
#include "advise/sweep.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/run_command.h"
#include "profile/profile.h"
#include "run/arms.h"
#include "zoo/open.h"
#include "zoo/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 3
#define TIME_S 1.0
#define POINTS_MOST 400
#define VALUES_MOST 64

struct sweep_options {
    struct assay__run_flags run; /* first: the shared rows write it */
    const char *batch, *seq, *threads, *opt, *precision, *devices, *goal, *slo, *memory;
    bool power;
};

#define AT(member) offsetof(struct sweep_options, member)
#define ROW(name, member, argument, help)                                                  \
    {                                                                                      \
        name, 0, ASSAY__OPTION_STRING, AT(member), argument, help, NULL, NULL, 0, 0, false \
    }

static const struct assay__option options[] = {
    ROW("batch", batch, "LIST", "Batch sizes, such as 1,2,4,8,16,32."),
    ROW("seq", seq, "LIST", "Lengths of the sequence axis."),
    ROW("threads", threads, "LIST", "Threads of the engine."),
    ROW("opt", opt, "LIST", "Graph optimisation: none, basic, extended, all."),
    ROW("precision", precision, "LIST",
        "float32 (the model as it is), float16, int8-weights, int8-dynamic: rewritten copies."),
    ROW("devices", devices, "LIST", "Devices by name ('assay devices')."),
    {"goal", 0, ASSAY__OPTION_CHOICE, AT(goal), "GOAL", "What is best (default throughput).",
     "throughput|latency|energy", NULL, 0, 0, false},
    ROW("slo", slo, "PERCENTILE=TIME", "Only points within a latency, such as p99=20ms."),
    ROW("memory-budget", memory, "SIZE",
        "Only points whose worker takes at most so much, such as 500MB."),
    {"power", 0, ASSAY__OPTION_FLAG, AT(power), NULL, "Also read power and energy while it runs.",
     NULL, NULL, 0, 0, false},
    {0},
};

struct axis {
    const char *name, *list;
    const char *values[VALUES_MOST];
    size_t count;
    bool integers;
    const char *const *choices; /* NULL: any */
};

enum { AXIS_DEVICE, AXIS_PRECISION, AXIS_OPT, AXIS_THREADS, AXIS_SEQ, AXIS_BATCH, AXIS_COUNT };

static const char *const levels[] = {"none", "basic", "extended", "all", NULL};
static const char *const precisions[] = {"float32", "float16", "int8-weights", "int8-dynamic",
                                         NULL};

static bool is_value(const struct axis *axis, const char *word)
{
    if (axis->integers)
        return word[0] >= '1' && word[0] <= '9' && word[strspn(word, "0123456789")] == '\0' &&
               strlen(word) < 10;
    for (const char *const *c = axis->choices; c && *c; c++)
        if (strcmp(*c, word) == 0) return true;
    return axis->choices == NULL;
}

static int read_axis(struct axis *axis, struct assay__arena *arena)
{
    for (const char *at = axis->list; at && *at;) {
        size_t length = strcspn(at, ",");
        const char *word = assay__arena_strndup(arena, at, length);
        if (!word) return assay__fail(ASSAY_ENOMEM, NULL);
        if (!is_value(axis, word)) {
            assay__say("sweep: --%s: '%s' is not a value of it", axis->name, word);
            return ASSAY__EXIT_USAGE;
        }
        if (axis->count == VALUES_MOST) {
            assay__say("sweep: --%s: more than %d values", axis->name, VALUES_MOST);
            return ASSAY__EXIT_USAGE;
        }
        axis->values[axis->count++] = word;
        at += length;
        at += *at == ',';
    }
    if (axis->list && !axis->count) {
        assay__say("sweep: --%s: the list is empty", axis->name);
        return ASSAY__EXIT_USAGE;
    }
    return 0;
}

struct grid {
    struct assay__arena *arena;
    struct axis axes[AXIS_COUNT];
    size_t points;
    const char *models[VALUES_MOST]; /* by precision: the file */
    char folder[4096];
};

static int read_grid(const struct sweep_options *o, struct grid *grid)
{
    grid->axes[AXIS_DEVICE] = (struct axis){.name = "devices", .list = o->devices};
    grid->axes[AXIS_PRECISION] = (struct axis){
        .name = "precision", .list = o->precision, .choices = precisions};
    grid->axes[AXIS_OPT] = (struct axis){.name = "opt", .list = o->opt, .choices = levels};
    grid->axes[AXIS_THREADS] = (struct axis){
        .name = "threads", .list = o->threads, .integers = true};
    grid->axes[AXIS_SEQ] = (struct axis){.name = "seq", .list = o->seq, .integers = true};
    grid->axes[AXIS_BATCH] = (struct axis){.name = "batch", .list = o->batch, .integers = true};
    grid->points = 1;
    int status = 0;
    for (size_t i = 0; i < AXIS_COUNT && !status; i++) {
        status = read_axis(&grid->axes[i], grid->arena);
        if (grid->axes[i].count) grid->points *= grid->axes[i].count;
        if (!status && grid->points > POINTS_MOST) {
            assay__say("sweep: more than %d points", POINTS_MOST);
            status = ASSAY__EXIT_USAGE;
        }
    }
    if (!status && grid->points < 2) {
        assay__say(
            "sweep: nothing varies: give an axis at least two values, such as --batch 1,2,4,8");
        status = ASSAY__EXIT_USAGE;
    }
    return status;
}

/* --- precision: rewritten copies -------------------------------------------------------------- */

static int rewrite(struct grid *grid, const char *name, size_t index, struct assay_error *error)
{
    static const enum assay__change_kind kinds[] = {ASSAY__CHANGE_NONE, ASSAY__CHANGE_FLOAT16,
                                                    ASSAY__CHANGE_WEIGHTS_INT8,
                                                    ASSAY__CHANGE_DYNAMIC_INT8};
    struct assay__change change = {.kind = ASSAY__CHANGE_NONE};
    struct assay__rewrite_notes notes = {0};
    struct assay__model *model = NULL;
    for (size_t i = 0; precisions[i]; i++)
        if (strcmp(precisions[i], grid->axes[AXIS_PRECISION].values[index]) == 0)
            change.kind = kinds[i];
    grid->models[index] = name;
    if (change.kind == ASSAY__CHANGE_NONE) return 0;
    const char *path = assay__arena_printf(grid->arena, "%s/precision-%zu.onnx", grid->folder,
                                           index);
    if (!path) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    int code = assay__model_open(name, &model, NULL, error);
    if (!code) code = assay__change_rewrite(&change, model, &notes, error);
    if (!code) code = assay__model_write(model, path, error);
    assay__model_free(model);
    if (!code) grid->models[index] = path;
    return code;
}

static int rewrite_all(struct grid *grid, const char *name, struct assay_error *error)
{
    int code = 0;
    if (!grid->axes[AXIS_PRECISION].count) return 0;
    code = assay__folder_temporary(grid->folder, sizeof grid->folder, error);
    for (size_t i = 0; i < grid->axes[AXIS_PRECISION].count && !code; i++)
        code = rewrite(grid, name, i, error);
    return code;
}

/* --- points ----------------------------------------------------------------------------------- */

static void set_value(struct assay_run_options *one, const struct grid *grid, size_t axis,
                      size_t value)
{
    const char *text = grid->axes[axis].values[value];
    switch (axis) {
    case AXIS_DEVICE: one->device = text; break;
    case AXIS_PRECISION: one->model = grid->models[value]; break;
    case AXIS_OPT: one->optimization = text; break;
    case AXIS_THREADS: one->threads = (int)strtol(text, NULL, 10); break;
    case AXIS_SEQ: one->sequence = strtoll(text, NULL, 10); break;
    case AXIS_BATCH: one->batch = strtoll(text, NULL, 10); break;
    default: break;
    }
}

/* Point `index` of the grid: the last axis moves fastest. */
static int add_point(struct assay__arms *arms, const struct grid *grid, size_t index,
                     const struct assay_run_options *whole, struct assay_error *error)
{
    struct assay_run_options one = *whole;
    size_t choice[AXIS_COUNT] = {0}, rest = index;
    char label[256] = "";
    for (size_t a = AXIS_COUNT; a-- > 0;) {
        if (!grid->axes[a].count) continue;
        choice[a] = rest % grid->axes[a].count;
        rest /= grid->axes[a].count;
    }
    for (size_t a = 0; a < AXIS_COUNT; a++) {
        if (!grid->axes[a].count) continue;
        size_t used = strlen(label);
        snprintf(label + used, sizeof label - used, "%s%s=%s", used ? " " : "",
                 a == AXIS_DEVICE ? "device" : grid->axes[a].name, grid->axes[a].values[choice[a]]);
        set_value(&one, grid, a, choice[a]);
    }
    one.label = label;
    return assay__arms_add(arms, &one, NULL, error);
}

static int measure(struct assay__arms *arms, const struct grid *grid,
                   const struct assay_run_options *whole, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < grid->points && !code; i++)
        code = add_point(arms, grid, i, whole, error);
    if (!code) code = assay__arms_start(arms, error);
    return code ? code : assay__arms_launch(arms, 0, arms->count, whole->launches, error);
}

static int finish(const struct sweep_options *o, struct assay_profile *profile, int code,
                  const struct assay_error *error)
{
    size_t usable = 0;
    int status = assay__run_show(&o->run, profile, code, error, &usable);
    if (!status && !usable) {
        assay__say("sweep: no point could be measured; the report says why");
        return ASSAY__EXIT_FAILED;
    }
    if (!status && o->run.output && !o->run.quiet) assay__say("profile kept in %s", o->run.output);
    return status;
}

static int check_limits(const struct sweep_options *o, struct assay__arena *arena,
                        const char **tags, size_t *count)
{
    const char *metric = NULL;
    double seconds = 0;
    uint64_t bytes = 0;
    if (o->slo && !assay__sweep_slo_parse(o->slo, &metric, &seconds)) {
        assay__say("sweep: --slo: '%s' is not of the form p99=20ms", o->slo);
        return ASSAY__EXIT_USAGE;
    }
    if (o->memory && (assay__text_bytes(o->memory, &bytes) || !bytes)) {
        assay__say("sweep: --memory-budget: '%s' is not a size such as 500MB", o->memory);
        return ASSAY__EXIT_USAGE;
    }
    tags[(*count)++] = assay__arena_printf(arena, "goal=%s", o->goal ? o->goal : "throughput");
    if (o->slo) tags[(*count)++] = assay__arena_printf(arena, "slo=%s", o->slo);
    if (o->memory)
        tags[(*count)++] = assay__arena_printf(arena, "memory_budget=%llu",
                                               (unsigned long long)bytes);
    for (size_t i = 0; i < *count; i++)
        if (!tags[i]) return assay__fail(ASSAY_ENOMEM, NULL);
    return 0;
}

static int run(struct assay__invocation *invocation)
{
    struct sweep_options *o = invocation->options;
    struct grid *grid = calloc(1, sizeof *grid);
    struct assay__arms arms = {.count = 0};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    const char *tags[3];
    size_t tag_count = 0;
    int status = grid ? 0 : assay__fail(ASSAY_ENOMEM, NULL);
    if (grid) grid->arena = assay__arena_new();
    if (grid && !grid->arena) status = assay__fail(ASSAY_ENOMEM, NULL);
    if (!status) status = assay__run_check(invocation);
    if (!status) status = read_grid(o, grid);
    if (!status) status = check_limits(o, grid->arena, tags, &tag_count);
    if (status) goto out;
    assay__catch_interrupts();
    struct assay_run_options whole = assay__run_options_of(invocation);
    whole.command = "sweep";
    whole.launches = o->run.launches ? (int)o->run.launches : LAUNCHES;
    if (!o->run.iters && !(o->run.time_s > 0)) whole.time_s = TIME_S;
    if (!assay__option_given(invocation, "layers")) whole.layers = ASSAY_LAYERS_OFF;
    whole.power = o->power;
    whole.tags = tags;
    whole.tag_count = tag_count;
    whole.progress = assay__bar_update;
    whole.progress_context = &bar;
    assay__bar_start(&bar, o->run.quiet);
    int code = rewrite_all(grid, invocation->arguments[0], &error);
    if (!code) code = assay__arms_begin(&arms, &whole, &error);
    if (!code) code = measure(&arms, grid, &whole, &error);
    if (!code) code = assay__arms_finish(&arms, &profile, &error);
    assay__bar_erase(&bar);
    status = finish(o, profile, code, &error);
    assay_profile_close(profile);
    assay__arms_end(&arms);
out:
    if (grid && grid->folder[0]) assay__folder_remove(grid->folder);
    if (grid) assay__arena_free(grid->arena);
    free(grid);
    return status;
}

const struct assay__command assay__command_sweep = {
    .name = "sweep",
    .summary = "run a model over batch sizes, threads, precisions …; the knee and the optimum",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Runs MODEL at every point of a grid and says which point is best for a goal, which others could not be told from it, and where "
        "a larger batch stops paying. Each point has three launches of at most 1 s, alternating with those of the other "
        "points; a point that fails (out of memory, a provider that refuses it) is a result.",
    .examples = "  assay sweep resnet50 --batch 1,2,4,8,16\n"
                "  assay sweep model.onnx --threads 1,2,4 --opt none,all --goal latency\n"
                "  assay sweep cfc:units=64,outputs=16 --batch 1,8,64 --slo p99=1ms -o s.assay\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct sweep_options),
    .run = run,
};
