/* config_space.c - reads the axes of a grid of configurations, creates the copies of the model that
 * its precisions need, and translates a point of it into run options. */
#include "experiment/config_space.h"

#include "base/no_memory.h"
#include "base/options_read.h"
#include "base/checked.h"
#include "base/file.h"
#include "model/rewrite/rewrites.h"
#include "platform/platform.h"
#include "zoo/model_open.h"

#include <stdlib.h>
#include <string.h>

static const char *const levels[] = {"none", "basic", "extended", "all", NULL};
static const char *const switches[] = {"on", "off", NULL};
#define NAME(KIND, precision, ...) precision,
static const char *const precisions[] = {"float32", ASSAY__PRECISIONS(NAME) NULL};

static const char *const *const words[ASSAY__AXIS_COUNT] = {
    /* NULL: any word, or numbers */
    [ASSAY__AXIS_PRECISION] = precisions,
    [ASSAY__AXIS_OPT] = levels,
    [ASSAY__AXIS_SPINNING] = switches,
};

/* --- reading ---------------------------------------------------------------------------------- */

static long most_of(enum assay__axis axis)
{
    return axis == ASSAY__AXIS_THREADS ? ASSAY__THREADS_MOST : 999999999;
}

static bool is_value(enum assay__axis axis, const char *word)
{
    if (!*word) return false;
    if (assay__axis_is_number(axis))
        return word[0] >= '1' && word[0] <= '9' && word[strspn(word, "0123456789")] == '\0' &&
               strlen(word) < 10 && strtol(word, NULL, 10) <= most_of(axis);
    for (const char *const *c = words[axis]; c && *c; c++)
        if (strcmp(*c, word) == 0) return true;
    /* labels are read by people: "device=cpu batch=8" */
    return words[axis] == NULL && word[strcspn(word, " =")] == '\0';
}

/* The member of struct assay_grid_options. */
static const char *option_of(enum assay__axis axis)
{
    return axis == ASSAY__AXIS_DEVICE ? "devices"
           : axis == ASSAY__AXIS_OPT  ? "optimization"
           : axis == ASSAY__AXIS_SEQ  ? "sequence"
                                      : assay__axis_name(axis);
}

int assay__config_read(struct assay__config_space *space, enum assay__axis axis, const char *list,
                       struct assay_error *error)
{
    struct assay__config_values *values = &space->axes[axis];
    if (!list || !*list) return assay__refuse_option(error, option_of(axis), "the list is empty");
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ","), known = 0;
        const char *word = assay__arena_strndup(space->arena, at, length);
        if (!word) return assay__no_memory(error);
        if (!is_value(axis, word)) {
            const char *all = "";
            for (const char *const *c = words[axis]; c && *c; c++)
                all = assay__arena_text(space->arena, "%s%s%s", all, *all ? ", " : "; give ", *c);
            if (assay__axis_is_number(axis))
                all = assay__arena_text(space->arena,
                                        "; give whole numbers from 1 to %ld, such as 1,2,4",
                                        most_of(axis));
            return assay__refuse_option(error, option_of(axis), "'%s' is not allowed%s", word, all);
        }
        while (known < values->count && strcmp(values->values[known], word) != 0)
            known++;
        if (known == ASSAY__CONFIG_VALUES)
            return assay__refuse_option(error, option_of(axis), "more than %d values",
                                        ASSAY__CONFIG_VALUES);
        if (known == values->count) values->values[values->count++] = word;
        at += length;
        if (!*at) return 0;
    }
}

#define THREADS_EACH 4 /* per CPU: more threads only wait */
#define THREADS_ALWAYS 64

int assay__config_check_thread_count(long threads, struct assay_error *error)
{
    struct assay__arena *arena = threads > THREADS_ALWAYS ? assay__arena_new() : NULL;
    struct assay__machine machine = {0};
    bool known = arena && !assay__machine_read(arena, &machine) && machine.threads > 0;
    long most = (long)machine.threads * THREADS_EACH;
    if (most < THREADS_ALWAYS) most = THREADS_ALWAYS;
    assay__arena_free(arena);
    if (!known || threads <= most) return 0;
    return assay__refuse_option(error, "threads", "%ld is more than %ld, the limit for %d CPUs",
                                threads, most, machine.threads);
}

int assay__config_count(struct assay__config_space *space, size_t most, struct assay_error *error)
{
    space->points = 1;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT; a++)
        if (space->axes[a].count &&
            (assay__mul_overflows(space->points, space->axes[a].count, &space->points) ||
             space->points > most))
            return assay_error_set(error, ASSAY_EINVAL, "the grid has more than %zu points", most);
    return 0;
}

/* --- precision: rewritten copies -------------------------------------------------------------- */

