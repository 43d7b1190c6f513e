/* test_probe_nvml.c - NVIDIA GPUs through a fake library with scripted values and faults
 * (tests/fixtures/lib_fake_nvml*.c). */
#include "live_fixture.h"

#include "probe/nvml.h"

#define LIBRARY(name) ASSAY_TEST_BUILD "/tests/lib/" name ".so"

static void fake(const char *script)
{
    unsetenv("ASSAY_FSROOT");
    setenv("ASSAY_NVML_LIBRARY", LIBRARY("lib_fake_nvml"), 1);
    setenv("FAKE_NVML", script, 1);
}

static void test_values(void)
{
    fake("");
    open_probe("nvml");
    CHECK_STR(ops->reason(probe), "");
    CHECK_INT(channel_count, 2 * 20);
    CHECK_NEAR(value("power.gpu0"), 312.5, 1e-12);
    CHECK_NEAR(value("clock.gpu0.graphics"), 1980e6, 0);
    CHECK_NEAR(value("clock.gpu0.sm"), 1965e6, 0);
    CHECK_NEAR(value("clock.gpu0.memory"), 3201e6, 0);
    CHECK_NEAR(value("temperature.gpu0"), 61, 0);
    CHECK_NEAR(value("utilization.gpu0"), 0.97, 1e-12);
    CHECK_NEAR(value("utilization.gpu0.memory"), 0.38, 1e-12);
    CHECK_NEAR(value("memory.gpu0.used"), 4294967296.0, 0);
    CHECK_NEAR(value("memory.gpu0.total"), 150754820096.0, 0);
    CHECK_NEAR(value("state.gpu0.pcie-generation"), 5, 0);
    CHECK_NEAR(value("state.gpu0.pcie-width"), 16, 0);
    CHECK_NEAR(value("power.gpu1"), 42, 1e-12);
    const struct assay__channel *power = &channels[find("power.gpu1")];
    CHECK_STR(power->rail, "gpu1");
    CHECK_STR(power->unit, "W");
    CHECK_STR(power->source, "NVML");
    close_probe();
}

/* Each call of the fake's counter adds 1.25 J. */
static void test_energy(void)
{
    fake("");
    open_probe("nvml"); /* does not ask for it */
    close_probe();
    open_probe("nvml-energy");
    CHECK_INT(channel_count, 2);
    CHECK_STR(ops->reason(probe), "");
    const struct assay__channel *energy = &channels[find("energy.gpu0")];
    CHECK_INT(energy->kind, ASSAY__CHANNEL_COUNTER);
    CHECK(isnan(energy->range));
    CHECK_STR(energy->rail, "gpu0");
    CHECK_STR(energy->unit, "J");
    check_missing("energy.gpu1", false, "does not support it");
    CHECK_NEAR(value("energy.gpu0"), 5002.5, 1e-9); /* asked once at open, once now */
    ops->read(probe, readings);
    CHECK_NEAR(value("energy.gpu0"), 5003.75, 1e-9);
    close_probe();
}

static void test_slow(void)
{
    fake("");
    open_probe("nvml");
    CHECK_NEAR(value("state.gpu0.slow.power-cap"), 1, 0);
    CHECK_NEAR(value("state.gpu0.slow.thermal-hardware"), 1, 0);
    CHECK_NEAR(value("state.gpu0.slow.idle"), 0, 0);
    CHECK_NEAR(value("state.gpu0.slow.setting"), 0, 0);
    CHECK_NEAR(value("state.gpu0.slow.hardware"), 0, 0);
    CHECK_NEAR(value("state.gpu0.slow.thermal-software"), 0, 0);
    CHECK_NEAR(value("state.gpu0.slow.power-brake"), 0, 0);
    CHECK_NEAR(value("state.gpu1.slow.idle"), 1, 0);
    CHECK_STR(channels[find("state.gpu0.slow.idle")].states[1], "yes");
    close_probe();
}

static void test_processes(void)
{
    fake("");
    open_probe("nvml");
    CHECK_NEAR(value("memory.gpu0.process"), 6000, 0); /* ours is listed twice */
    CHECK_NEAR(value("memory.gpu0.compute"), 7000, 0);
    check_missing("memory.gpu1.process", true, "no context on this GPU");
    check_missing("memory.gpu1.compute", true, "does not track its memory,");
    assay__nvml_target(1);
    ops->read(probe, readings);
    CHECK_NEAR(value("memory.gpu0.process"), 1000, 0);
    close_probe();
}

static void test_not_supported(void)
{
    fake("");
    open_probe("nvml");
    check_missing("clock.gpu1.sm", false, "does not support it");
    check_missing("utilization.gpu1.memory", false, "does not support it");
    CHECK_NEAR(value("clock.gpu1.memory"), 3201e6, 0);
    close_probe();
}

static void test_pcie(void)
{
    fake("");
    open_probe("nvml-pcie");
    CHECK_INT(channel_count, 4);
    CHECK_NEAR(value("bandwidth.gpu0.pcie-sent"), 1.5e9, 0);
    CHECK_NEAR(value("bandwidth.gpu0.pcie-received"), 250e3, 0);
    check_missing("bandwidth.gpu1.pcie-sent", false, "does not support it");
    close_probe();
}

