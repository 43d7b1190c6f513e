/* test_devices_list.c - devices are asked for in a child: one that crashes, hangs, exits or is
 * refused costs its own row and no other. The fake engine's devices are scripted
 * ($ASSAY_FAKE_DEVICES); adapters come from fake drivers (tests/fixtures). */
#include "harness.h"

#include "base/clock.h"
#include "engine/adapter.h"
#include "run/devices.h"

#include "engine/engine.h"

#define ROWS 16

struct row {
    char name[64], kind[8], reason[600], hardware[64], version[16];
    bool available, software, offered;
};

static struct row rows[ROWS];
static size_t row_count;
static char tried[256];
static struct assay_error error;

static int keep(void *context, const struct assay__device *device)
{
    (void)context;
    CHECK(row_count < ROWS);
    struct row *row = &rows[row_count++];
    snprintf(row->name, sizeof row->name, "%s", device->name);
    snprintf(row->kind, sizeof row->kind, "%s", device->kind);
    snprintf(row->reason, sizeof row->reason, "%s", device->reason);
    snprintf(row->hardware, sizeof row->hardware, "%s", device->hardware);
    snprintf(row->version, sizeof row->version, "%s", device->version);
    row->available = device->available;
    row->software = device->software;
    row->offered = device->offered;
    CHECK_STR(device->engine, "fake");
    return 0;
}

static void on_trying(void *context, const char *name)
{
    (void)context;
    size_t used = strlen(tried);
    snprintf(tried + used, sizeof tried - used, "%s ", name);
}

static int list(const char *script, const char *only, double timeout_s)
{
    setenv("ASSAY_FAKE_DEVICES", script, 1);
    struct assay__devices_options options = {
        .engine = "fake", .only = only, .timeout_s = timeout_s, .trying = on_trying};
    row_count = 0;
    tried[0] = '\0';
    error = (struct assay_error){0};
    return assay__devices_list(&options, keep, NULL, &error);
}

static void test_all_work(void)
{
    CHECK_INT(list("cpu;gpu:0;npu", NULL, 0), 0);
    CHECK_INT(row_count, 3);
    CHECK_STR(tried, "cpu gpu:0 npu ");
    CHECK_STR(rows[2].kind, "npu");
    for (size_t i = 0; i < 3; i++)
        CHECK(rows[i].available && rows[i].offered && !rows[i].reason[0]);
    CHECK_STR(rows[0].version, "1");
}

static void test_crash_goes_on(void)
{
    CHECK_INT(list("cpu;gpu:0=crash;gpu:1=oom;npu=exit;gpu:2;gpu:3=crash", NULL, 0), 0);
    CHECK_INT(row_count, 6);
    CHECK(rows[0].available && rows[4].available);
    CHECK_STR(rows[1].name, "gpu:0");
    CHECK_STR(rows[1].kind, "gpu");
    CHECK_STR(rows[1].version, "1");
    CHECK(!rows[1].available && rows[1].offered);
    CHECK_HAS(rows[1].reason, "probing it crashed: SIGSEGV");
    CHECK_HAS(rows[2].reason, "SIGKILL");
    CHECK_HAS(rows[3].reason, "probing it exited with status 3");
    CHECK_HAS(rows[5].reason, "SIGSEGV");
    CHECK_STR(tried, "cpu gpu:0 gpu:1 npu gpu:2 gpu:3 "); /* each once */
    SKIP_EMULATED("a crash ends with words of its own");
    CHECK_HAS(rows[1].reason, "its last output: fake driver of gpu:0: crash");
}

static void test_hang_is_killed(void)
{
    bool slow = harness_emulator() != NULL; /* to start a worker */
    uint64_t begin = assay__now_ns();
    CHECK_INT(list("cpu;gpu=hang;npu", NULL, slow ? 5 : 0.3), 0);
    CHECK((double)(assay__now_ns() - begin) > 0.3e9);
    CHECK_INT(row_count, 3);
    CHECK_HAS(rows[1].reason, slow ? "probing it hung: no answer for 5 s; killed"
                                   : "probing it hung: no answer for 0.3 s; killed");
    CHECK(rows[2].available);
}

static void test_refused_and_missing(void)
{
    CHECK_INT(list("a=refused;b=missing;c=log;d=software", NULL, 0), 0);
    CHECK_INT(row_count, 4);
    CHECK_STR(rows[0].reason, "the script refuses it");
    CHECK(rows[0].offered && !rows[1].offered && !rows[1].available);
    CHECK_STR(rows[2].reason, "the script refuses it; the driver has another version");
    CHECK(rows[3].available && rows[3].software);
    CHECK_STR(rows[3].hardware, "Fake adapter");
}

static void test_only(void)
{
    CHECK_INT(list("cpu=crash;gpu:0;gpu:1", "gpu:1", 0), 0);
    CHECK_INT(row_count, 1);
    CHECK_STR(rows[0].name, "gpu:1");
    CHECK_STR(tried, "gpu:1 ");
    CHECK_INT(list("gpu:1;gpu:0;gpuu", "gpu", 0), 0);
    CHECK_INT(row_count, 1);
    CHECK_STR(rows[0].name, "gpu:0");
    CHECK_INT(list("cpu", "gpu", 0), 0);
    CHECK_INT(row_count, 0);
}

