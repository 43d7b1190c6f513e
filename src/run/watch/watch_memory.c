/* watch_memory.c - the worker's memory over time, and its allocations.
 *
 * Resident memory, page faults and threads are read every 20 ms from /proc by a thread of this
 * process; a device's memory through NVML every 100 ms or more. The proportional set size makes the
 * kernel walk the worker's page tables, so it is read on the run's own thread between two windows,
 * where no inference runs, at most four times a second. Allocations are counted in one more launch,
 * after the measured ones, with the tracker loaded (memory_track.h), so that it does not affect the
 * latency. */

#include "base/clock.h"
#include "probe/live.h"
#include "probe/nvml.h"
#include "probe/probe.h"
#include "probe/procmem.h"
#include "probe/sampler/sampler.h"
#include "run/watch/memory_metrics.h"
#include "run/watch/memory_track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_NS 20000000u
#define DEVICE_INTERVAL_NS 100000000u
#define PSS_LEAST_NS 250000000u
/* minimum interval in multiples of a reading's duration: a large worker must not wait */
#define PSS_SHARE 20u

enum part { RESIDENT, DEVICE, PROPORTIONAL, PARTS };

struct assay__watcher {
    struct assay__watch_plan plan;
    struct assay__sampler *samplers[PARTS]; /* of the running launch; NULL: none */
    uint64_t pss_ns, pss_took_ns;           /* when it was last read, and how long that took */
    struct assay__memory_seen seen;
    bool failed; /* out of memory: reported at the end */
};

static bool wanted(const struct assay__run_options *options)
{
    return options->watching.memory;
}

static int new_watcher(const struct assay__watch_plan *plan, struct assay__watcher **watcher,
                       struct assay_error *error)
{
    *watcher = calloc(1, sizeof **watcher);
    if (!*watcher) return assay__no_memory(error);
    (*watcher)->plan = *plan;
    (*watcher)->seen = (struct assay__memory_seen){.device_reason = "",
                                                   .device_peak = NAN,
                                                   .device_growth = NAN,
                                                   .device_rail = "",
                                                   .tracked_ns = NAN,
                                                   .tracked_reason = ""};
    return 0;
}

/* --- the timeline ----------------------------------------------------------------------------- */

/* The worker's memory on each GPU, and all memory in use there, for drivers that do not report the
 * former. */
static bool of_device(void *context, const struct assay__probe_ops *ops,
                      const struct assay__channel *channel)
{
    const char *tail = strrchr(channel->name, '.');
    (void)context, (void)ops;
    return tail && strcmp(channel->quantity, "memory") == 0 &&
           (strcmp(tail, ".process") == 0 || strcmp(tail, ".used") == 0);
}

static struct assay__sampler *sampler_of(const char *probe, uint64_t interval_ns, bool device,
                                         bool thread)
{
    struct assay__sampler *sampler = NULL;
    struct assay__sampler_options options = {.size = sizeof options, .interval_ns = interval_ns};
    int code = assay__sampler_new(&options, &sampler, NULL);
    if (code == 0)
        code = assay__sampler_add(sampler, assay__probe_find(probe), device ? of_device : NULL,
                                  NULL, NULL);
    if (code == 0 && thread) code = assay__sampler_start(sampler, NULL);
    if (code == 0) return sampler;
    assay__sampler_free(sampler);
    return NULL;
}

static void read_pss(struct assay__watcher *watcher)
{
    struct assay__sampler *sampler = watcher->samplers[PROPORTIONAL];
    uint64_t now_ns = assay__now_ns();
    uint64_t least_ns = PSS_SHARE * watcher->pss_took_ns;
    if (least_ns < PSS_LEAST_NS) least_ns = PSS_LEAST_NS;
    if (!sampler || (watcher->pss_ns && now_ns - watcher->pss_ns < least_ns)) return;
    assay__sampler_tick(sampler);
    watcher->pss_ns = assay__now_ns();
    watcher->pss_took_ns = watcher->pss_ns - now_ns;
}