/* A GPU that falls off the bus in mid-run, and comes back: the other goes on. */
static void test_lost(void)
{
    fake("");
    open_probe("nvml");
    setenv("FAKE_NVML", "lost", 1);
    ops->read(probe, readings);
    check_missing("power.gpu0", true, "the GPU is lost");
    check_missing("state.gpu0.slow.power-cap", true, "the GPU is lost");
    CHECK_NEAR(value("power.gpu1"), 42, 1e-12);
    setenv("FAKE_NVML", "strange", 1);
    ops->read(probe, readings);
    CHECK_NEAR(value("power.gpu0"), 312.5, 1e-12);
    check_missing("utilization.gpu0", true, "over 100 %");
    CHECK_NEAR(value("utilization.gpu0.memory"), 0.38, 1e-12);
    close_probe();
    fake("");
    open_probe("nvml-energy");
    setenv("FAKE_NVML", "lost", 1);
    ops->read(probe, readings);
    check_missing("energy.gpu0", true, "the GPU is lost");
    close_probe();
    fake("nohandle");
    open_probe("nvml");
    check_missing("power.gpu1", false, "permission denied");
    CHECK_NEAR(value("power.gpu0"), 312.5, 1e-12);
    close_probe();
}

static void test_refused(void)
{
    static const char *const pairs[][2] = {{"nodriver", "sudo modprobe nvidia"},
                                           {"mismatch", "different versions"},
                                           {"nogpu", "NVML finds no NVIDIA GPU"},
                                           {"odd", "NVML reports error 77: Seventy-Seven"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        fake(pairs[i][0]);
        check_none("nvml", pairs[i][1]);
        check_none("nvml-energy", pairs[i][1]);
        check_none("nvml-pcie", pairs[i][1]);
    }
    fake("");
    setenv("ASSAY_NVML_LIBRARY", LIBRARY("lib_not_ort"), 1);
    check_none("nvml", "is not the NVIDIA Management Library: it has no nvmlInit_v2");
    setenv("ASSAY_NVML_LIBRARY", LIBRARY("there_is_no_such"), 1);
    check_none("nvml", "there_is_no_such");
    setenv("ASSAY_FSROOT", ASSAY_TEST_ROOT "/tests/fixtures/fsroot-laptop", 1);
    check_none("nvml", "ASSAY_FSROOT describes");
}

static void test_old_driver(void)
{
    fake("");
    setenv("ASSAY_NVML_LIBRARY", LIBRARY("lib_fake_nvml_old"), 1);
    open_probe("nvml");
    CHECK_INT(channel_count, 20);
    CHECK_NEAR(value("power.gpu0"), 75.125, 1e-12);
    CHECK_NEAR(value("state.gpu0.slow.power-brake"), 1, 0);
    CHECK_NEAR(value("state.gpu0.slow.power-cap"), 0, 0);
    check_missing("memory.gpu0.process", false, "does not have it");
    check_missing("clock.gpu0.sm", false, "does not have it");
    close_probe();
    check_none("nvml-energy", "this version of the NVIDIA driver does not have it");
    check_none("nvml-pcie", "does not have it");
}

/* The fake's memory grows by a million bytes whenever it is asked for. */
static void test_select(void)
{
    bool wanted[64] = {false};
    fake("grow");
    open_probe("nvml"); /* the first two calls: at open, and the first read */
    CHECK_NEAR(value("memory.gpu0.used"), 4294967296.0 + 1e6, 0);
    wanted[find("power.gpu0")] = true;
    ops->select(probe, wanted);
    for (int i = 0; i < 3; i++)
        ops->read(probe, readings);
    CHECK_NEAR(value("power.gpu0"), 312.5, 1e-12);
    check_missing("memory.gpu0.used", true, "not requested");
    check_missing("power.gpu1", true, "not requested");
    check_missing("clock.gpu1.sm", false, "does not support it");
    wanted[find("memory.gpu0.total")] = true; /* one call tells both */
    ops->select(probe, wanted);
    ops->read(probe, readings);
    CHECK_NEAR(value("memory.gpu0.used"), 4294967296.0 + 2e6, 0);
    close_probe();
}

static void test_list(void)
{
    size_t count;
    const char *reason;
    fake("");
    arena = assay__arena_new();
    const struct assay__nvml_gpu *gpus = assay__nvml_gpus(arena, &count, &reason);
    CHECK_INT(count, 2);
    CHECK_STR(reason, "");
    CHECK_STR(gpus[0].rail, "gpu0");
    CHECK_STR(gpus[0].name, "Fake GPU A");
    CHECK_STR(gpus[1].name, "Fake GPU B");
    CHECK_STR(gpus[1].uuid, "GPU-1");
    fake("nodriver");
    CHECK(assay__nvml_gpus(arena, &count, &reason) == NULL);
    CHECK_INT(count, 0);
    CHECK_HAS(reason, "not loaded");
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"values", test_values},
        {"energy", test_energy},
        {"slow", test_slow},
        {"processes", test_processes},
        {"not_supported", test_not_supported},
        {"pcie", test_pcie},
        {"lost", test_lost},
        {"refused", test_refused},
        {"old_driver", test_old_driver},
        {"select", test_select},
        {"list", test_list},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
