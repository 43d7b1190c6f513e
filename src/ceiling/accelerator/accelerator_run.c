/* accelerator_run.c - one of our models, run on the accelerator in a separate worker process: a
 * driver that crashes or hangs costs this run only. No node may fall back to the CPU (strict). The
 * time of a run is bounded by what is left of the whole. Samples are taken as the loop gives them;
 * the first inference and a short warm-up are left out. */
#include "base/clock.h"
#include "base/stats.h"
#include "ceiling/accelerator/accelerator_survey.h"
#include "run/arm/launch.h"
#include "run/worker/ring.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MEASURE_S 0.3   /* of one run, when an inference is short */
#define LEAST_SAMPLES 3 /* when it is long */
#define MOST_SAMPLES 1000
/* When the duration of an inference is unknown: enough of a fast one, a few of a slow one. */
#define UNKNOWN_SAMPLES 50
#define UNKNOWN_S 2.5
#define WARM_S 0.05
#define WARM_MOST 100
#define SILENCE_S 30.0 /* a run that says nothing for so long is given up */

static double left_of(const struct assay__accelerator_survey *survey)
{
    uint64_t now = assay__now_ns();
    return now < survey->deadline_ns ? (double)(survey->deadline_ns - now) / 1e9 : 0;
}

struct clocks {
    struct assay__accelerator_survey *survey;
    double first_hz, last_hz;
};

/* Called between windows, while the worker waits: the clock is still that of the work. */
static void on_progress(void *context, const struct assay_progress *progress)
{
    struct clocks *clocks = context;
    if (strcmp(progress->phase, "measuring") != 0) return;
    double hz = assay__accelerator_clock_hz(clocks->survey);
    if (isnan(hz)) return;
    if (isnan(clocks->first_hz)) clocks->first_hz = hz;
    clocks->last_hz = hz;
}

/* How often and how long, from what one inference probably takes. */
static void plan(struct assay__request *request, double about_s, double left_s)
{
    double seconds = MEASURE_S;
    bool known = about_s > 0;
    request->job.warmup = 1;
    if (known) {
        double warm = WARM_S / about_s;
        request->job.warmup = warm < 1 ? 1 : warm > WARM_MOST ? WARM_MOST : (int64_t)warm;
        if (LEAST_SAMPLES * about_s > seconds) seconds = LEAST_SAMPLES * about_s;
    } else {
        seconds = UNKNOWN_S;
    }
    if (seconds > left_s) seconds = left_s;
    request->goal = (struct assay__goal){.iterations = known ? MOST_SAMPLES : UNKNOWN_SAMPLES,
                                         .time_s = seconds,
                                         .precision = ASSAY__GOAL_PRECISION,
                                         .streams = 1,
                                         .capacity = ASSAY__RING_CAPACITY};
}

static const char *late_reason(const struct assay__accelerator_survey *survey)
{
    const char *text = assay__arena_printf(survey->arena, "not reached: the %g s were used up",
                                           survey->budget_s);
    return text ? text : "not reached: the time was used up";
}

static int run_model(struct assay__accelerator_survey *survey,
                     const struct assay__accelerator_model *model, const char *path,
                     struct assay__input_plan *input, double about_s,
                     struct assay__accelerator_times *times)
{
    const struct assay__accelerator *device = survey->accelerator;
    struct clocks clocks = {survey, NAN, NAN};
    struct assay__outcome outcome;
    double left_s = left_of(survey);
    const char *temporary = assay__arena_printf(survey->arena, "TMPDIR=%s", survey->folder);
    if (!temporary) return ASSAY_ENOMEM;
    struct assay__request request = {
        .job = {.engine = device->engine ? device->engine : "ort",
                .model = path,
                /* the file is gone by the time a message is read */
                .model_name = "a model of ours",
                .library = device->library,
                .device = device->device,
                .optimization = "all",
                .script = device->script ? device->script(device->script_context, model) : NULL,
                .streams = 1,
                .spinning = -1,
                .inputs = input,
                .input_count = 1,
                .strict = true,
                .provider_options = model->options},
        .timeout_s = left_s < SILENCE_S ? left_s : SILENCE_S,
        .interrupt = survey->options->interrupt,
        .progress = on_progress,
        .progress_context = &clocks,
        .launch = 1,
        .launches = 1,
        .trial = 1,
        .worker = survey->worker,
        .temporary = temporary,
        .arena = survey->arena,
    };
    plan(&request, about_s, left_s);
    int code = assay__launch_run(&request, &outcome);
    times->clock_before_hz = clocks.first_hz;
    times->clock_after_hz = clocks.last_hz;
    if (code == 0) {
        const struct assay__samples *samples = &outcome.streams[0];
        size_t count = samples->count;
        times->samples_s = assay__arena_array(survey->arena, count + 1, sizeof *times->samples_s);
        for (size_t i = 0; i < count && times->samples_s; i++)
            times->samples_s[i] = samples->values[i] / 1e9;
        if (times->samples_s) assay__stats_sort(times->samples_s, count);
        if (!times->samples_s) {
            code = ASSAY_ENOMEM;
        } else if (!count || !(times->samples_s[0] > 0)) {
            times->reason = "the run gave no times";
        } else {
            times->count = count;
            times->low_s = times->samples_s[0];
        }
    } else if (code != ASSAY_EINTERRUPTED && code != ASSAY_ENOMEM) {
        times->late = code == ASSAY_ETIMEOUT && left_s < SILENCE_S;
        times->reason = times->late ? late_reason(survey) : outcome.reason;
        code = 0;
    }
    assay__outcome_free(&outcome);
    return code;
}

int assay__accelerator_time(struct assay__accelerator_survey *survey,
                            const struct assay__accelerator_model *model, double about_s,
                            struct assay__accelerator_times *times)
{
    struct assay__input_plan input;
    struct assay_error error = {0};
    char path[sizeof survey->folder + 16];
    *times = (struct assay__accelerator_times){
        .low_s = NAN, .clock_before_hz = NAN, .clock_after_hz = NAN, .reason = ""};
    if (survey->options->interrupt && *survey->options->interrupt) return ASSAY_EINTERRUPTED;
    double left_s = left_of(survey);
    if (!(left_s > 0) || (1 + LEAST_SAMPLES) * about_s > left_s) {
        times->late = true;
        times->reason = late_reason(survey);
        return 0;
    }
    snprintf(path, sizeof path, "%s/model.onnx", survey->folder);
    int code = assay__accelerator_model_write(model, survey->arena, path, &input, &error);
    if (code == ASSAY_ENOMEM) return code;
    if (code) {
        times->reason = assay__arena_strdup(survey->arena, error.message);
        return times->reason ? 0 : ASSAY_ENOMEM;
    }
    code = run_model(survey, model, path, &input, about_s, times);
    unlink(path);
    return code;
}
