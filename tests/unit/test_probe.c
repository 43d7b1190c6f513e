/* test_probe.c - the probes that read files, on machines that are folders
 * (tests/fixtures/fsroot-*): every value, unit, rail and reason against what
 * the folder's files say. */
#include "live_fixture.h"

#include "probe/sysfs.h"

#define FIXTURES ASSAY_TEST_ROOT "/tests/fixtures/"

static void use_tree(const char *tree)
{
    char root[1024];
    snprintf(root, sizeof root, FIXTURES "fsroot-%s", tree);
    setenv("ASSAY_FSROOT", root, 1);
}

static void open_tree(const char *tree, const char *name)
{
    use_tree(tree);
    open_probe(name);
}

struct expected {
    const char *name, *rail, *unit;
    double value; /* NaN: unavailable, and the reason contains `reason` */
    const char *reason;
};

static void check_all(const struct expected *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = find(rows[i].name);
        const struct assay__channel *channel = &channels[at];
        CHECK_STR(channel->rail, rows[i].rail);
        CHECK_STR(channel->unit, rows[i].unit);
        CHECK_INT(channel->available, !isnan(rows[i].value));
        if (isnan(rows[i].value)) {
            CHECK(isnan(readings[at].value));
            CHECK_HAS(channel->reason, rows[i].reason);
            CHECK_STR(readings[at].reason, channel->reason);
        } else {
            CHECK_NEAR(readings[at].value, rows[i].value, fabs(rows[i].value) * 1e-12);
            CHECK_STR(readings[at].reason, "");
        }
    }
    CHECK_INT(channel_count, count);
    close_probe();
}

#define CHECK_ROWS(rows) check_all(rows, sizeof(rows) / sizeof(rows)[0])

static void check_none_in(const char *tree, const char *name, const char *reason)
{
    use_tree(tree);
    check_none(name, reason);
}

/* --- energy
 * -----------------------------------------------------------------------------------
 */

static void test_rapl(void)
{
    static const struct expected laptop[] = {
        {"energy.package-0", "package", "J", 262143, ""},
        {"energy.package-0.core", "core", "J", 123.456789, ""},
        {"energy.package-0.uncore", "uncore", "J", 4, ""},
        {"energy.psys", "psys", "J", 98765.4321, ""},
    };
    open_tree("intel-laptop", "rapl");
    const struct assay__channel *package = &channels[find("energy.package-0")];
    CHECK_INT(package->kind, ASSAY__CHANNEL_COUNTER);
    CHECK_NEAR(package->range, 262143.32885, 1e-6);
    CHECK_STR(package->quantity, "energy");
    CHECK_STR(package->source, "/sys/class/powercap/intel-rapl:0/energy_uj");
    CHECK_STR(ops->reason(probe), "");
    CHECK_ROWS(laptop);

    static const struct expected server[] = {
        {"energy.package-0", "package-0", "J", 1, ""},
        {"energy.package-1", "package-1", "J", 2.5, ""},
    };
    open_tree("amd-server", "rapl");
    CHECK_ROWS(server);
    check_none_in("arm-server", "rapl", "no /sys/class/powercap");
    check_none_in("arm-server", "rapl", "sudo modprobe intel_rapl_msr");
}

static void test_hwmon(void)
{
    static const struct expected laptop[] = {
        {"temperature.coretemp.package-id-0", "coretemp.package-id-0", "°C", 64, ""},
        {"temperature.coretemp.core-0", "coretemp.core-0", "°C", 61, ""},
        {"temperature.coretemp.core-8", "coretemp.core-8", "°C", 62.5, ""},
        {"temperature.nvme.composite", "nvme.composite", "°C", 38.85, ""},
        {"temperature.nvme.composite#2", "nvme.composite#2", "°C", 41, ""},
        {"temperature.thinkpad.temp1", "thinkpad.temp1", "°C", NAN, "temp1_fault is set"},
        {"fan.thinkpad.fan1", "thinkpad.fan1", "1/s", 50, ""},
        {"fan.thinkpad.fan2", "thinkpad.fan2", "1/s", 0, ""},
    };
    open_tree("intel-laptop", "hwmon"); /* and not the battery's chip */
    CHECK_ROWS(laptop);

    static const struct expected server[] = {
        {"temperature.k10temp.tctl", "k10temp.tctl", "°C", 45.125, ""},
        {"temperature.k10temp.tctl#2", "k10temp.tctl#2", "°C", 47, ""},
        {"energy.amd_energy.ecore000", "amd_energy.ecore000", "J", 1.048576, ""},
        {"energy.amd_energy.esocket0", "amd_energy.esocket0", "J", 36028797018.963968, ""},
        {"power.power_meter.system", "power_meter.system", "W", 412, ""},
    };
    open_tree("amd-server", "hwmon");
    CHECK(isnan(channels[find("energy.amd_energy.ecore000")].range));
    CHECK_HAS(channels[find("power.power_meter.system")].source, "power1_average");
    CHECK_ROWS(server);
    /* Cards are the GPU probe's. */
    check_none_in("amdgpu-host", "hwmon", "no chip of /sys/class/hwmon");
    check_none_in("container", "hwmon", "no sensor chip");
}

