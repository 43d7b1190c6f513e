/* watched_model.c - see watched_model.h. */
#include "monitor/watched_model.h"

#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLASSES "within 0.8 %: counted in classes"

#define ROW(place, called, measures, how)       \
    [place] = {.name = (called),                \
               .unit = (measures),              \
               .section = ASSAY__SECTION_MODEL, \
               .rank = ASSAY__ROW_HEADLINE,     \
               .device = "",                    \
               .kind = "",                      \
               .source = "worker",              \
               .formula = (how),                \
               .reason = "",                    \
               .given = true}
const struct assay__row assay__watched_model_rows[ASSAY__WATCHED_ROWS] = {
    ROW(ASSAY__WATCHED_P50, "latency.p50", "s", ""),
    ROW(ASSAY__WATCHED_P99, "latency.p99", "s", ""),
    ROW(ASSAY__WATCHED_RATE, "throughput.inferences", "1/s", "inferences / time of their windows"),
    ROW(ASSAY__WATCHED_ENERGY, "energy.inference.gross", "J", "power of the rail / throughput"),
};

void assay__watched_model_window(void *context, const struct assay__window_seen *window)
{
    struct assay__watched_model *model = context;
    model->wall_ns += window->wall_ns;
    for (int s = 0; s < window->streams; s++)
        for (size_t i = 0; i < window->counts[s]; i++)
            assay__durations_add(&model->durations, (uint64_t)window->durations_ns[s][i]);
    for (int s = 0; s < window->streams; s++)
        model->inferences += window->counts[s];
}

const char *assay__watched_model_rail(const char *device, char *out, size_t out_size)
{
    if (strcmp(device, "cpu") == 0)
        snprintf(out, out_size, "power.package");
    else if (strncmp(device, "cuda", 4) == 0)
        snprintf(out, out_size, "power.gpu%s", device[4] == ':' ? device + 5 : "0");
    else
        return NULL;
    return out;
}

void assay__watched_model_give(struct assay__watched_model *model, double power_w,
                               const char *power_note, double *values, const char **notes)
{
    const struct assay__durations *durations = &model->durations;
    bool any = durations->count > 0;
    bool tail = durations->count >= assay__stats_percentile_needs(0.99);
    double rate = any ? (double)durations->count / (model->wall_ns * 1e-9) : 0;
    values[ASSAY__WATCHED_P50] = assay__durations_percentile(durations, 0.5) * 1e-9;
    if (tail) values[ASSAY__WATCHED_P99] = assay__durations_percentile(durations, 0.99) * 1e-9;
    values[ASSAY__WATCHED_RATE] = rate;
    if (any) values[ASSAY__WATCHED_ENERGY] = power_w / rate;
    notes[ASSAY__WATCHED_P50] = any ? CLASSES : "no inference ended";
    notes[ASSAY__WATCHED_P99] = tail ? CLASSES : "too few inferences: it needs 662";
    notes[ASSAY__WATCHED_RATE] = assay__watched_model_rows[ASSAY__WATCHED_RATE].formula;
    notes[ASSAY__WATCHED_ENERGY] = !any ? "no inference ended"
                                   : isnan(power_w)
                                       ? power_note
                                       : assay__watched_model_rows[ASSAY__WATCHED_ENERGY].formula;
    assay__durations_clear(&model->durations);
    model->wall_ns = 0;
}