static volatile int interrupt;

static void interrupt_at(void *context, const char *name)
{
    (void)context;
    if (strcmp(name, "gpu") == 0) interrupt = 1;
}

static void test_interrupted(void)
{
    setenv("ASSAY_FAKE_DEVICES", "cpu;gpu=hang;npu", 1);
    struct assay__devices_options options = {
        .engine = "fake", .interrupt = &interrupt, .trying = interrupt_at};
    row_count = 0;
    uint64_t begin = assay__now_ns();
    CHECK_INT(assay__devices_list(&options, keep, NULL, &error), ASSAY_EINTERRUPTED);
    CHECK((double)(assay__now_ns() - begin) < 20e9); /* not the time-out of a device */
    CHECK_INT(row_count, 1);
}

static int stop_at_once(void *context, const struct assay__device *device)
{
    (void)device;
    (*(int *)context)++;
    return ASSAY_ELIMIT;
}

static void test_caller_ends_it(void)
{
    int calls = 0;
    setenv("ASSAY_FAKE_DEVICES", "cpu;gpu;npu", 1);
    struct assay__devices_options options = {.engine = "fake"};
    CHECK_INT(assay__devices_list(&options, stop_at_once, &calls, &error), ASSAY_ELIMIT);
    CHECK_INT(calls, 1);
}

static void test_no_engine_no_worker(void)
{
    struct assay__devices_options options = {.engine = "nothing"};
    CHECK_INT(assay__devices_list(&options, keep, NULL, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "nothing");
    setenv("ASSAY_WORKER", "/no/such/worker", 1);
    CHECK_INT(list("cpu", NULL, 0), ASSAY_ENOTFOUND);
    setenv("ASSAY_WORKER", "/bin/true", 1); /* ends without a word */
    CHECK_INT(list("cpu", NULL, 0), ASSAY_ECRASH);
    CHECK_HAS(error.message, "loading it exited with status 0");
}

/* --- adapters --------------------------------------------------------------------------------- */

static struct assay__adapter vulkan(const char *devices)
{
    struct assay__adapter adapter;
    setenv("ASSAY_VULKAN_LIBRARY", ASSAY_TEST_BUILD "/tests/lib/lib_fake_vulkan.so", 1);
    setenv("FAKE_VULKAN", devices, 1);
    assay__adapter_vulkan(&adapter);
    return adapter;
}

static void test_vulkan(void)
{
    struct assay__adapter adapter = vulkan("4:SwiftShader Device");
    CHECK_STR(adapter.name, "SwiftShader Device");
    CHECK(adapter.software);
    CHECK_STR(adapter.note, "the only Vulkan device is of type CPU");
    adapter = vulkan("4:llvmpipe,2:Fast GPU");
    CHECK_STR(adapter.name, "Fast GPU");
    CHECK(!adapter.software);
    adapter = vulkan("4:llvmpipe,4:SwiftShader");
    CHECK(adapter.software);
    CHECK_STR(adapter.note, "every Vulkan device here is of type CPU");
    adapter = vulkan("1:Slow GPU,2:Fast GPU"); /* which one is not known: no guess */
    CHECK_STR(adapter.name, "");
    CHECK(!adapter.software);
    CHECK_HAS(adapter.note, "which of 2");
    adapter = vulkan("");
    CHECK_STR(adapter.name, "");
    CHECK_HAS(adapter.note, "Vulkan lists no device");
    adapter = vulkan("fail");
    CHECK_HAS(adapter.note, "no instance");
    setenv("ASSAY_VULKAN_LIBRARY", "/no/such/libvulkan.so.1", 1);
    assay__adapter_vulkan(&adapter);
    CHECK_STR(adapter.name, "");
    CHECK_HAS(adapter.note, "unknown");
    setenv("ASSAY_VULKAN_LIBRARY", ASSAY_TEST_BUILD "/tests/lib/lib_not_ort.so", 1);
    assay__adapter_vulkan(&adapter);
    CHECK_HAS(adapter.note, "no instance");
}

static void test_cuda(void)
{
    struct assay__adapter adapter;
    setenv("ASSAY_CUDA_LIBRARY", ASSAY_TEST_BUILD "/tests/lib/lib_fake_vulkan.so", 1);
    assay__adapter_cuda(1, &adapter);
    CHECK_STR(adapter.name, "Fake CUDA 1");
    CHECK_STR(adapter.note, "named by the CUDA driver");
    assay__adapter_cuda(2, &adapter); /* there are two */
    CHECK_STR(adapter.name, "");
    CHECK_STR(adapter.note, "");
    setenv("ASSAY_CUDA_LIBRARY", "/no/such/libcuda.so.1", 1);
    assay__adapter_cuda(0, &adapter);
    CHECK_STR(adapter.name, "");
}

int main(int argc, char **argv)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    static const struct harness_test tests[] = {
        {"all_work", test_all_work},
        {"crash_goes_on", test_crash_goes_on},
        {"hang_is_killed", test_hang_is_killed},
        {"refused_and_missing", test_refused_and_missing},
        {"only", test_only},
        {"interrupted", test_interrupted},
        {"caller_ends_it", test_caller_ends_it},
        {"no_engine_no_worker", test_no_engine_no_worker},
        {"vulkan", test_vulkan},
        {"cuda", test_cuda},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
