/* sensors_launches.c - the energy of each launch by itself, so that energies can be compared as
 * latencies are: the process is the unit of replication. The windows of one launch are taken for
 * all there are; what is then refused (a source that updates too seldom for so short a time) is
 * that launch's reason. A single launch has the trial's own number and nothing here. */
#include "run/watch/sensors.h"

#include <stdio.h>
#include <string.h>

/* Joules of the rails together over the windows that `sensors` has. False: reason. */
static bool add_rails(const struct assay__sensors *sensors, const struct assay__rails *rails,
                      double *energy_j, size_t *completions, char *reason, size_t size)
{
    *energy_j = 0;
    *completions = 0;
    for (size_t i = 0; i < rails->count; i++) {
        struct assay__sensed sensed;
        assay__sensed_rail(sensors, rails->names[i], &sensed);
        if (!sensed.available) {
            snprintf(reason, size, "%s: %s", rails->names[i], sensed.reason);
            return false;
        }
        *energy_j += sensed.growth;
        *completions = sensed.completions;
    }
    if (*energy_j > 0 && *completions > 0) return true;
    snprintf(reason, size, "%s",
             *completions ? "no energy was counted" : "no inference was completed");
    return false;
}

static void put_launch(const struct assay__sensors *all, const struct assay__rails *rails,
                       struct assay__launch *launch, size_t first, size_t count)
{
    static const char name[] = "energy.inference.gross";
    struct assay__sensors one = *all;
    char reason[1200];
    double energy_j;
    size_t completions;
    one.windows = all->windows + first;
    one.window_count = count;
    one.idle_end_ns = one.idle_begin_ns; /* gross: the idle machine is not asked again */
    snprintf(reason, sizeof reason, "%s", rails->reason);
    if (!rails->count || !add_rails(&one, rails, &energy_j, &completions, reason, sizeof reason))
        assay_metrics_unavailable(launch->metrics, name,
                                  *reason ? reason : "no rail tells its energy");
    else
        assay_metrics_derived(launch->metrics, name, energy_j / (double)completions, "sensors",
                              "energy in this launch's windows / its inferences");
}

static struct assay__launch *find_launch(const struct assay__trial *trial, int id)
{
    for (size_t i = 0; i < trial->launch_count; i++)
        if (trial->launches[i].id == id) return &trial->launches[i];
    return NULL;
}

int assay__sensors_launches(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    int code = 0;
    if (sensors->trial->launch_count < 2) return 0;
    for (size_t first = 0, end; first < sensors->window_count && code == 0; first = end) {
        const struct assay__sensor_window *windows = sensors->windows;
        for (end = first + 1;
             end < sensors->window_count && windows[end].launch == windows[first].launch; end++) {
        }
        struct assay__launch *launch = find_launch(sensors->trial, windows[first].launch);
        if (!launch || !launch->metrics) continue;
        put_launch(sensors, rails, launch, first, end - first);
        code = assay_metrics_failed(launch->metrics);
    }
    return code;
}
