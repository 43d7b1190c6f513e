/* fuzz_powermetrics.c - any bytes as a stream of powermetrics. Whatever comes out must be a number
 * that can be, or unknown; the reader must move on, and must read the same samples when the bytes
 * come in two pieces. */
#include "probe/powermetrics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition)
{
    if (!condition) abort();
}

static void check_unit(const struct assay__powermetrics_unit *unit)
{
    check(isnan(unit->frequency_hz) || (unit->frequency_hz >= 0 && isfinite(unit->frequency_hz)));
    check(isnan(unit->active_ratio) || (unit->active_ratio >= 0 && unit->active_ratio <= 1));
}

static void check_sample(const struct assay__powermetrics_sample *sample)
{
    check(sample->cluster_count <= ASSAY__POWERMETRICS_CLUSTERS);
    check(sample->cpu_count <= ASSAY__POWERMETRICS_CPUS);
    check(isnan(sample->cpu_power_w) || sample->cpu_power_w >= 0);
    check(isnan(sample->ane_energy_j) || sample->ane_energy_j >= 0);
    check(isnan(sample->thermal_pressure) || sample->thermal_pressure < 7);
    check_unit(&sample->gpu);
    for (size_t i = 0; i < sample->cluster_count; i++) {
        check(memchr(sample->clusters[i].name, '\0', ASSAY__POWERMETRICS_NAME) != NULL);
        check_unit(&sample->clusters[i].unit);
    }
    for (size_t i = 0; i < sample->cpu_count; i++)
        check_unit(&sample->cpus[i]);
}

/* Samples from *offset on; at most as many as there are bytes. */
static size_t count(const char *data, size_t size, size_t *offset, bool at_end)
{
    struct assay__powermetrics_sample sample;
    const char *reason;
    size_t samples = 0, steps = 0;
    for (;;) {
        size_t before = *offset;
        enum assay__powermetrics_status status = assay__powermetrics_next(data, size, offset,
                                                                          at_end, &sample, &reason);
        check(*offset >= before && *offset <= size);
        if (status == ASSAY__POWERMETRICS_MORE) return samples;
        check(*offset > before && steps++ <= size);
        check((status == ASSAY__POWERMETRICS_BAD) == (reason[0] != '\0'));
        if (status != ASSAY__POWERMETRICS_SAMPLE) continue;
        check_sample(&sample);
        samples++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t whole = 0, pieces = 0;
    if (size > 1u << 16) return 0;
    char *copy = malloc(size ? size : 1); /* so that reading past the end is seen */
    if (!copy) return 0;
    if (size) memcpy(copy, data, size);
    size_t all = count(copy, size, &whole, true);
    size_t first = count(copy, size, &pieces, false);
    check(first + count(copy, size, &pieces, true) == all);
    free(copy);
    return 0;
}
