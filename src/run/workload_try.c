/* workload_try.c - tries guessed sizes on the engine before anything is measured. */
#include "run/workload_try.h"

#include "base/file.h"
#include "run/child.h"
#include "run/single_run.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAUNCHES = 10 }; /* at most; each loads the model */

static int run_once(struct assay__single_run *once, const char *path, struct assay_error *error)
{
    struct assay__output *outputs = NULL;
    size_t count = 0;
    int code = assay__folder_temporary(once->folder, sizeof once->folder, error);
    if (code) return code;
    code = assay__single_run_run(once, path, "guessed", &outputs, &count, error);
    assay__folder_remove(once->folder);
    return code;
}

/* "x=1x3x224x224", of the first input whose sizes were guessed. */
static const char *shape_form(const struct assay__workload *workload, struct assay__arena *arena)
{
    const struct assay__input_plan *plan = workload->inputs;
    while (plan + 1 < workload->inputs + workload->input_count && !plan->assumed)
        plan++;
    const char *text = assay__arena_text(arena, "%s=", plan->name);
    for (int d = 0; d < plan->rank; d++)
        text = assay__arena_text(arena, "%s%s%lld", text, d ? "x" : "", (long long)plan->dims[d]);
    return text;
}

static int refuse_all(const struct assay__workload *workload, struct assay__arena *arena,
                      const struct assay_error *why, struct assay_error *error)
{
    const char *assumed = assay__workload_assumed(workload, arena);
    int code = assay_error_set(
        error, ASSAY_EINVAL,
        "the engine accepts none of the sizes that were tried, such as %.120s: give the shape, in "
        "the form %.160s (%.160s)",
        assumed ? assumed : "?", shape_form(workload, arena), why->message);
    if (error) error->option = "shapes";
    return code;
}

int assay__workload_try(const struct assay__model *model, const char *path,
                        const struct assay__workload_options *options,
                        const struct assay__drift_options *engine, struct assay__workload **out,
                        struct assay_error *error)
{
    struct assay__workload_options now = *options;
    struct assay__single_run *once = calloc(1, sizeof *once);
    struct assay__arena *arena = assay__arena_new();
    struct assay__workload *workload = NULL;
    struct assay_error why = {0}, first = {0};
    int code = once && arena ? 0 : assay__no_memory(error);
    *out = NULL;
    if (!code) code = assay__worker_locate(once->worker, sizeof once->worker, error);
    for (int i = 0; !code; i++) {
        assay__workload_free(workload);
        workload = NULL;
        code = assay__workload_plan(model, &now, &workload, error);
        if (code || workload->tries < 2) break;
        once->arena = arena;
        once->options = engine;
        once->workload = workload;
        int refused = run_once(once, path, &why);
        if (refused != ASSAY_EENGINE) break; /* the run itself will report any other error */
        if (!i) first = why;
        now.attempt = workload->attempt + 1;
        if (now.attempt >= workload->tries || i + 1 >= LAUNCHES)
            code = refuse_all(workload, arena, &first, error);
    }
    if (code)
        assay__workload_free(workload);
    else
        *out = workload;
    assay__arena_free(arena);
    free(once);
    return code;
}
