/* fuzz_profile.c - arbitrary bytes as a profile: opening it, loading its timeline and scanning its
 * samples, series and events must end without a crash, a leak or a sanitizer's complaint. Beyond
 * that: a refusal always says why, and a profile that opens holds samples whose stream offsets are
 * in order and series whose times are. SQLite wants a file, so the bytes go through one in $TMPDIR.
 */
#include "fuzz_import.h"

#include "profile/profile.h"
#include "profile/store.h"
#include "trace/events_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int ignore_row(void *context, int columns, const char *const *names,
                      const char *const *values, const int *types)
{
    (void)context, (void)columns, (void)names, (void)values, (void)types;
    return 0;
}

static void check_launch(const struct assay__launch *launch)
{
    if (launch->streams < 1 || launch->stream_offsets[0] != 0) abort();
    for (int s = 0; s < launch->streams; s++)
        if (launch->stream_offsets[s] > launch->stream_offsets[s + 1]) abort();
    if (launch->stream_offsets[launch->streams] != launch->sample_count) abort();
    if (launch->warmup > launch->sample_count) abort();
}

/* Renderers draw and integrate without looking again. */
static void check_parts(const struct assay__trial *trial)
{
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *series = &trial->series[i];
        if (!series->name[0] || series->launch < 0 || series->period_s <= 0) abort();
        for (size_t k = 0; k < series->count; k++)
            if (!isfinite(series->times_ns[k]) || isinf(series->values[k]) ||
                (k && series->times_ns[k] < series->times_ns[k - 1]))
                abort();
    }
    for (size_t i = 0; i < trial->span_count; i++)
        if (!(trial->spans[i].begin_ns <= trial->spans[i].end_ns)) abort();
    for (size_t i = 0; i < trial->class_counter_count; i++)
        if (!trial->class_counters[i].values || !trial->class_counters[i].op) abort();
    if (!trial->class_counter_note || (trial->counter_count && !trial->counter_names)) abort();
}

/* They index tables and are printed without looking again. */
static void check_facts(const struct assay_profile *profile, const struct assay__trial *trial)
{
    bool own = false;
    for (size_t i = 0; i < profile->model_count; i++)
        own |= trial->model == profile->models[i];
    if (!own || profile->kind >= ASSAY__PROFILE_KINDS || trial->role >= ASSAY__ROLE_COUNT ||
        trial->target.device_class >= ASSAY__CLASS_COUNT || !trial->label || !trial->target.build)
        abort();
    for (size_t i = 0; i < trial->axis_count; i++)
        if (trial->axes[i].axis >= ASSAY__AXIS_COUNT || !trial->axes[i].value) abort();
    for (size_t i = 0; i < trial->placement.node_count; i++)
        if (!trial->placement.nodes[i].node || !trial->placement.nodes[i].provider) abort();
    if (!trial->placement.record || !trial->power.temperature || !trial->power.frequency) abort();
    if (profile->plan.slo_metric && !(profile->plan.slo_s > 0)) abort();
}

static void check_open(const char *path)
{
    struct assay_error error = {0};
    struct assay_profile *profile = NULL;
    int code = assay_profile_open(path, &profile, &error);
    if ((code == 0) != (profile != NULL) || (code != 0) != (error.message[0] != 0)) abort();
    for (size_t t = 0; profile && t < profile->trial_count; t++) {
        for (size_t l = 0; l < profile->trials[t].launch_count; l++)
            check_launch(&profile->trials[t].launches[l]);
        check_parts(&profile->trials[t]);
        check_facts(profile, &profile->trials[t]);
    }
    assay_profile_close(profile);
}

static void check_timeline(const char *path)
{
    struct assay_error error = {0};
    struct assay__events *events = NULL;
    int code = assay__events_load(path, &events, &error);
    if ((code == 0) != (events != NULL) || (code != 0) != (error.message[0] != 0)) abort();
    for (size_t i = 0; events && i < events->count; i++)
        fuzz_check_event(events, i);
    assay__events_free(events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[256];
    if (!path[0]) {
        const char *folder = getenv("TMPDIR");
        snprintf(path, sizeof path, "%s/assay-fuzz-%ld", folder && folder[0] ? folder : "/tmp",
                 (long)getpid());
    }
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    check_open(path);
    check_timeline(path);
    struct assay_error error = {0};
    assay__query(path, "SELECT count(*), avg(ns) FROM samples", ignore_row, NULL, NULL, &error);
    assay__query(path, "SELECT name, max(time_ns), avg(value) FROM series GROUP BY name",
                 ignore_row, NULL, NULL, &error);
    assay__query(path, "SELECT kind, name, track, sum(duration_ns) FROM events GROUP BY name, kind",
                 ignore_row, NULL, NULL, &error);
    unlink(path);
    return 0;
}