static void test_hwmon_bad(void)
{
    static const struct expected rows[] = {
        {"energy.scmi_sensors.soc_energy", "scmi_sensors.soc_energy", "J", 1234.56789, ""},
        {"power.scmi_sensors.soc_pwr", "scmi_sensors.soc_pwr", "W", 95.5, ""},
        {"temperature.scmi_sensors.temp1", "scmi_sensors.temp1", "°C", 52, ""},
        {"power.apm_xgene.power1", "apm_xgene.power1", "W", NAN, "text instead of a number"},
        {"power.apm_xgene.power2", "apm_xgene.power2", "W", NAN, "a negative number"},
        {"power.apm_xgene.power3", "apm_xgene.power3", "W", NAN, "the file is empty"},
        {"power.apm_xgene.power4", "apm_xgene.power4", "W", NAN, "folder"},
        {"temperature.apm_xgene.temp1", "apm_xgene.temp1", "°C", NAN, "does not fit 64 bits"},
    };
    open_tree("arm-server", "hwmon");
    CHECK_HAS(channels[find("power.apm_xgene.power1")].reason, "hwmon1/power1_input");
    CHECK_ROWS(rows);
}

static void test_battery(void)
{
    static const struct expected laptop[] = {{"power.battery", "system", "W", 12.345, ""}};
    static const struct expected npu[] = {{"power.battery", "system", "W", 22.8, ""}};
    open_tree("intel-laptop", "battery"); /* and not the mouse's */
    CHECK_ROWS(laptop);
    open_tree("intel-npu-laptop", "battery"); /* 1.5 A at 15.2 V; the second battery rests */
    CHECK_ROWS(npu);
    check_none_in("amd-server", "battery", "no battery");
}

/* --- heat and clocks
 * -------------------------------------------------------------------------- */

static void test_thermal(void)
{
    static const struct expected laptop[] = {
        {"temperature.acpitz", "acpitz", "°C", 27.8, ""},
        {"temperature.x86_pkg_temp", "x86_pkg_temp", "°C", 64, ""},
        {"temperature.iwlwifi_1", "iwlwifi_1", "°C", NAN, "below absolute zero"},
        {"cooling.processor", "processor", "1", 0, ""},
        {"cooling.processor#2", "processor#2", "1", 2, ""},
    };
    open_tree("intel-laptop", "thermal");
    CHECK_ROWS(laptop);
    check_none_in("amd-server", "thermal", "no thermal zone");

    static const struct expected throttled[] = {
        {"temperature.acpitz", "acpitz", "°C", 27.8, ""},
        {"temperature.x86_pkg_temp", "x86_pkg_temp", "°C", 61, ""},
        {"count.throttled.core", "core", "1", 28, ""}, /* 0 + 1 + … + 7 */
        {"count.throttled.package", "package", "1", 10, ""},
    };
    open_tree("laptop", "thermal");
    CHECK_ROWS(throttled);
}

static void test_cpufreq(void)
{
    static const struct expected laptop[] = {
        {"clock.mean", "cpu", "Hz", 2.2e9, ""},
        {"clock.least", "cpu", "Hz", 0.8e9, ""},
        {"clock.greatest", "cpu", "Hz", 4.6e9, ""},
        {"limit.least", "cpu", "Hz", 0.4e9, ""},
        {"limit.greatest", "cpu", "Hz", 4.7e9, ""},
        {"hardware.greatest", "cpu", "Hz", 4.7e9, ""},
        {"governor", "cpu", "1", 1, ""},
        {"boost", "cpu", "1", 1, ""}, /* no_turbo is 0 */
    };
    open_tree("intel-laptop", "cpufreq");
    CHECK_STR(channels[find("governor")].states[1], "powersave");
    CHECK_STR(channels[find("governor")].states[2], "mixed");
    CHECK_STR(channels[find("boost")].states[1], "on");
    CHECK_ROWS(laptop);

    static const struct expected server[] = {
        {"clock.mean", "cpu", "Hz", 2.5e9, ""}, /* the CPU that reads 0 does not tell */
        {"clock.least", "cpu", "Hz", 2e9, ""},
        {"clock.greatest", "cpu", "Hz", 3e9, ""},
        {"limit.least", "cpu", "Hz", 1.5e9, ""},
        {"limit.greatest", "cpu", "Hz", 2.45e9, ""},
        {"hardware.greatest", "cpu", "Hz", 3.529052e9, ""},
        {"governor", "cpu", "1", 6, ""},
        {"boost", "cpu", "1", 1, ""},
    };
    open_tree("amd-server", "cpufreq");
    CHECK_STR(channels[find("governor")].states[6], "mixed");
    CHECK_ROWS(server);
    check_none_in("container", "cpufreq", "the kernel does not control the clock");
}

