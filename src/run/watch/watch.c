/* watch.c - passes each event of a run to the active watchers of watchers.h. */
#include "run/watch/watchers.h"

#include "base/clock.h"

#include <stdlib.h>

#define ROW(NAME) &assay__watch_##NAME,
static const struct assay__watcher_ops *const rows[] = {ASSAY__WATCHERS(ROW)};
#define ROWS (sizeof rows / sizeof rows[0])

struct assay__watch {
    struct assay__watcher *watchers[ROWS]; /* NULL: not active */
};

int assay__watch_begin(const struct assay__watch_plan *plan, struct assay__watch **watch,
                       struct assay_error *error)
{
    bool any = false;
    *watch = NULL;
    for (size_t i = 0; i < ROWS; i++)
        any |= rows[i]->wanted(plan->options);
    if (!any) return 0;
    struct assay__watch *made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    for (size_t i = 0; i < ROWS; i++) {
        if (!rows[i]->wanted(plan->options)) continue;
        int code = rows[i]->begin(plan, &made->watchers[i], error);
        if (code) {
            assay__watch_free(made);
            return code;
        }
    }
    *watch = made;
    return 0;
}

void assay__watch_started(struct assay__watch *watch, int launch, pid_t worker)
{
    for (size_t i = 0; watch && i < ROWS; i++)
        if (watch->watchers[i] && rows[i]->started)
            rows[i]->started(watch->watchers[i], launch, worker);
}

void assay__watch_window_begins(struct assay__watch *watch, int launch)
{
    for (size_t i = 0; watch && i < ROWS; i++)
        if (watch->watchers[i] && rows[i]->window_begins)
            rows[i]->window_begins(watch->watchers[i], launch, assay__now_ns());
}

void assay__watch_window_ends(struct assay__watch *watch, int launch, size_t completions)
{
    uint64_t now_ns = assay__now_ns();
    for (size_t i = 0; watch && i < ROWS; i++)
        if (watch->watchers[i] && rows[i]->window_ends)
            rows[i]->window_ends(watch->watchers[i], launch, now_ns, completions);
}

void assay__watch_ended(struct assay__watch *watch, int launch)
{
    for (size_t i = 0; watch && i < ROWS; i++)
        if (watch->watchers[i] && rows[i]->ended) rows[i]->ended(watch->watchers[i], launch);
}

int assay__watch_extra(struct assay__watch *watch, const struct assay__request *request,
                       struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; watch && i < ROWS && code == 0; i++)
        if (watch->watchers[i] && rows[i]->extra)
            code = rows[i]->extra(watch->watchers[i], request, error);
    return code;
}

int assay__watch_finish(struct assay__watch *watch, const struct assay__trial_input *input,
                        struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; watch && i < ROWS && code == 0; i++)
        if (watch->watchers[i] && rows[i]->finish)
            code = rows[i]->finish(watch->watchers[i], input, error);
    return code;
}

void assay__watch_free(struct assay__watch *watch)
{
    for (size_t i = 0; watch && i < ROWS; i++)
        if (watch->watchers[i]) rows[i]->free(watch->watchers[i]);
    free(watch);
}
