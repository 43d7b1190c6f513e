/* nvml.c - NVIDIA GPUs through the NVIDIA Management Library: libnvidia-ml.so.1 of the driver,
 * loaded at run time ($ASSAY_NVML_LIBRARY: another one). GPUs are numbered as NVML does, by PCI
 * address.
 *
 * Rows of `groups` say what one call fills. A call that the library does not have, or that the GPU
 * does not support, makes its channels unavailable at open; one that fails later makes that reading
 * unavailable, with NVML's reason.
 *
 * Power is that of the whole board, in mW (on recent GPUs a one-second average); the energy counter
 * counts mJ since the driver was loaded. Two calls would delay the others and are separate probes:
 * the energy counter (4 to 6 ms of processor time for each reading on an H200 with driver 580,
 * where the others take 10 to 50 µs) and PCIe throughput (each of its calls watches the bus for 20
 * ms). Memory of a process is unknown in containers whose process ids differ from the host's.
 * Source: NVIDIA's NVML API reference. */
#include "probe/nvml.h"
#include "probe/live.h"
#include "probe/nvml_abi.h"
#include "probe/probes.h"

#include "base/no_memory.h"
#include "platform/platform.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libnvidia-ml.so.1"
#define GPUS 64
#define PROCESSES 128
#define VALUES 8                   /* at most, of one call */
#define OPEN_LIMIT_NS 20000000000u /* an idle GPU is woken first: seconds, for each */

static _Atomic(pid_t) target_process;

void assay__nvml_target(pid_t process)
{
    atomic_store(&target_process, process);
}

/* --- the library ------------------------------------------------------------------------------ */

struct nvml {
    struct nvml_calls calls;
    void *library;
    void *devices[GPUS]; /* NULL: no handle, see failed */
    int failed[GPUS];
    unsigned count;
};

