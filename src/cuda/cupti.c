/* cupti.c - CUPTI is opened at run time, never linked. A program that already has it loaded
 * (PyTorch does) must share that one: two copies in a process are two profilers. */
#include "cuda/recorder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_CALL_IDS 2048u

struct cupti cuda_cupti;
static void *subscriber;
static bool calls_by_callback;
static _Thread_local int calls_open __attribute__((tls_model("initial-exec")));

/* --- errors ----------------------------------------------------------------------------------- */

static const char *advice(int result)
{
    switch (result) {
    case CUPTI_E_MAX_LIMIT:
    case CUPTI_E_SUBSCRIBERS:
        return "another profiler is in this process: trace without it (PyTorch's profiler, Nsight "
               "Systems, Nsight Compute, cuda-gdb)";
    case CUPTI_E_HARDWARE_BUSY: return "another process is profiling this GPU: wait for its end";
    case CUPTI_E_PRIVILEGES:
    case CUPTI_E_VIRTUALIZED_PRIVILEGES:
        return "the driver allows profiling only to administrators: run as root, or load the "
               "nvidia module with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_E_NOT_SUPPORTED:
    case CUPTI_E_VIRTUALIZED: return "this GPU, or this virtual GPU, cannot be profiled";
    case CUPTI_E_CONFIDENTIAL: return "a GPU in confidential-computing mode cannot be profiled";
    default: return "CUPTI must be of the same CUDA release as the program, or a later one";
    }
}

int cupti_complain(int result, const char *doing, char *why, size_t room)
{
    const char *text = NULL;
    if (cuda_cupti.GetResultString) cuda_cupti.GetResultString(result, &text);
    snprintf(why, room, "CUPTI refused %s: %s (%d); %s", doing, text ? text : "unknown error",
             result, advice(result));
    return -1;
}

/* --- the library ------------------------------------------------------------------------------ */

static void *open_library(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    static const char *const folders[] = {"/usr/local/cuda/extras/CUPTI/lib64",
                                          "/usr/local/cuda/lib64", "/opt/cuda/extras/CUPTI/lib64"};
    const char *own = getenv("ASSAY_CUPTI");
    char path[256];
    void *found;
    if (own && *own) return dlopen(own, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((found = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD))) return found;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((found = dlopen(names[i], RTLD_NOW | RTLD_LOCAL))) return found;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            snprintf(path, sizeof path, "%s/%s", folders[i], names[j]);
            if ((found = dlopen(path, RTLD_NOW | RTLD_LOCAL))) return found;
        }
    return NULL;
}