static void started(struct assay__watcher *watcher, int launch, pid_t worker)
{
    double seconds = watcher->plan.options->watching.interval_s;
    uint64_t interval_ns = seconds > 0 ? (uint64_t)(seconds * 1e9) : INTERVAL_NS;
    (void)launch;
    if (interval_ns < 100000) interval_ns = 100000;
    watcher->pss_ns = watcher->pss_took_ns = 0;
    watcher->seen.window_end_ns = 0;
    /* The files of another machine do not include the worker; its process id might belong to
     * another process there. */
    assay__procmem_target(assay__live_refused() ? 0 : worker);
    assay__nvml_target(worker);
    watcher->samplers[RESIDENT] = sampler_of("process", interval_ns, false, true);
    if (assay__memory_asks_nvml(&watcher->plan.trial->target))
        watcher->samplers[DEVICE] = sampler_of(
            "nvml", interval_ns > DEVICE_INTERVAL_NS ? interval_ns : DEVICE_INTERVAL_NS, true,
            true);
    watcher->samplers[PROPORTIONAL] = sampler_of("process-pss", 0, false, false);
    assay__procmem_target(0);
    if (!watcher->samplers[RESIDENT] || !watcher->samplers[PROPORTIONAL]) watcher->failed = true;
    read_pss(watcher);
}

static void window_begins(struct assay__watcher *watcher, int launch, uint64_t now_ns)
{
    (void)launch, (void)now_ns;
    read_pss(watcher);
}

static void window_ends(struct assay__watcher *watcher, int launch, uint64_t now_ns,
                        size_t completions)
{
    (void)launch, (void)completions;
    watcher->seen.window_end_ns = now_ns;
    read_pss(watcher);
}

/* The launch has sent its last message; the process waits for the socket to close or has ended. */
static void ended(struct assay__watcher *watcher, int launch)
{
    for (int part = 0; part < PARTS; part++) {
        struct assay__sampler *sampler = watcher->samplers[part];
        if (sampler && part != PROPORTIONAL) assay__sampler_stop(sampler);
        if (sampler && assay__memory_keep_series(&watcher->plan, sampler, launch, &watcher->seen))
            watcher->failed = true;
        assay__sampler_free(sampler);
        watcher->samplers[part] = NULL;
    }
    assay__nvml_target(0);
}

/* --- allocations ------------------------------------------------------------------------------ */

static int extra(struct assay__watcher *watcher, const struct assay__request *request,
                 struct assay_error *error)
{
    const struct assay__trial *trial = watcher->plan.trial;
    double p50_ns = NAN;
    for (size_t i = 0; i < trial->launch_count && !isfinite(p50_ns); i++)
        if (trial->launches[i].state == ASSAY__TRIAL_OK) p50_ns = trial->launches[i].p50_ns;
    int code = assay__track_launch(request, p50_ns, &watcher->seen.tracked,
                                   &watcher->seen.tracked_ns, &watcher->seen.tracked_reason);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}

static int put_memory(struct assay__watcher *watcher, const struct assay__trial_input *input,
                      struct assay_error *error)
{
    int code = watcher->failed ? ASSAY_ENOMEM : 0;
    if (code == 0) code = assay__memory_metrics(&watcher->plan, input, &watcher->seen);
    return code ? assay_error_set(error, code, "out of memory for the memory metrics") : 0;
}

static void free_watcher(struct assay__watcher *watcher)
{
    for (int part = 0; part < PARTS; part++)
        assay__sampler_free(watcher->samplers[part]);
    free(watcher);
}

const struct assay__watcher_ops assay__watch_memory = {
    .name = "memory",
    .wanted = wanted,
    .begin = new_watcher,
    .started = started,
    .window_begins = window_begins,
    .window_ends = window_ends,
    .ended = ended,
    .extra = extra,
    .finish = put_memory,
    .free = free_watcher,
};