#define AT(member) offsetof(struct nvml_calls, member)
static const struct {
    size_t offset; /* in struct nvml_calls */
    const char *name, *older;
    bool needed;
} symbols[] = {
    {AT(init), "nvmlInit_v2", "nvmlInit", true},
    {AT(shutdown), "nvmlShutdown", NULL, true},
    {AT(error_string), "nvmlErrorString", NULL, false},
    {AT(count), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", true},
    {AT(by_index), "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", true},
    {AT(name), "nvmlDeviceGetName", NULL, false},
    {AT(uuid), "nvmlDeviceGetUUID", NULL, false},
    {AT(driver_version), "nvmlSystemGetDriverVersion", NULL, false},
    {AT(pci), "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", false},
    {AT(power), "nvmlDeviceGetPowerUsage", NULL, false},
    {AT(energy), "nvmlDeviceGetTotalEnergyConsumption", NULL, false},
    {AT(clock), "nvmlDeviceGetClockInfo", NULL, false},
    {AT(temperature), "nvmlDeviceGetTemperature", NULL, false},
    {AT(utilization), "nvmlDeviceGetUtilizationRates", NULL, false},
    {AT(memory), "nvmlDeviceGetMemoryInfo", NULL, false},
    {AT(slow_reasons), "nvmlDeviceGetCurrentClocksEventReasons",
     "nvmlDeviceGetCurrentClocksThrottleReasons", false},
    {AT(pcie), "nvmlDeviceGetPcieThroughput", NULL, false},
    {AT(pcie_generation), "nvmlDeviceGetCurrPcieLinkGeneration", NULL, false},
    {AT(pcie_width), "nvmlDeviceGetCurrPcieLinkWidth", NULL, false},
    {AT(processes), "nvmlDeviceGetComputeRunningProcesses_v3",
     "nvmlDeviceGetComputeRunningProcesses_v2", false},
};

/* NVML's results as messages; static. NULL: not one we know. */
static const char *known_result(int result)
{
    switch (result) {
    case NVML_NOT_SUPPORTED: return "this GPU, or its driver, does not support it";
    case NVML_NO_PERMISSION: return "permission denied by the NVIDIA driver: needs root";
    case NVML_INSUFFICIENT_SIZE: return "more than 128 processes use this GPU";
    case NVML_DRIVER_NOT_LOADED: return "the NVIDIA driver is not loaded: sudo modprobe nvidia";
    case NVML_TIMEOUT: return "the NVIDIA driver did not answer in time";
    case NVML_FUNCTION_NOT_FOUND: return "this version of the NVIDIA driver does not have it";
    case NVML_GPU_IS_LOST: return "the GPU is lost: it fell off the bus, or is no longer reachable";
    case NVML_RESET_REQUIRED: return "the GPU must be reset: sudo nvidia-smi --gpu-reset";
    case NVML_VERSION_MISMATCH:
        return "the NVIDIA library and kernel module are of different versions: restart the "
               "machine";
    case NVML_NO_DATA: return "the GPU has no data for it";
    default: return NULL;
    }
}

static const char *open_result(struct assay__arena *arena, const struct nvml *nvml, int result)
{
    const char *known = known_result(result);
    if (known) return known;
    const char *its = nvml->calls.error_string ? nvml->calls.error_string(result) : NULL;
    return assay__arena_text(arena, "NVML reports error %d%s%s", result, its ? ": " : "",
                             its ? its : "");
}

static void nvml_unload(struct nvml *nvml, bool started)
{
    if (started) nvml->calls.shutdown();
    assay__library_close(nvml->library);
    nvml->library = NULL;
}

const char assay__nvml_no_library[] = "no NVIDIA driver is installed (there is no " LIBRARY
                                      "); to use one elsewhere, set ASSAY_NVML_LIBRARY=PATH";

/* NULL, or why it is not available; then nothing stays loaded. */
static const char *nvml_load(struct assay__arena *arena, struct nvml *nvml)
{
    struct assay_error error = {0};
    const char *path = getenv("ASSAY_NVML_LIBRARY");
    bool chosen = path && *path;
    const char *reason = assay__live_refused();
    if (reason) return reason;
    if (!chosen) path = LIBRARY;
    nvml->library = assay__library_open(path, &error);
    if (!nvml->library)
        return chosen ? assay__arena_text(arena, "%s", error.message) : assay__nvml_no_library;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = assay__library_symbol(nvml->library, symbols[i].name);
        if (!symbol && symbols[i].older)
            symbol = assay__library_symbol(nvml->library, symbols[i].older);
        memcpy((char *)&nvml->calls + symbols[i].offset, &symbol, sizeof symbol);
        if (symbol || !symbols[i].needed) continue;
        nvml_unload(nvml, false);
        return assay__arena_text(arena, "'%s' is not the NVIDIA Management Library: it has no %s",
                                 path, symbols[i].name);
    }
    unsigned count = 0;
    int result = nvml->calls.init();
    bool started = result == NVML_OK;
    if (started) result = nvml->calls.count(&count);
    if (result || count == 0) {
        reason = result ? open_result(arena, nvml, result) : "NVML finds no NVIDIA GPU";
        nvml_unload(nvml, started);
        return reason;
    }
    nvml->count = count < GPUS ? count : GPUS;
    for (unsigned i = 0; i < nvml->count; i++) {
        nvml->failed[i] = nvml->calls.by_index(i, &nvml->devices[i]);
        if (nvml->failed[i]) nvml->devices[i] = NULL;
    }
    return NULL;
}

/* --- what one call fills ---------------------------------------------------------------------- */

struct group {
    int (*fill)(const struct nvml_calls *calls, const struct group *group, void *device,
                double *values);
    size_t call;  /* for fill_number: offset in struct nvml_calls */
    int which;    /* for fill_number: the kind; -1: the call takes none */
    double scale; /* base units per unit of NVML's */
    const char *quantity, *unit;
    const char *const *states;
    const char *missing; /* why a value may be NaN although the call succeeded; static; NULL */
    const char *tails[VALUES]; /* "power.gpu0" + TAIL, one per value; ends with NULL */
};

/* A call that fills one unsigned number; kind: which clock, sensor or direction. */
typedef int get_number(void *device, unsigned *value);
typedef int get_kind(void *device, int kind, unsigned *value);

static int fill_number(const struct nvml_calls *calls, const struct group *group, void *device,
                       double *values)
{
    const char *call = (const char *)calls + group->call;
    get_number *get;
    get_kind *get_of;
    unsigned number = 0;
    memcpy(&get, call, sizeof get);
    memcpy(&get_of, call, sizeof get_of);
    int result = !get               ? NVML_FUNCTION_NOT_FOUND
                 : group->which < 0 ? get(device, &number)
                                    : get_of(device, group->which, &number);
    values[0] = number * group->scale;
    return result;
}

static int fill_energy(const struct nvml_calls *calls, const struct group *group, void *device,
                       double *values)
{
    unsigned long long millijoules = 0;
    int result = calls->energy ? calls->energy(device, &millijoules) : NVML_FUNCTION_NOT_FOUND;
    values[0] = (double)millijoules * group->scale;
    return result;
}

