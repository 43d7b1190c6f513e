/* watch_conclude.c - the last of the watchers, for what needs all the others' metrics: the score,
 * and what the caller of the run adds before the profile is stored. It watches nothing. */
#include "run/watch/watchers.h"

#include "cost/score.h"
#include "profile/trial_values.h"

#include <stdlib.h>

struct assay__watcher {
    assay__conclude_fn *conclude;
    void *context;
};

static bool wanted(const struct assay__run_options *options)
{
    return options->conclude || options->watching.power || options->watching.memory;
}

static int new_watcher(const struct assay__watch_plan *plan, struct assay__watcher **watcher,
                       struct assay_error *error)
{
    struct assay__watcher *w = *watcher = calloc(1, sizeof *w);
    if (!w) return assay__no_memory(error);
    w->conclude = plan->options->conclude;
    w->context = plan->options->conclude_context;
    return 0;
}

static int put_score(struct assay__watcher *w, const struct assay__trial_input *input,
                     struct assay_error *error)
{
    const struct assay__trial *trial = input->trial;
    int code = assay__score_put(trial->metrics, assay__trial_on_cpu(trial));
    if (code == 0 && w->conclude)
        code = w->conclude(w->context, input->profile, (size_t)(trial - input->profile->trials));
    return code ? assay_error_set(error, code, "out of memory for the metrics") : 0;
}

static void free_watcher(struct assay__watcher *watcher)
{
    free(watcher);
}

const struct assay__watcher_ops assay__watch_conclude = {
    .name = "conclude",
    .wanted = wanted,
    .begin = new_watcher,
    .finish = put_score,
    .free = free_watcher,
};