/* 80 CPUs at 2,000,000 + i·1,000 kHz: of every ten, three are asked. */
static void test_cpufreq_many(void)
{
    double sum = 0;
    for (int i = 0; i < 80; i++)
        if (i % 10 == 3 || i % 10 == 6 || i % 10 == 9) sum += 2e9 + i * 1e6;
    open_tree("arm-server", "cpufreq");
    CHECK_NEAR(readings[find("clock.mean")].value, sum / 24, 1);
    CHECK_NEAR(readings[find("clock.least")].value, 2.003e9, 0);
    CHECK_NEAR(readings[find("clock.greatest")].value, 2.079e9, 0);
    CHECK_HAS(channels[find("clock.mean")].source, "24 CPUs");
    CHECK_HAS(channels[find("governor")].reason, "no CPU has a file");
    close_probe();
}

/* --- the system
 * -------------------------------------------------------------------------------
 */

static void test_procstat(void)
{
    static const struct expected container[] = {
        {"time.busy", "cpu", "s", 1.53, ""},
        {"time.idle", "cpu", "s", 10, ""},
        {"time.steal", "cpu", "s", 0.77, ""},
    };
    static const struct expected npu[] = {
        {"time.busy", "cpu", "s", 0.19, ""}, /* 1 + 2 + 3 + 6 + 7 ticks: guest is within user */
        {"time.idle", "cpu", "s", 0.04, ""},
        {"time.steal", "cpu", "s", 0.08, ""},
    };
    open_tree("container", "procstat");
    CHECK_ROWS(container);
    open_tree("intel-npu-laptop", "procstat");
    CHECK_ROWS(npu);
    check_none_in("arm-server", "procstat", "every CPU time is zero");
}

static void test_pressure(void)
{
    static const struct expected laptop[] = {
        {"time.cpu.some", "cpu", "s", 2.5, ""},
        {"time.memory.some", "memory", "s", 0.07, ""},
        {"time.memory.full", "memory", "s", 0.03, ""},
        {"time.io.some", "io", "s", 1.234567, ""},
        {"time.io.full", "io", "s", 1, ""},
        {"time.irq.full", "irq", "s", NAN, "/proc/pressure/irq does not exist"},
    };
    open_tree("intel-laptop", "pressure");
    CHECK_ROWS(laptop);
    open_tree("amd-server", "pressure");
    CHECK_NEAR(readings[find("time.irq.full")].value, 0.0045, 1e-15);
    close_probe();
    check_none_in("container", "pressure", "psi=1");
}

static void test_cgroup(void)
{
    static const struct expected container[] = {
        {"time.used", "cpu", "s", 9, ""},
        {"time.throttled", "cpu", "s", 1.75, ""}, /* of the group that has the limit */
        {"count.throttled", "cpu", "1", 25, ""},
        {"limit.cpus", "cpu", "1", 1.5, ""},
        {"memory.current", "memory", "B", 157286400, ""},
        {"memory.peak", "memory", "B", 209715200, ""},
        {"memory.limit", "memory", "B", 268435456, ""}, /* the tighter one, of the group above */
        {"count.high", "memory", "1", 3, ""},
        {"count.max", "memory", "1", 12, ""},
        {"count.oom", "memory", "1", 1, ""},
        {"count.oom-kill", "memory", "1", 1, ""},
    };
    open_tree("container", "cgroup");
    CHECK_STR(channels[find("time.throttled")].source, "/sys/fs/cgroup/c1/cpu.stat");
    CHECK_STR(channels[find("time.used")].source, "/sys/fs/cgroup/c1/job/cpu.stat");
    CHECK_ROWS(container);

    open_tree("intel-laptop", "cgroup");
    CHECK_NEAR(readings[find("time.used")].value, 0.123456, 1e-15);
    CHECK_NEAR(readings[find("memory.current")].value, 104857600, 0);
    CHECK_HAS(channels[find("memory.limit")].reason, "no limit is set");
    CHECK_HAS(channels[find("memory.peak")].reason, "Linux 5.19");
    CHECK_HAS(channels[find("time.throttled")].reason, "no such line");
    close_probe();
    check_none_in("arm-server", "cgroup", "version 1 are available");
    check_none_in("intel-npu-laptop", "cgroup", "no /proc/self/cgroup");
}