static int fill_utilization(const struct nvml_calls *calls, const struct group *group, void *device,
                            double *values)
{
    (void)group;
    struct nvml_utilization share = {0, 0};
    int result = calls->utilization ? calls->utilization(device, &share) : NVML_FUNCTION_NOT_FOUND;
    values[0] = share.gpu <= 100 ? share.gpu * 0.01 : NAN;
    values[1] = share.memory <= 100 ? share.memory * 0.01 : NAN;
    return result;
}

static int fill_memory(const struct nvml_calls *calls, const struct group *group, void *device,
                       double *values)
{
    (void)group;
    struct nvml_memory memory = {0, 0, 0};
    int result = calls->memory ? calls->memory(device, &memory) : NVML_FUNCTION_NOT_FOUND;
    values[0] = (double)memory.used;
    values[1] = (double)memory.total;
    return result;
}

static int fill_slow(const struct nvml_calls *calls, const struct group *group, void *device,
                     double *values)
{
    (void)group;
    static const unsigned long long bits[] = {
        NVML_SLOW_IDLE,       NVML_SLOW_SETTING,          NVML_SLOW_POWER_CAP,
        NVML_SLOW_HARDWARE,   NVML_SLOW_THERMAL_SOFTWARE, NVML_SLOW_THERMAL_HARDWARE,
        NVML_SLOW_POWER_BRAKE};
    unsigned long long all = 0;
    int result = calls->slow_reasons ? calls->slow_reasons(device, &all) : NVML_FUNCTION_NOT_FOUND;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        values[i] = (all & bits[i]) != 0;
    return result;
}

/* Memory of the process that is watched, and of all compute processes. */
static int fill_processes(const struct nvml_calls *calls, const struct group *group, void *device,
                          double *values)
{
    (void)group;
    struct nvml_process all[PROCESSES];
    unsigned count = PROCESSES;
    pid_t wanted = atomic_load(&target_process);
    int result = calls->processes ? calls->processes(device, &count, all) : NVML_FUNCTION_NOT_FOUND;
    values[0] = NAN;
    values[1] = 0;
    if (result) return result;
    if (!wanted) wanted = getpid();
    for (unsigned i = 0; i < count && i < PROCESSES; i++) {
        double used = all[i].used == NVML_NOT_AVAILABLE ? NAN : (double)all[i].used;
        values[1] += used; /* an unknown one makes the sum unknown */
        if (all[i].pid == (unsigned)wanted) values[0] = isnan(values[0]) ? used : values[0] + used;
    }
    return result;
}

static const char *const no_yes[] = {"no", "yes", NULL};
static const char not_listed[] =
    "NVML does not report it: the process has no context on this GPU, the driver does not track "
    "its memory, or it runs in a container whose process ids differ";
#define NUMBER(member) KIND(member, -1)
#define KIND(member, kind) .fill = fill_number, .call = AT(member), .which = (kind)
#define CLOCK .quantity = "clock", .unit = "Hz", .scale = 1e6
#define STATE .quantity = "state", .unit = "1", .scale = 1
#define BYTES .quantity = "memory", .unit = "B"
#define TRAFFIC .quantity = "bandwidth", .unit = "B/s", .scale = 1e3
static const struct group groups[] = {
    {NUMBER(power), .quantity = "power", .unit = "W", .scale = 1e-3, .tails = {""}},
    {KIND(clock, NVML_CLOCK_GRAPHICS), CLOCK, .tails = {".graphics"}},
    {KIND(clock, NVML_CLOCK_SM), CLOCK, .tails = {".sm"}},
    {KIND(clock, NVML_CLOCK_MEMORY), CLOCK, .tails = {".memory"}},
    {KIND(temperature, NVML_TEMPERATURE_GPU), .quantity = "temperature", .unit = "°C", .scale = 1,
     .tails = {""}},
    {fill_utilization, .quantity = "utilization", .unit = "ratio", .missing = "a share over 100 %",
     .tails = {"", ".memory"}},
    {fill_memory, BYTES, .tails = {".used", ".total"}},
    {fill_processes, BYTES, .missing = not_listed, .tails = {".process", ".compute"}},
    {fill_slow, STATE, .states = no_yes,
     .tails = {".slow.idle", ".slow.setting", ".slow.power-cap", ".slow.hardware",
               ".slow.thermal-software", ".slow.thermal-hardware", ".slow.power-brake"}},
    {NUMBER(pcie_generation), STATE, .tails = {".pcie-generation"}},
    {NUMBER(pcie_width), STATE, .tails = {".pcie-width"}},
};
static const struct group energy_groups[] = {
    {fill_energy, .quantity = "energy", .unit = "J", .scale = 1e-3, .tails = {""}},
};
static const struct group pcie_groups[] = {
    {KIND(pcie, NVML_PCIE_SENT), TRAFFIC, .tails = {".pcie-sent"}},
    {KIND(pcie, NVML_PCIE_RECEIVED), TRAFFIC, .tails = {".pcie-received"}},
};