static int rewrite_one(struct assay__config_space *space, const char *name, size_t index,
                       struct assay_error *error)
{
    const char *word = space->axes[ASSAY__AXIS_PRECISION].values[index];
    const struct assay__rewrite_precision *precision = assay__rewrite_precision_find(word);
    struct assay__rewrite_notes notes = {0};
    struct assay__model *model = NULL;
    struct assay_error why = {0};
    space->models[index] = name;
    if (!precision) return 0;
    const char *path = assay__arena_text(space->arena, "%s/precision-%zu.onnx", space->folder,
                                         index);
    int code = assay__model_open(name, &model, NULL, &why);
    if (!code) code = assay__rewrite_precision_apply(precision, model, &notes, &why);
    if (!code) code = assay__model_write(model, path, &why);
    assay__model_free(model);
    space->models[index] = code ? NULL : path;
    if (code)
        space->refusals[index] = assay__arena_text(space->arena, "no %s copy: %s", word,
                                                   why.message);
    return assay__arena_failed(space->arena) ? assay__no_memory(error) : 0;
}

int assay__config_rewrite(struct assay__config_space *space, const char *model,
                          struct assay_error *error)
{
    const struct assay__config_values *values = &space->axes[ASSAY__AXIS_PRECISION];
    bool copies = false;
    int code = 0;
    for (size_t i = 0; i < values->count; i++)
        copies = copies || strcmp(values->values[i], precisions[0]) != 0;
    if (copies && !space->folder[0])
        code = assay__folder_temporary(space->folder, sizeof space->folder, error);
    for (size_t i = 0; i < values->count && !code; i++)
        code = rewrite_one(space, model, i, error);
    return code;
}

void assay__config_end(struct assay__config_space *space)
{
    if (space->folder[0]) assay__folder_remove(space->folder);
    space->folder[0] = '\0';
}

/* --- points ----------------------------------------------------------------------------------- */

size_t assay__config_choice(const struct assay__config_space *space, size_t point,
                            enum assay__axis axis)
{
    for (size_t a = ASSAY__AXIS_COUNT; a-- > (size_t)axis;) {
        size_t count = space->axes[a].count ? space->axes[a].count : 1;
        if (a == (size_t)axis) return point % count;
        point /= count;
    }
    return 0;
}

size_t assay__config_point(const struct assay__config_space *space, const size_t *choices)
{
    size_t point = 0;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT; a++)
        if (space->axes[a].count) point = point * space->axes[a].count + choices[a];
    return point;
}

static void set_value(struct assay__run_options *options, const struct assay__config_space *space,
                      enum assay__axis axis, size_t choice)
{
    const char *text = space->axes[axis].values[choice];
    switch (axis) {
    case ASSAY__AXIS_DEVICE:
        options->target.device = text;
        if (strchr(text, '/')) options->target.library = NULL; /* its build is named: "ovn/cpu" */
        break;
    case ASSAY__AXIS_PRECISION:
        if (space->models[choice]) options->workload.model = space->models[choice];
        break;
    case ASSAY__AXIS_OPT: options->target.optimization = text; break;
    case ASSAY__AXIS_THREADS: options->target.threads = (int)strtol(text, NULL, 10); break;
    case ASSAY__AXIS_SPINNING: options->target.spinning_off = strcmp(text, "off") == 0; break;
    case ASSAY__AXIS_SEQ: options->workload.sequence = strtoll(text, NULL, 10); break;
    case ASSAY__AXIS_BATCH: options->workload.batch = strtoll(text, NULL, 10); break;
    case ASSAY__AXIS_BENCHMARK: /* not of a grid */
    case ASSAY__AXIS_COUNT: break;
    }
}

int assay__config_apply(const struct assay__config_space *space, size_t point,
                        struct assay__run_options *options, struct assay__arm_identity *identity,
                        struct assay_error *error)
{
    struct assay__axis_value *axes = assay__arena_array(space->arena, ASSAY__AXIS_COUNT,
                                                        sizeof *axes);
    const char *label = "";
    size_t count = 0;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT && axes; a++) {
        if (!space->axes[a].count) continue;
        enum assay__axis axis = (enum assay__axis)a;
        size_t choice = assay__config_choice(space, point, axis);
        axes[count] = (struct assay__axis_value){axis, space->axes[a].values[choice]};
        label = assay__arena_text(space->arena, "%s%s%s=%s", label, *label ? " " : "",
                                  assay__axis_name(axis), axes[count++].value);
        set_value(options, space, axis, choice);
    }
    if (assay__arena_failed(space->arena)) return assay__no_memory(error);
    *identity = (struct assay__arm_identity){.label = label, .axes = axes, .axis_count = count};
    if (!space->axes[ASSAY__AXIS_PRECISION].count) return 0;
    const char *refusal =
        space->refusals[assay__config_choice(space, point, ASSAY__AXIS_PRECISION)];
    return refusal ? assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", refusal) : 0;
}