/* --- accelerators
 * -----------------------------------------------------------------------------
 */

static void test_gpu(void)
{
    static const struct expected host[] = {
        {"power.gpu1.ppt", "gpu1", "W", 287, ""}, /* gpu0 is NVIDIA's */
        {"temperature.gpu1.edge", "gpu1", "°C", 66, ""},
        {"temperature.gpu1.junction", "gpu1.junction", "°C", 81, ""},
        {"fan.gpu1.fan1", "gpu1", "1/s", 30, ""},
        {"clock.gpu1.sclk", "gpu1", "Hz", 2.304e9, ""}, /* the sensor's, not the level's */
        {"clock.gpu1.mclk", "gpu1", "Hz", 1.249e9, ""}, /* the level's */
        {"utilization.gpu1", "gpu1", "ratio", 0.87, ""},
        {"utilization.gpu1.memory", "gpu1", "ratio", 0.42, ""},
        {"memory.gpu1.used", "gpu1", "B", 8589934592.0, ""},
        {"memory.gpu1.total", "gpu1", "B", 25753026560.0, ""},
        {"memory.gpu1.gtt-used", "gpu1", "B", 16777216, ""},
        {"utilization.gpu2", "gpu2", "ratio", NAN, "a share over 100 %"},
        {"memory.gpu2.used", "gpu2", "B", 536870912, ""},
        {"clock.gpu2.sclk", "gpu2", "Hz", NAN, "no level is marked"},
        {"energy.gpu3.card", "gpu3", "J", 5000, ""},
        {"energy.gpu3.pkg", "gpu3.pkg", "J", 3000, ""},
        {"clock.gpu3.gt0", "gpu3", "Hz", 2.05e9, ""},
        {"time.gpu3.gt0.rc6", "gpu3", "s", 123.456, ""},
        {"clock.gpu3.gt1", "gpu3", "Hz", 0, ""}, /* asleep */
        {"time.gpu3.gt1.rc6", "gpu3", "s", 999, ""},
    };
    open_tree("amdgpu-host", "gpu");
    CHECK_ROWS(host);

    static const struct expected npu[] = {
        {"clock.gpu0.gt0", "gpu0", "Hz", 1.35e9, ""},
        {"time.gpu0.gt0.rc6", "gpu0", "s", 7654.321, ""},
        {"clock.gpu0.gt1", "gpu0", "Hz", 0, ""},
        {"time.gpu0.gt1.rc6", "gpu0", "s", 8000, ""},
    };
    open_tree("intel-npu-laptop", "gpu");
    CHECK_ROWS(npu);
    check_none_in("container", "gpu", "no AMD or Intel GPU");
}

static void test_accel(void)
{
    static const struct expected npu[] = {
        {"time.busy.accel0", "npu", "s", 4.56789, ""},
        {"clock.accel0", "npu", "Hz", 1.4e9, ""},
        {"clock.limit.accel0", "npu", "Hz", 1.4e9, ""},
        {"memory.used.accel0", "npu", "B", 201326592, ""},
    };
    open_tree("intel-npu-laptop", "accel");
    CHECK_INT(channels[find("time.busy.accel0")].kind, ASSAY__CHANNEL_COUNTER);
    CHECK_ROWS(npu);

    static const struct expected arm[] = {
        {"time.busy.accel0", "npu0", "s", NAN, "qaic"},
        {"time.busy.accel1", "npu1", "s", NAN, "amdxdna"},
    };
    open_tree("arm-server", "accel");
    CHECK_ROWS(arm);
    check_none_in("container", "accel", "no accelerator");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"rapl", test_rapl},
        {"hwmon", test_hwmon},
        {"hwmon_bad", test_hwmon_bad},
        {"battery", test_battery},
        {"thermal", test_thermal},
        {"cpufreq", test_cpufreq},
        {"cpufreq_many", test_cpufreq_many},
        {"procstat", test_procstat},
        {"pressure", test_pressure},
        {"cgroup", test_cgroup},
        {"gpu", test_gpu},
        {"accel", test_accel},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
