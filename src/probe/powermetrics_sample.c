/* powermetrics_sample.c - finds the samples in a stream of powermetrics, in either form, and checks
 * each. */
#include "probe/powermetrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "*** Sampled system activity"
#define CLOSING "</plist>"

/* The kernel's levels; names as they were seen in captures and in the system's headers. */
const char *const assay__powermetrics_pressures[] = {"Nominal",  "Light",    "Moderate", "Heavy",
                                                     "Critical", "Trapping", "Sleeping", NULL};

double assay__powermetrics_pressure(const char *name, size_t length)
{
    for (size_t i = 0; assay__powermetrics_pressures[i]; i++)
        if (strlen(assay__powermetrics_pressures[i]) == length &&
            memcmp(assay__powermetrics_pressures[i], name, length) == 0)
            return (double)i;
    return NAN;
}

double assay__powermetrics_number(const char *text, size_t length)
{
    char copy[64], *end;
    if (length == 0 || length >= sizeof copy) return NAN;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (copy[strspn(copy, "+-.0123456789eE")] != '\0')
        return NAN; /* no "inf", "nan", hexadecimal */
    double value = strtod(copy, &end);
    return *end || !isfinite(value) ? NAN : value;
}

void assay__powermetrics_set_once(double *place, double value)
{
    if (isnan(*place)) *place = value;
}

static const struct assay__powermetrics_unit unknown = {NAN, NAN, NAN, NAN};

void assay__powermetrics_clear(struct assay__powermetrics_sample *sample)
{
    *sample = (struct assay__powermetrics_sample){.gpu = unknown};
    sample->elapsed_s = sample->thermal_pressure = NAN;
    sample->cpu_power_w = sample->gpu_power_w = sample->ane_power_w = NAN;
    sample->combined_power_w = NAN;
    sample->cpu_energy_j = sample->gpu_energy_j = sample->ane_energy_j = NAN;
    for (size_t i = 0; i < ASSAY__POWERMETRICS_CLUSTERS; i++)
        sample->clusters[i].unit = unknown;
    for (size_t i = 0; i < ASSAY__POWERMETRICS_CPUS; i++)
        sample->cpus[i] = unknown;
}

/* What can be a share; rounding may leave it a little outside. */
static double share(double value)
{
    if (!(value >= -1e-3 && value <= 1 + 1e-3)) return NAN;
    return fmin(fmax(value, 0), 1);
}

static bool finish_unit(struct assay__powermetrics_unit *unit)
{
    if (unit->frequency_hz < 0) unit->frequency_hz = NAN;
    if (isnan(unit->active_ratio)) {
        double down = isnan(unit->down_ratio) ? 0 : unit->down_ratio;
        unit->active_ratio = 1 - unit->idle_ratio - down;
    }
    unit->active_ratio = share(unit->active_ratio);
    unit->idle_ratio = share(unit->idle_ratio);
    return !isnan(unit->frequency_hz) || !isnan(unit->active_ratio);
}

bool assay__powermetrics_finish(struct assay__powermetrics_sample *sample, const char **reason)
{
    double *const positive[] = {&sample->elapsed_s,        &sample->cpu_power_w,
                                &sample->gpu_power_w,      &sample->ane_power_w,
                                &sample->combined_power_w, &sample->cpu_energy_j,
                                &sample->gpu_energy_j,     &sample->ane_energy_j};
    bool any = !isnan(sample->thermal_pressure);
    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++) {
        if (*positive[i] < 0) *positive[i] = NAN;
        any = any || (i > 0 && !isnan(*positive[i]));
    }
    if (finish_unit(&sample->gpu)) any = true;
    for (size_t i = 0; i < sample->cluster_count; i++)
        if (finish_unit(&sample->clusters[i].unit)) any = true;
    for (size_t i = 0; i < sample->cpu_count; i++)
        if (finish_unit(&sample->cpus[i])) any = true;
    *reason = any ? "" : "a sample of powermetrics without power, clocks or thermal pressure";
    return any;
}

/* --- the stream ------------------------------------------------------------------------------- */

static const char *find(const char *data, size_t size, const char *word)
{
    return size ? memmem(data, size, word, strlen(word)) : NULL;
}

static enum assay__powermetrics_status next_plist(const char *data, size_t size, size_t *offset,
                                                  struct assay__powermetrics_sample *sample,
                                                  const char **reason)
{
    const char *begin = data + *offset, *end = find(begin, size - *offset, CLOSING);
    const char *cut = memchr(begin, '\0', size - *offset);
    if (cut && (!end || cut < end)) { /* the next sample begins before this one has ended */
        *offset = (size_t)(cut - data) + 1;
        *reason = "a sample of powermetrics that is cut short";
        return ASSAY__POWERMETRICS_BAD;
    }
    if (!end) return ASSAY__POWERMETRICS_MORE;
    size_t length = (size_t)(end - begin) + strlen(CLOSING);
    *offset += length;
    return assay__powermetrics_plist(begin, length, sample, reason) ? ASSAY__POWERMETRICS_SAMPLE
                                                                    : ASSAY__POWERMETRICS_BAD;
}

static enum assay__powermetrics_status next_text(const char *data, size_t size, size_t *offset,
                                                 bool at_end,
                                                 struct assay__powermetrics_sample *sample,
                                                 const char **reason)
{
    const char *begin = data + *offset;
    size_t head = strlen(HEADER), left = size - *offset;
    const char *end = find(begin + head, left - head, HEADER);
    if (!end && !at_end) return ASSAY__POWERMETRICS_MORE;
    size_t length = end ? (size_t)(end - begin) : left;
    *offset += length;
    return assay__powermetrics_text(begin, length, sample, reason) ? ASSAY__POWERMETRICS_SAMPLE
                                                                   : ASSAY__POWERMETRICS_BAD;
}

enum assay__powermetrics_status assay__powermetrics_next(const char *data, size_t size,
                                                         size_t *offset, bool at_end,
                                                         struct assay__powermetrics_sample *sample,
                                                         const char **reason)
{
    size_t left = size - *offset;
    *reason = "";
    assay__powermetrics_clear(sample);
    if (left == 0) return ASSAY__POWERMETRICS_MORE;
    const char *begin = data + *offset;
    const char *text = find(begin, left, HEADER), *xml = find(begin, left, "<?xml");
    const char *plist = find(begin, left, "<plist");
    if (!xml || (plist && plist < xml)) xml = plist;
    if (!text && !xml) return ASSAY__POWERMETRICS_MORE;
    bool is_text = text && (!xml || text < xml);
    *offset = (size_t)((is_text ? text : xml) - data); /* what comes before belongs to no sample */
    return is_text ? next_text(data, size, offset, at_end, sample, reason)
                   : next_plist(data, size, offset, sample, reason);
}