/* --- the probe -------------------------------------------------------------------------------- */

struct filled { /* one group of one GPU: its channels follow one another */
    const struct group *group;
    void *device;
    size_t first, count;
    bool available;
    bool wanted; /* something of it is looked at */
};

struct assay__probe {
    struct assay__probe_head head;
    struct nvml nvml;
    struct filled *filled;
    size_t filled_count;
    struct assay__channel *channels;
    size_t channel_count;
};

static size_t tail_count(const struct group *group)
{
    size_t count = 0;
    while (count < VALUES && group->tails[count])
        count++;
    return count;
}

static void nvml_close(struct assay__probe *probe)
{
    if (probe && probe->nvml.library) nvml_unload(&probe->nvml, true);
}

/* The channels of one group of one GPU. */
static void add_group(struct assay__arena *arena, struct assay__probe *probe, unsigned gpu,
                      const struct group *group)
{
    double values[VALUES];
    void *device = probe->nvml.devices[gpu];
    int result = probe->nvml.failed[gpu];
    if (!result) result = group->fill(&probe->nvml.calls, group, device, values);
    struct filled *filled = &probe->filled[probe->filled_count++];
    *filled = (struct filled){.group = group,
                              .device = device,
                              .first = probe->channel_count,
                              .count = tail_count(group),
                              .available = result == NVML_OK,
                              .wanted = true};
    for (size_t i = 0; i < filled->count; i++)
        probe->channels[probe->channel_count++] = (struct assay__channel){
            .name = assay__arena_text(arena, "%s.gpu%u%s", group->quantity, gpu, group->tails[i]),
            .quantity = group->quantity,
            .rail = assay__arena_text(arena, "gpu%u", gpu),
            .unit = group->unit,
            .kind = group->fill == fill_energy ? ASSAY__CHANNEL_COUNTER : ASSAY__CHANNEL_GAUGE,
            .range = NAN,
            .source = "NVML",
            .available = result == NVML_OK,
            .reason = result ? open_result(arena, &probe->nvml, result) : "",
            .states = group->states,
        };
}

static int open_groups(struct assay__arena *arena, struct assay__probe **probe,
                       const struct group *all, size_t count, struct assay_error *error)
{
    struct assay__probe *made = *probe = assay__arena_alloc(arena, sizeof *made);
    if (!made) return assay__no_memory(error);
    const char *reason = nvml_load(arena, &made->nvml);
    size_t gpus = made->nvml.count, channels = 0;
    for (size_t g = 0; g < count; g++)
        channels += tail_count(&all[g]);
    made->filled = assay__arena_array(arena, gpus * count, sizeof *made->filled);
    made->channels = assay__arena_array(arena, gpus * channels, sizeof *made->channels);
    for (unsigned gpu = 0; gpu < gpus && made->filled && made->channels; gpu++)
        for (size_t g = 0; g < count; g++)
            add_group(arena, made, gpu, &all[g]);
    if (assay__arena_failed(arena)) {
        nvml_close(made);
        *probe = NULL;
        return assay__no_memory(error);
    }
    if (!reason) reason = made->channels[0].reason;
    for (size_t i = 0; i < made->channel_count; i++)
        if (made->channels[i].available) reason = "";
    made->head = (struct assay__probe_head){made->channels, made->channel_count, reason};
    return 0;
}

static int nvml_open(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    return open_groups(arena, probe, groups, sizeof groups / sizeof groups[0], error);
}

static int nvml_energy_open(struct assay__arena *arena, struct assay__probe **probe,
                            struct assay_error *error)
{
    return open_groups(arena, probe, energy_groups, sizeof energy_groups / sizeof energy_groups[0],
                       error);
}

