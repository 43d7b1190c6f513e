/* accelerator.c - measures all ceilings of a device and keeps them in a file beside the CPU's. The
 * key of the file is the machine's with the device, the engine, its library and what else the
 * caller names (versions, driver, hardware). */
#include "ceiling/accelerator/accelerator_survey.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "engine/engine.h"
#include "probe/nvml.h"
#include "run/child.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODELS 1 /* raised when a model or a definition changes: older files no longer hold */
#define BUDGET_S 60.0
#define MARGIN_S 2.0 /* the run that is under way at the end has this to end by itself */

/* --- the card and its clock ------------------------------------------------------------------- */

/* Which of NVML's GPUs the CUDA device is: the only one, or the one of that number where the
 * environment makes CUDA count as NVML does. -1: not known. *name: its name; also when all GPUs are
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
    *why = "several GPUs: CUDA may count them differently than NVML does "
           "(CUDA_DEVICE_ORDER=PCI_BUS_ID makes them agree)";
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

/* --- the whole -------------------------------------------------------------------------------- */

static int complete_set(struct assay__accelerator_survey *survey, const char *hardware,
                        bool stopped, struct assay__ceilings *set)
{
    set->complete = !survey->late && !stopped;
    if (stopped) set->note = "interrupted: what was measured until then";
    set->pinned = true; /* no thread of ours works */
    set->steal_share = set->other_share = NAN;
    set->device = assay__arena_strdup(survey->arena, survey->accelerator->device);
    set->hardware = assay__arena_strdup(survey->arena, hardware ? hardware : "");
    if (!set->device || !set->hardware) return ASSAY_ENOMEM;
    if (survey->clock_why)
        assay__ceilings_note(survey->arena, set, "clock not known: ", survey->clock_why);
    return assay__ceilings_take(survey->arena, &survey->rows, stopped, set);
}

static void plan_time(struct assay__accelerator_survey *survey, uint64_t begin_ns)
{
    survey->budget_s = survey->options->budget_s > 0 ? survey->options->budget_s : BUDGET_S;
    double margin_s = fmin(0.05 * survey->budget_s, MARGIN_S);
    survey->deadline_ns = begin_ns + (uint64_t)((survey->budget_s - margin_s) * 1e9);
}

static int measure(void *context, struct assay__ceilings **out, struct assay_error *error)
{
    struct assay__accelerator_survey *survey = context;
    const struct assay__accelerator *accelerator = survey->accelerator;
    const char *hardware = accelerator->hardware;
    uint64_t begin_ns = assay__now_ns();
    struct assay__ceilings *set = assay__arena_alloc(survey->arena, sizeof *set);
    if (!set) return assay__no_memory(error);
    set->note = set->key = "";
    plan_time(survey, begin_ns);
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
    if ((code && !stopped) || complete_set(survey, hardware, stopped, set))
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

static const char *key_of(struct assay__arena *arena, const struct assay__machine *machine,
                          const struct assay__accelerator *device,
                          const struct assay__ceiling_options *options)
{
    const char *key = assay__ceilings_key(arena, machine);
    if (!key) return NULL;
    return assay__arena_printf(
        arena, "%smodels %d\nengine %s\ndevice %s\nlibrary %s\nidentity %s\n%s%s%s", key, MODELS,
        device->engine ? device->engine : "ort", device->device,
        device->library ? device->library : "", device->identity ? device->identity : "",
        options->only ? "only " : "", options->only ? options->only : "",
        options->only ? "\n" : "");
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
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "no device was named");
    struct assay__accelerator_survey *survey = assay__arena_alloc(arena, sizeof *survey);
    if (!survey) return assay__no_memory(error);
    survey->arena = arena;
    survey->machine = machine;
    survey->accelerator = accelerator;
    survey->options = options;
    return assay__ceilings_cached(arena, key_of(arena, machine, accelerator, options), options,
                                  measure, survey, out, error);
}
