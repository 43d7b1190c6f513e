/* accelerator.c - measures all ceilings of a device and saves them in a file next to that of the
 * CPU. The key of the file is that of the machine plus the device, the engine, its library and
 * whatever else the caller gives (versions, driver, hardware).
 *
 * A generated model runs on the accelerator in a separate worker process: a driver that crashes or
 * hangs affects only this run. No node may fall back to the CPU (strict). The time of a run is
 * limited by the total time left. Samples are used as the loop returns them; the first inference
 * and a short warm-up are left out. */
#include "ceiling/accelerator/accelerator_survey.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/stats.h"
#include "engine/engine.h"
#include "probe/nvml.h"
#include "run/arm/launch.h"
#include "run/child.h"
#include "run/worker/ring.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* incremented when a model or a definition changes: older files become invalid */
#define MODELS 1
#define BUDGET_S 60.0
#define MARGIN_S 2.0 /* time that the run in progress at the end has to finish by itself */

/* --- the card and its clock ------------------------------------------------------------------- */

/* Which of NVML's GPUs the CUDA device is: the only one, or the one with that number if the
 * environment makes CUDA number them like NVML. -1: unknown. *name: its name; also if all GPUs are
 * of one kind. */
static int gpu_of(struct assay__accelerator_survey *survey, const char **name, const char **why)
{
    const char *device = survey->accelerator->device, *colon = strchr(device, ':');
    const char *order = getenv("CUDA_DEVICE_ORDER"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    size_t count = 0;
    const struct assay__nvml_gpu *gpus = assay__nvml_gpus(survey->arena, &count, why);
    if (!count) return -1;
    bool same = true;
    for (size_t i = 1; i < count; i++)
        same = same && strcmp(gpus[i].name, gpus[0].name) == 0;
    if (same) *name = gpus[0].name;
    long number = colon ? strtol(colon + 1, NULL, 10) : 0;
    if (count == 1) return 0;
    if (order && strcmp(order, "PCI_BUS_ID") == 0 && !visible && number >= 0 &&
        (size_t)number < count) {
        *name = gpus[number].name;
        return (int)number;
    }
    *why = "several GPUs: CUDA may number them differently from NVML (CUDA_DEVICE_ORDER=PCI_BUS_ID "
           "makes them agree)";
    return -1;
}

static void open_probe(struct assay__accelerator_survey *survey, const char *probe,
                       const char *channel)
{
    const struct assay__channel *channels;
    struct assay_error error = {0};
    const struct assay__probe_ops *ops = assay__probe_find(probe);
    survey->clock_why = "cannot be read";
    if (!ops || ops->open(survey->arena, &survey->clock_probe, &error)) {
        const char *why = assay__arena_strdup(survey->arena, error.message);
        if (why && *why) survey->clock_why = why;
        return;
    }
    survey->clock_ops = ops;
    size_t count = ops->channels(survey->clock_probe, &channels);
    survey->clock_readings = assay__arena_array(survey->arena, count + 1,
                                                sizeof *survey->clock_readings);
    if (*ops->reason(survey->clock_probe)) survey->clock_why = ops->reason(survey->clock_probe);
    for (size_t i = 0; i < count && survey->clock_readings; i++) {
        if (strcmp(channels[i].name, channel) != 0) continue;
        survey->clock_channel = i;
        survey->clock_why = channels[i].available ? NULL : channels[i].reason;
    }
}

void assay__accelerator_clock_open(struct assay__accelerator_survey *survey, const char **hardware)
{
    const char *device = survey->accelerator->device, *name = NULL, *why = "";
    if (strncmp(device, "cuda", 4) == 0 || strncmp(device, "tensorrt", 8) == 0) {
        int gpu = gpu_of(survey, &name, &why);
        if (name && *name && !*hardware) *hardware = name;
        const char *channel = assay__arena_printf(survey->arena, "clock.gpu%d.sm", gpu);
        survey->clock_why = *why ? why : "cannot be read";
        if (gpu >= 0 && channel) open_probe(survey, "nvml", channel);
    } else if (survey->main_memory) {
        open_probe(survey, "cpufreq", "clock.mean");
    } else {
        survey->clock_why = "no way to read it is known for this device";
    }
}

double assay__accelerator_clock_hz(struct assay__accelerator_survey *survey)
{
    if (!survey->clock_probe || survey->clock_why) return NAN;
    survey->clock_ops->read(survey->clock_probe, survey->clock_readings);
    double hz = survey->clock_readings[survey->clock_channel].value;
    return hz > 0 ? hz : NAN;
}

void assay__accelerator_clock_close(struct assay__accelerator_survey *survey)
{
    if (survey->clock_probe) survey->clock_ops->close(survey->clock_probe);
    survey->clock_probe = NULL;
}

/* --- one run ---------------------------------------------------------------------------------- */

#define MEASURE_S 0.3   /* of one run, if an inference is short */
#define LEAST_SAMPLES 3 /* if it is long */
#define MOST_SAMPLES 1000
/* For an inference of unknown duration: enough of a fast one, a few of a slow one. */
#define UNKNOWN_SAMPLES 50
#define UNKNOWN_S 2.5
#define WARM_S 0.05
#define WARM_MOST 100
#define SILENCE_S 30.0 /* a run that is silent for this long is abandoned */

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

/* How often and how long, from the probable time of one inference. */
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

static int take_samples(struct assay__arena *arena, const struct assay__samples *samples,
                        struct assay__accelerator_times *times)
{
    size_t count = samples->count;
    times->samples_s = assay__arena_array(arena, count + 1, sizeof *times->samples_s);
    if (!times->samples_s) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        times->samples_s[i] = samples->values[i] / 1e9;
    assay__stats_sort(times->samples_s, count);
    bool known = count && times->samples_s[0] > 0;
    if (!known) times->reason = "the run gave no times";
    if (known) times->low_s = times->samples_s[0];
    times->count = known ? count : 0;
    return 0;
}

static const char *late_reason(const struct assay__accelerator_survey *survey)
{
    const char *text = assay__arena_printf(
        survey->arena, "not reached: the limit of %g s was used up", survey->budget_s);
    return text ? text : "not reached: out of time";
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
                /* the file no longer exists when a message is read */
                .model_name = "a generated model",
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
        code = take_samples(survey->arena, &outcome.streams[0], times);
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

/* --- the whole -------------------------------------------------------------------------------- */

/* An incomplete set of a device is not saved, so there is no earlier one. */
static int measure(void *context, const struct assay__ceilings *earlier,
                   struct assay__ceilings **out, struct assay_error *error)
{
    (void)earlier;
    struct assay__accelerator_survey *survey = context;
    const struct assay__accelerator *accelerator = survey->accelerator;
    const char *hardware = accelerator->hardware;
    uint64_t begin_ns = assay__now_ns();
    struct assay__ceilings *set = assay__arena_alloc(survey->arena, sizeof *set);
    if (!set) return assay__no_memory(error);
    set->note = set->key = "";
    survey->budget_s = survey->options->budget_s > 0 ? survey->options->budget_s : BUDGET_S;
    double margin_s = fmin(0.05 * survey->budget_s, MARGIN_S);
    survey->deadline_ns = begin_ns + (uint64_t)((survey->budget_s - margin_s) * 1e9);
    survey->main_memory = !accelerator->own_memory &&
                          assay__engine_device_class(accelerator->engine, accelerator->device) ==
                              ASSAY__CLASS_CPU;
    survey->launch_s = survey->fixed_s = NAN;
    int code = assay__worker_locate(survey->worker, sizeof survey->worker, error);
    if (!code) code = assay__folder_temporary(survey->folder, sizeof survey->folder, error);
    if (code) return code;
    assay__accelerator_clock_open(survey, &hardware);
    code = assay__accelerator_rows(survey);
    bool stopped = code == ASSAY_EINTERRUPTED;
    set->complete = !survey->late && !stopped;
    if (stopped) set->note = "interrupted: only what was measured until then";
    set->pinned = true; /* none of our threads does any work */
    set->steal_share = set->other_share = NAN;
    set->device = assay__arena_text(survey->arena, "%s", accelerator->device);
    set->hardware = assay__arena_text(survey->arena, "%s", hardware ? hardware : "");
    if (survey->clock_why)
        assay__ceilings_note(survey->arena, set, "clock not known: ", survey->clock_why);
    if ((code && !stopped) || assay__ceilings_take(survey->arena, &survey->rows, stopped, set) ||
        assay__arena_failed(survey->arena))
        code = assay__no_memory(error);
    else
        *out = set;
    if (code == ASSAY_EINTERRUPTED)
        assay_error_set(error, code, "interrupted while measuring ceilings");
    assay__accelerator_clock_close(survey);
    assay__folder_remove(survey->folder);
    free(survey->rows.items);
    set->duration_s = (double)(assay__now_ns() - begin_ns) / 1e9;
    return code;
}

int assay__accelerator_ceilings_get(struct assay__arena *arena,
                                    const struct assay__machine *machine,
                                    const struct assay__accelerator *accelerator,
                                    const struct assay__ceiling_options *given,
                                    struct assay__ceilings **out, struct assay_error *error)
{
    static const struct assay__ceiling_options defaults;
    const struct assay__ceiling_options *options = given ? given : &defaults;
    *out = NULL;
    int code = assay__ceilings_possible(error);
    if (code) return code;
    if (!accelerator->device || !accelerator->device[0])
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "no device was given");
    struct assay__accelerator_survey *survey = assay__arena_alloc(arena, sizeof *survey);
    if (!survey) return assay__no_memory(error);
    *survey = (struct assay__accelerator_survey){
        .arena = arena, .machine = machine, .accelerator = accelerator, .options = options};
    const char *key = assay__ceilings_key(arena, machine), *only = options->only;
    if (key)
        key = assay__arena_printf(
            arena, "%smodels %d\nengine %s\ndevice %s\nlibrary %s\nidentity %s\n%s%s%s", key,
            MODELS, accelerator->engine ? accelerator->engine : "ort", accelerator->device,
            accelerator->library ? accelerator->library : "",
            accelerator->identity ? accelerator->identity : "", only ? "only " : "",
            only ? only : "", only ? "\n" : "");
    return assay__ceilings_cached(arena, key, options, measure, survey, out, error);
}