static int nvml_pcie_open(struct assay__arena *arena, struct assay__probe **probe,
                          struct assay_error *error)
{
    return open_groups(arena, probe, pcie_groups, sizeof pcie_groups / sizeof pcie_groups[0],
                       error);
}

/* A call is not made if none of its values is needed. */
static void nvml_select(struct assay__probe *probe, const bool *wanted)
{
    for (size_t f = 0; f < probe->filled_count; f++) {
        struct filled *filled = &probe->filled[f];
        filled->wanted = false;
        for (size_t i = 0; i < filled->count; i++)
            filled->wanted = filled->wanted || wanted[filled->first + i];
    }
}

static void nvml_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    for (size_t f = 0; f < probe->filled_count; f++) {
        const struct filled *filled = &probe->filled[f];
        double values[VALUES];
        int result = NVML_OK;
        if (filled->available && filled->wanted)
            result = filled->group->fill(&probe->nvml.calls, filled->group, filled->device, values);
        for (size_t i = 0; i < filled->count; i++) {
            size_t at = filled->first + i;
            const char *reason = !filled->available ? probe->channels[at].reason
                                 : !filled->wanted  ? "not requested"
                                 : result           ? known_result(result)
                                 : isnan(values[i]) ? filled->group->missing
                                                    : "";
            if (!reason) reason = "NVML reports an error";
            readings[at] = (struct assay__probe_reading){*reason ? NAN : values[i], reason};
        }
    }
}

const struct assay__nvml_gpu *assay__nvml_gpus(struct assay__arena *arena, size_t *count,
                                               const char **reason)
{
    struct nvml nvml = {.count = 0};
    const struct nvml_calls *calls = &nvml.calls;
    *reason = nvml_load(arena, &nvml);
    *count = nvml.count;
    if (*reason) return NULL;
    struct assay__nvml_gpu *gpus = assay__arena_array(arena, nvml.count, sizeof *gpus);
    for (unsigned i = 0; gpus && i < nvml.count; i++) {
        char name[NVML_NAME_SIZE] = "", uuid[NVML_NAME_SIZE] = "", version[NVML_NAME_SIZE] = "";
        char address[32] = "";
        struct nvml_pci pci = {.domain = 0};
        struct nvml_memory memory = {0};
        void *device = nvml.devices[i];
        if (device && calls->name) calls->name(device, name, sizeof name);
        if (device && calls->uuid) calls->uuid(device, uuid, sizeof uuid);
        if (device && calls->pci && calls->pci(device, &pci) == NVML_OK)
            snprintf(address, sizeof address, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
        if (calls->driver_version && calls->driver_version(version, sizeof version) != NVML_OK)
            version[0] = '\0';
        bool sized = device && calls->memory && calls->memory(device, &memory) == NVML_OK;
        name[sizeof name - 1] = uuid[sizeof uuid - 1] = version[sizeof version - 1] = '\0';
        gpus[i] = (struct assay__nvml_gpu){
            .rail = assay__arena_text(arena, "gpu%u", i),
            .name = assay__arena_text(arena, "%s", name),
            .uuid = assay__arena_text(arena, "%s", uuid),
            .pci = assay__arena_text(arena, "%s", address),
            .driver_version = assay__arena_text(arena, "%s", version),
            .memory_bytes = sized ? memory.total : 0};
    }
    nvml_unload(&nvml, true);
    *reason = assay__arena_failed(arena) ? "out of memory" : "";
    if (**reason) *count = 0;
    return **reason ? NULL : gpus;
}

#define OPS(open_groups)                                                                       \
    .open = (open_groups), .open_limit_ns = OPEN_LIMIT_NS, ASSAY__HEAD_OPS, .read = nvml_read, \
    .close = nvml_close, .select = nvml_select

const struct assay__probe_ops assay__probe_nvml = {
    .name = "nvml",
    .summary = "power, clocks, temperature, load and memory of NVIDIA GPUs (NVML)",
    .power_of = "g",
    OPS(nvml_open),
};

const struct assay__probe_ops assay__probe_nvml_energy = {
    .name = "nvml-energy",
    .summary = "energy counters of NVIDIA GPUs; a reading may take milliseconds (NVML)",
    OPS(nvml_energy_open),
};

const struct assay__probe_ops assay__probe_nvml_pcie = {
    .name = "nvml-pcie",
    .summary = "PCIe traffic of NVIDIA GPUs; each reading takes 40 ms per GPU (NVML)",
    OPS(nvml_pcie_open),
};