int cupti_open(char *why, size_t room)
{
    if (cuda_cupti.handle) return 0;
    struct cupti opened = {.handle = open_library()};
    if (!opened.handle) {
        const char *error = dlerror();
        snprintf(why, room,
                 "CUPTI was not found (%s); it comes with the CUDA toolkit (extras/CUPTI) and as "
                 "the Python package nvidia-cuda-cupti: name the library in ASSAY_CUPTI",
                 error ? error : "no libcupti.so");
        return -1;
    }
    void *symbol;
#define LOAD(name, parameters)                                                               \
    symbol = dlsym(opened.handle, "cupti" #name);                                            \
    if (!symbol) {                                                                           \
        snprintf(why, room, "this CUPTI has no cupti" #name ": CUDA 12 or later is needed"); \
        return -1;                                                                           \
    }                                                                                        \
    memcpy(&opened.name, &symbol, sizeof symbol);
    CUPTI_FUNCTIONS(LOAD)
#undef LOAD
    cuda_cupti = opened;
    return 0;
}

uint64_t cupti_now_ns(void)
{
    uint64_t now_ns = 0;
    struct timespec now;
    if (cuda_cupti.GetTimestamp && cuda_cupti.GetTimestamp(&now_ns) == CUPTI_OK) return now_ns;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A function of the driver, which has CUPTI loaded; NULL: there is none. */
static void *driver_symbol(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, name) : NULL;
    if (driver) dlclose(driver); /* it stays: others have it loaded */
    return symbol;
}

uint32_t cuda_driver_version(void)
{
    int (*ask)(int *) = NULL, version = 0;
    void *symbol = driver_symbol("cuDriverGetVersion");
    if (symbol) {
        memcpy(&ask, &symbol, sizeof ask);
        if (ask(&version)) version = 0;
    }
    return version > 0 ? (uint32_t)version : 0;
}

bool cuda_describe(uint32_t device, struct assay__cuda_device *described, char *name, size_t room)
{
    int (*get)(int *, int), (*get_name)(char *, int, int), (*get_memory)(size_t *, int);
    void *const symbols[] = {driver_symbol("cuDeviceGet"), driver_symbol("cuDeviceGetName"),
                             driver_symbol("cuDeviceTotalMem_v2")};
    int handle;
    size_t memory_bytes;
    if (!symbols[0] || !symbols[1] || !symbols[2]) return false;
    memcpy(&get, &symbols[0], sizeof get);
    memcpy(&get_name, &symbols[1], sizeof get_name);
    memcpy(&get_memory, &symbols[2], sizeof get_memory);
    if (get(&handle, (int)device) || get_name(name, (int)room, handle) ||
        get_memory(&memory_bytes, handle))
        return false;
    *described = (struct assay__cuda_device){.number = device, .memory_bytes = memory_bytes};
    return true;
}

/* --- calls ------------------------------------------------------------------------------------ */

void cupti_call_name(uint32_t domain, uint32_t cbid, char *text, size_t room)
{
    const char *name = NULL;
    if (cuda_cupti.GetCallbackName(domain, cbid, &name) != CUPTI_OK || !name) {
        snprintf(text, room, "call %u of the %s", (unsigned)cbid,
                 domain == CUPTI_DOMAIN_DRIVER ? "driver" : "runtime");
        return;
    }
    size_t length = strlen(name), digits = length; /* "cudaLaunchKernel_v7000" */
    while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    if (digits < length && digits > 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
        length = digits - 2;
    if (length >= room) length = room - 1;
    memcpy(text, name, length);
    text[length] = '\0';
}

/* Graphs are built by calls such as cudaGraphAddMemcpyNode, which enqueue nothing. */
bool cupti_call_matters(const char *name)
{
    static const char *const parts[] = {"Launch",    "Memcpy",         "Memset",     "Synchronize",
                                        "Malloc",    "cudaFree",       "HostAlloc",  "cuMemAlloc",
                                        "cuMemFree", "HostRegister",   "ModuleLoad", "LibraryLoad",
                                        "Prefetch",  "StreamWaitEvent"};
    static const char *const others[] = {"Node", "Attribute", "Config", "Occupancy", "Pitch"};
    bool matters = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        matters |= strstr(name, parts[i]) != NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        matters &= strstr(name, others[i]) == NULL;
    return matters;
}

/* A program that calls the driver itself (Triton) shows in its launches; the runtime calls the
 * driver for everything else, and one record of that is enough. */
static bool selects(uint32_t domain, uint32_t cbid)
{
    const char *name = NULL;
    if (cuda_cupti.GetCallbackName(domain, cbid, &name) != CUPTI_OK || !name) return false;
    if (domain == CUPTI_DOMAIN_DRIVER && !strstr(name, "Launch")) return false;
    return cupti_call_matters(name);
}

/* By callbacks: CUPTI 13.0 takes a selection of single calls for its activity records
 * (cuptiActivityEnableRuntimeApi), and gives no record of any of them. */
static void select_calls(uint32_t enable)
{
    size_t selected = 0;
    for (uint32_t id = 1; id < MOST_CALL_IDS; id++)
        for (uint32_t domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
            if (selects(domain, id))
                selected += cuda_cupti.EnableCallback(enable, subscriber, domain, id) == CUPTI_OK;
    calls_by_callback = enable && selected;
}

/* The driver's part of a call of the runtime has the same correlation: the outer one is kept. */
static void on_call(void *data, uint32_t domain, uint32_t cbid, const void *info)
{
    const struct cupti_callback_data *call = info;
    (void)data;
    if (!calls_by_callback || (domain != CUPTI_DOMAIN_DRIVER && domain != CUPTI_DOMAIN_RUNTIME))
        return;
    if (call->site == CUPTI_SITE_ENTER) {
        *call->own = calls_open++ ? 0 : cupti_now_ns();
        return;
    }
    if (calls_open) calls_open--;
    if (!*call->own) return;
    struct handed handed = {.type = ASSAY__CUDA_CALL,
                            .call = {.start_ns = *call->own,
                                     .end_ns = cupti_now_ns(),
                                     .name = cbid,
                                     .correlation = call->correlation,
                                     .thread = thread_number(),
                                     .is_driver = domain == CUPTI_DOMAIN_DRIVER}};
    marks_put(&handed, NULL, 0);
}

/* --- what is recorded ------------------------------------------------------------------------- */

int cupti_claim(char *why, size_t room)
{
    if (subscriber) return 0;
    int result = cuda_cupti.Subscribe(&subscriber, on_call, NULL);
    if (result == CUPTI_OK) return 0;
    subscriber = NULL;
    return cupti_complain(result, "to record", why, room);
}

void cupti_release(void)
{
    if (subscriber) cuda_cupti.Unsubscribe(subscriber);
    subscriber = NULL;
}

static const struct {
    unsigned bit;
    uint32_t kind;
    bool needed; /* the recording fails without it */
    const char *name;
} kinds_of[] = {
    {ASSAY__CUDA_KERNELS, CUPTI_KIND_CONCURRENT_KERNEL, true, "to record kernels"},
    {ASSAY__CUDA_KERNELS, CUPTI_KIND_DEVICE, false, "to describe devices"},
    {ASSAY__CUDA_COPIES, CUPTI_KIND_MEMCPY, true, "to record copies"},
    {ASSAY__CUDA_COPIES, CUPTI_KIND_MEMCPY2, false, "to record copies between devices"},
    {ASSAY__CUDA_COPIES, CUPTI_KIND_MEMSET, true, "to record memsets"},
    {ASSAY__CUDA_SYNCS, CUPTI_KIND_SYNCHRONIZATION, true, "to record synchronisations"},
    {ASSAY__CUDA_CALLS_ALL, CUPTI_KIND_RUNTIME, true, "to record calls of the runtime"},
    {ASSAY__CUDA_CALLS_ALL, CUPTI_KIND_DRIVER, true, "to record calls of the driver"},
    {ASSAY__CUDA_EXTERNAL_IDS, CUPTI_KIND_EXTERNAL_CORRELATION, true, "external ids"},
};
#define KINDS (sizeof kinds_of / sizeof *kinds_of)

int cupti_kinds_enable(unsigned kinds, char *why, size_t room)
{
    cuda_cupti.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
    for (size_t i = 0; i < KINDS; i++) {
        if (!(kinds & kinds_of[i].bit)) continue;
        int result = cuda_cupti.ActivityEnable(kinds_of[i].kind);
        if (result == CUPTI_OK || !kinds_of[i].needed) continue;
        cupti_complain(result, kinds_of[i].name, why, room);
        cupti_kinds_disable(kinds);
        return -1;
    }
    if (kinds & ASSAY__CUDA_CALLS && !(kinds & ASSAY__CUDA_CALLS_ALL)) select_calls(1);
    return 0;
}

void cupti_kinds_disable(unsigned kinds)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds & kinds_of[i].bit) cuda_cupti.ActivityDisable(kinds_of[i].kind);
    if (calls_by_callback) select_calls(0);
}
