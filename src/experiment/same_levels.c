/* same_levels.c - see same_levels.h. A session is created at each level and saves its graph;
 * nothing runs. The fingerprint covers structure and shapes: if optimisation only changes weights
 * (by folding a constant), that shows in the nodes that disappear. */
#include "experiment/same_levels.h"

#include "base/clock.h"
#include "base/file.h"
#include "model/onnx/onnx.h"
#include "run/assignment.h"

#include <stdio.h>
#include <string.h>

#define NO_GRAPH "" /* not asked, or no answer */

void assay__same_levels_start(struct assay__same_levels *same)
{
    for (size_t p = 0; p < ASSAY__CONFIG_VALUES; p++)
        for (size_t v = 0; v < ASSAY__CONFIG_VALUES; v++)
            same->as[p][v] = v;
}

static int graph_of(const char *path, const char *level, const char *folder,
                    const struct assay__run_options *run, char fingerprint[17])
{
    char saved[PATH_MAX];
    struct assay__assignment made;
    struct assay__model *model = NULL;
    struct assay_error why = {0};
    struct assay__arena *arena = assay__arena_new();
    int code = arena && !assay__path_join(folder, "optimised.onnx", saved, sizeof saved)
                   ? 0
                   : ASSAY_ENOMEM;
    const struct assay__assignment_request request = {
        .engine = run->target.engine ? run->target.engine : "ort",
        .library = run->target.library,
        .device = run->target.device,
        .model = path,
        .optimization = level,
        .save = saved,
        .interrupt = run->callbacks.interrupt};
    if (!code) code = assay__assignment_ask(&request, arena, &made, &why);
    if (!code) code = assay__model_read(saved, &model, &why);
    if (!code) code = assay__model_fingerprint(model, fingerprint);
    if (code) fingerprint[0] = '\0';
    assay__model_free(model);
    assay__arena_free(arena);
    remove(saved);
    return code;
}

int assay__same_levels_find(struct assay__same_levels *same,
                            const struct assay__config_space *space, size_t precision,
                            const char *path, const struct assay__run_options *run, size_t first,
                            double budget_s)
{
    const struct assay__config_values *levels = &space->axes[ASSAY__AXIS_OPT];
    char graphs[ASSAY__CONFIG_VALUES][17] = {NO_GRAPH}, folder[PATH_MAX];
    uint64_t begin_ns = assay__now_ns();
    if (levels->count < 2 || assay__folder_temporary(folder, sizeof folder, NULL)) return 0;
    int code = 0;
    for (size_t i = 0; i < levels->count && code != ASSAY_EINTERRUPTED; i++) {
        /* from `first` downwards and around: a level represents those queried after it */
        size_t v = (first + levels->count - i) % levels->count;
        double spent_s = (double)(assay__now_ns() - begin_ns) / 1e9;
        if (spent_s + (i ? spent_s / (double)i : 0) > budget_s) break;
        code = graph_of(path, levels->values[v], folder, run, graphs[v]);
        for (size_t k = 0; k < i && *graphs[v]; k++) {
            size_t other = (first + levels->count - k) % levels->count;
            if (strcmp(graphs[other], graphs[v]) == 0) {
                same->as[precision][v] = other;
                break;
            }
        }
    }
    assay__folder_remove(folder);
    return code == ASSAY_EINTERRUPTED ? code : 0;
}
