/* test_probe_powermetrics.c - powermetrics in both forms: a real capture of an M1 (where it is),
 * small ones made by hand, bad ones; as a file, as a file that grows, and as a child process. */
#include "live_fixture.h"
#include "scratch.h"

#include "probe/powermetrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define FIXTURES ASSAY_TEST_ROOT "/tests/fixtures/powermetrics/"

static struct assay__powermetrics_sample sample;
static const char *reason;

static enum assay__powermetrics_status parse(const char *text)
{
    size_t offset = 0;
    return assay__powermetrics_next(text, strlen(text), &offset, true, &sample, &reason);
}

static char *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 20);
    CHECK(file && data);
    *size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

/* --- samples ---------------------------------------------------------------------------------- */

static void test_plist(void)
{
    size_t size, offset = 0;
    char *data = load(FIXTURES "two.plist", &size);
    CHECK_INT(assay__powermetrics_next(data, size, &offset, false, &sample, &reason),
              ASSAY__POWERMETRICS_SAMPLE);
    CHECK_NEAR(sample.elapsed_s, 0.5, 1e-15);
    CHECK_NEAR(sample.cpu_power_w, 4, 1e-12);
    CHECK_NEAR(sample.ane_power_w, 0.8, 1e-12);
    CHECK_NEAR(sample.combined_power_w, 4.8, 1e-12);
    CHECK_NEAR(sample.cpu_energy_j, 2, 1e-12);
    CHECK(isnan(sample.gpu_power_w)); /* it has none: unknown, not 0 */
    CHECK_NEAR(sample.gpu.frequency_hz, 1398e6, 1e-3);
    CHECK_NEAR(sample.gpu.active_ratio, 0.75, 1e-15); /* the first of two equal keys */
    CHECK_INT(sample.cluster_count, 2);
    CHECK_STR(sample.clusters[0].name, "E0-Cluster");
    CHECK_NEAR(sample.clusters[0].unit.frequency_hz, 972e6, 0);
    CHECK_NEAR(sample.clusters[0].unit.active_ratio, 0.25, 1e-15); /* neither idle nor down */
    CHECK_NEAR(sample.clusters[1].unit.active_ratio, 1, 0);
    CHECK_INT(sample.cpu_count, 3);
    CHECK_NEAR(sample.cpus[0].active_ratio, 0.25, 0);
    CHECK(isnan(sample.cpus[1].frequency_hz));
    CHECK_NEAR(sample.cpus[2].frequency_hz, 1.5e9, 0); /* its number came last */
    CHECK_STR(assay__powermetrics_pressures[(size_t)sample.thermal_pressure], "Nominal");
    CHECK_INT(assay__powermetrics_next(data, size, &offset, false, &sample, &reason),
              ASSAY__POWERMETRICS_SAMPLE);
    CHECK_NEAR(sample.cpu_power_w, 6, 1e-12);
    CHECK_STR(assay__powermetrics_pressures[(size_t)sample.thermal_pressure], "Heavy");
    CHECK_INT(assay__powermetrics_next(data, size, &offset, false, &sample, &reason),
              ASSAY__POWERMETRICS_MORE);
    free(data);
}

static void test_text(void)
{
    size_t size, offset = 0;
    char *data = load(FIXTURES "two.txt", &size);
    CHECK_INT(assay__powermetrics_next(data, size, &offset, false, &sample, &reason),
              ASSAY__POWERMETRICS_SAMPLE);
    CHECK_NEAR(sample.elapsed_s, 1.0029, 1e-12);
    CHECK_NEAR(sample.cpu_power_w, 0.823, 1e-12);
    CHECK_NEAR(sample.gpu_power_w, 0.026, 1e-12); /* the first of two */
    CHECK_NEAR(sample.ane_power_w, 0.323, 1e-12);
    CHECK_NEAR(sample.combined_power_w, 1.172, 1e-12);
    CHECK(isnan(sample.cpu_energy_j));
    CHECK_INT(sample.cluster_count, 2);
    CHECK_STR(sample.clusters[1].name, "P0-Cluster");
    CHECK_NEAR(sample.clusters[0].unit.frequency_hz, 1248e6, 0);
    CHECK_NEAR(sample.clusters[0].unit.active_ratio, 0.7743, 1e-12);
    CHECK_NEAR(sample.clusters[1].unit.active_ratio, 0.05, 1e-12);
    CHECK_INT(sample.cpu_count, 2);
    CHECK_NEAR(sample.cpus[0].active_ratio, 0.4125, 1e-12);
    CHECK_NEAR(sample.cpus[1].active_ratio, 0.0054, 1e-12);
    CHECK_NEAR(sample.gpu.frequency_hz, 389e6, 0);
    CHECK_NEAR(sample.gpu.active_ratio, 0.025, 1e-12);
    CHECK_NEAR(sample.thermal_pressure, 2, 0);
    /* Only the next one's head ends a sample, or the end of the file. */
    CHECK_INT(assay__powermetrics_next(data, size, &offset, false, &sample, &reason),
              ASSAY__POWERMETRICS_MORE);
    CHECK_INT(assay__powermetrics_next(data, size, &offset, true, &sample, &reason),
              ASSAY__POWERMETRICS_SAMPLE);
    CHECK_NEAR(sample.cpu_power_w, 1.823, 1e-12);
    CHECK(isnan(sample.thermal_pressure)); /* "Tepid" */
    free(data);
}

/* However the bytes are cut, the samples are the same. */
static void test_pieces(void)
{
    static const char *const files[] = {FIXTURES "two.plist", FIXTURES "two.txt"};
    for (size_t f = 0; f < 2; f++) {
        size_t size;
        char *data = load(files[f], &size);
        for (size_t cut = 0; cut <= size; cut++) {
            size_t offset = 0, samples = 0;
            double power = 0;
            for (int piece = 0; piece < 2; piece++)
                while (assay__powermetrics_next(data, piece ? size : cut, &offset, piece == 1,
                                                &sample, &reason) == ASSAY__POWERMETRICS_SAMPLE) {
                    samples++;
                    power += sample.cpu_power_w;
                }
            CHECK_INT(samples, 2);
            CHECK_NEAR(power, f == 0 ? 10 : 2.646, 1e-12);
        }
        free(data);
    }
}

#define PLIST(inside) "<?xml?><plist><dict>" inside "</dict></plist>"
#define POWER(number) PLIST("<key>processor</key><dict><key>cpu_power</key>" number "</dict>")

static void test_bad(void)
{
    CHECK_INT(parse(""), ASSAY__POWERMETRICS_MORE);
    CHECK_INT(parse("<plist>"), ASSAY__POWERMETRICS_MORE);
    CHECK_INT(parse(POWER("<real>44.5</real>")), ASSAY__POWERMETRICS_SAMPLE);
    CHECK_NEAR(sample.cpu_power_w, 0.0445, 1e-15);
    static const char *const nothing[] = {
        "<real>-1</real>",   "<real>nan</real>",   "<real>inf</real>",
        "<real>0x10</real>", "<real></real>",      "<real>1,5</real>",
        "<true/>",           "<real>1e999</real>", "<string>much</string>"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, POWER("%s"), nothing[i]);
        CHECK_INT(parse(text), ASSAY__POWERMETRICS_BAD);
        CHECK_HAS(reason, "without power, clocks or thermal pressure");
    }
    static const char *const pairs[][2] = {
        {PLIST("<key>a</key><array></dict></array>"), "badly nested"},
        {PLIST("</dict>"), "badly nested"},
        {"<plist><dict></plist>", "badly nested"},
        {PLIST("<key>a<key>"), "unterminated"},
        {PLIST("<what>1</what>"), "is not valid in a property list"},
        {PLIST("<!-- never closed"), "unterminated"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        CHECK_INT(parse(pairs[i][0]), ASSAY__POWERMETRICS_BAD);
        CHECK_HAS(reason, pairs[i][1]);
    }
    char deep[1024] = "<plist>";
    for (int i = 0; i < 40; i++)
        memcpy(deep + 7 + 7 * i, "<array>", 7);
    memcpy(deep + 7 + 7 * 40, "</plist>", 9);
    CHECK_INT(parse(deep), ASSAY__POWERMETRICS_BAD);
    CHECK_HAS(reason, "32 deep");
    /* A share that cannot be is unknown; the rest of the sample stands. */
    CHECK_INT(parse(PLIST("<key>gpu</key><dict><key>freq_hz</key><real>444</real>"
                          "<key>idle_ratio</key><real>7</real></dict>")),
              ASSAY__POWERMETRICS_SAMPLE);
    CHECK(isnan(sample.gpu.active_ratio));
    CHECK_NEAR(sample.gpu.frequency_hz, 444e6, 0);
    CHECK_INT(parse(PLIST("<key>gpu</key><dict><key>freq_hz</key><real>444000000</real></dict>")),
              ASSAY__POWERMETRICS_SAMPLE);
    CHECK_NEAR(sample.gpu.frequency_hz, 444e6, 0); /* a version that means Hz */
}

/* A sample that is cut short is passed over; the next one counts. */
static void test_cut(void)
{
    static const char text[] = "<plist><dict><key>a</key>\0" POWER("<real>1000</real>");
    size_t offset = 0;
    CHECK_INT(assay__powermetrics_next(text, sizeof text - 1, &offset, false, &sample, &reason),
              ASSAY__POWERMETRICS_BAD);
    CHECK_HAS(reason, "truncated");
    CHECK_INT(assay__powermetrics_next(text, sizeof text - 1, &offset, false, &sample, &reason),
              ASSAY__POWERMETRICS_SAMPLE);
    CHECK_NEAR(sample.cpu_power_w, 1, 0);
}

/* --- the probe -------------------------------------------------------------------------------- */

static void from_file(const char *path)
{
    setenv("ASSAY_POWERMETRICS", path, 1);
    open_probe("powermetrics");
}

/* A copy that was written just now. */
static const char *copy_of(const char *path)
{
    size_t size;
    char *data = load(path, &size);
    const char *copy = scratch("copy");
    CHECK_INT(assay__file_write(copy, data, size, NULL), 0);
    free(data);
    return copy;
}

static void test_capture(void)
{
    const char *path = getenv("ASSAY_TEST_POWERMETRICS");
    if (!path) path = ASSAY_TEST_ROOT "/../shared/data/powermetrics/m1.plist";
    if (access(path, R_OK) != 0)
        SKIP("no capture of an M1 here: ASSAY_TEST_POWERMETRICS=FILE names it");
    static const struct {
        const char *name;
        double value;
    } rows[] = {
        {"power.cpu", 0.0440773},
        {"power.gpu", 0.0153528},
        {"power.ane", 0},
        {"power.combined", 0.0594301},
        {"energy.cpu", 0.089},
        {"energy.gpu", 0.031},
        {"energy.ane", 0},
        {"clock.gpu", 714.836e6},
        {"utilization.gpu", 0.016659},
        {"state.thermal-pressure", 0},
        {"clock.e-cluster", 1.02287e9},
        {"utilization.e-cluster", 0.227007},
        {"clock.p-cluster", 6.18173e8},
        {"utilization.p-cluster", 0.016043},
        {"clock.cpu0", 1.04615e9},
        {"utilization.cpu0", 0.092179},
        {"clock.cpu7", 1.01509e9},
        {"utilization.cpu7", 0.004739},
    };
    from_file(copy_of(path));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_NEAR(value(rows[i].name), rows[i].value, 1e-12 + 1e-12 * rows[i].value);
    CHECK_INT(channel_count, 10 + 2 * 2 + 2 * 8);
    close_probe();
}

static void test_file(void)
{
    const char *path = copy_of(FIXTURES "two.plist");
    from_file(path);
    CHECK_STR(ops->reason(probe), "");
    CHECK_NEAR(value("power.cpu"), 6, 1e-12);  /* the newest sample */
    CHECK_NEAR(value("energy.cpu"), 5, 1e-12); /* of both */
    CHECK_NEAR(value("energy.ane"), 0.9, 1e-12);
    CHECK_INT(channels[find("energy.cpu")].kind, ASSAY__CHANNEL_COUNTER);
    CHECK_NEAR(value("state.thermal-pressure"), 3, 0);
    CHECK_STR(channels[find("state.thermal-pressure")].states[3], "Heavy");
    CHECK_NEAR(value("clock.e0-cluster"), 972e6, 0);
    CHECK_STR(channels[find("clock.e0-cluster")].rail, "e0-cluster");
    CHECK_STR(channels[find("power.cpu")].source, path);
    check_missing("power.gpu", false, "do not contain it");
    check_missing("clock.cpu1", false, "do not contain it");
    close_probe();
    from_file(copy_of(FIXTURES "two.txt"));
    CHECK_NEAR(value("power.cpu"), 0.823, 1e-12);
    check_missing("energy.cpu", false, "do not contain it");
    close_probe();
}

static void written_before(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = time(NULL) - seconds},
                                      {.tv_sec = time(NULL) - seconds}};
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A capture of another day is no reading of now, and neither is one that stops to grow. */
static void test_old_file(void)
{
    const char *path = copy_of(FIXTURES "two.plist");
    setenv("ASSAY_POWERMETRICS", path, 1);
    written_before(path, 3 * 86400 + 60);
    check_none("powermetrics", "was last written 3 days ago: its samples are not current");
    written_before(path, 40);
    check_none("powermetrics", "was last written 40 seconds ago");
    /* Half a second a sample: good for 2 s. */
    copy_of(FIXTURES "two.plist");
    from_file(path);
    CHECK_NEAR(value("power.cpu"), 6, 1e-12);
    for (int i = 0; i < 400 && readings[find("power.cpu")].reason[0] == '\0'; i++) {
        usleep(10000);
        ops->read(probe, readings);
    }
    check_missing("power.cpu", true, "powermetrics produces no new samples");
    close_probe();
}

static void append(const char *path, const char *text)
{
    FILE *file = fopen(path, "ab");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Another process writes the file while it is read. */
static void test_growing(void)
{
    char path[] = "/tmp/assay-powermetrics-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    append(path, POWER("<real>1000</real>"));
    from_file(path);
    CHECK_NEAR(value("power.cpu"), 1, 0);
    append(path, "<plist><dict><key>processor</key><dict><key>cpu_power</key><re");
    ops->read(probe, readings);
    CHECK_NEAR(value("power.cpu"), 1, 0);
    append(path, "al>2000</real></dict></dict></plist>");
    ops->read(probe, readings);
    CHECK_NEAR(value("power.cpu"), 2, 0);
    append(path, PLIST("<key>thermal_pressure</key><string>Nominal</string>"));
    ops->read(probe, readings);
    check_missing("power.cpu", true, "the latest powermetrics sample does not contain it");
    append(path, PLIST("<wrong>1</wrong>"));
    ops->read(probe, readings);
    check_missing("power.cpu", true, "is not valid in a property list");
    append(path, POWER("<real>3000</real>"));
    ops->read(probe, readings);
    CHECK_NEAR(value("power.cpu"), 3, 0);
    close_probe();
    unlink(path);
}

static void test_no_file(void)
{
    setenv("ASSAY_POWERMETRICS", FIXTURES "there-is-none", 1);
    check_none("powermetrics", "there-is-none': No such file");
    setenv("ASSAY_POWERMETRICS", FIXTURES, 1);
    check_none("powermetrics", "not a regular file");
    setenv("ASSAY_POWERMETRICS", ASSAY_TEST_ROOT "/README.md", 1);
    check_none("powermetrics", "no complete powermetrics sample");
    unsetenv("ASSAY_POWERMETRICS");
    setenv("ASSAY_FSROOT", FIXTURES, 1);
    check_none("powermetrics", "ASSAY_FSROOT describes");
}

/* --- a child process -------------------------------------------------------------------------- */

static const char *script[] = {"/bin/sh", "-c", NULL, NULL};

static void from_child(const char *text)
{
    unsetenv("ASSAY_POWERMETRICS");
    script[2] = text;
    assay__powermetrics_command_set(script);
}

/* It gives one sample, waits to be let on, gives another and ends. */
static void test_child(void)
{
    char path[] = "/tmp/assay-powermetrics-XXXXXX", text[1024];
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    snprintf(text, sizeof text,
             "printf '%s'; while [ ! -s %s ]; do sleep 0.02; done; printf '\\000%s'",
             POWER("<real>1000</real>"), path, POWER("<real>2000</real>"));
    from_child(text);
    open_probe("powermetrics");
    CHECK_STR(ops->reason(probe), "");
    CHECK_NEAR(value("power.cpu"), 1, 0);
    CHECK_STR(channels[find("power.cpu")].source, "powermetrics");
    append(path, "go");
    for (int i = 0; i < 1000 && readings[find("power.cpu")].reason[0] == '\0'; i++) {
        usleep(10000);
        ops->read(probe, readings);
    }
    check_missing("power.cpu", true, "powermetrics has ended");
    close_probe();
    unlink(path);
}

static void test_child_refused(void)
{
    from_child("echo 'powermetrics must be invoked as the superuser' >&2; exit 1");
    check_none("powermetrics", "must be invoked as the superuser (it needs root: run with sudo");
    check_none("powermetrics", "ASSAY_POWERMETRICS=FILE");
    from_child("exit 0");
    check_none("powermetrics", "it ended without a sample");
    static const char *const missing[] = {"/there/is/no/such", NULL};
    assay__powermetrics_command_set(missing);
    check_none("powermetrics", "cannot start '/there/is/no/such'");
}

/* Closing ends a child that would go on for ever. */
static void test_child_ends(void)
{
    char text[512];
    snprintf(text, sizeof text, "printf '%s'; exec sleep 1000", POWER("<real>1000</real>"));
    from_child(text);
    open_probe("powermetrics");
    CHECK_NEAR(value("power.cpu"), 1, 0);
    close_probe();
    CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"plist", test_plist},
        {"text", test_text},
        {"pieces", test_pieces},
        {"bad", test_bad},
        {"cut", test_cut},
        {"capture", test_capture},
        {"file", test_file},
        {"old_file", test_old_file},
        {"growing", test_growing},
        {"no_file", test_no_file},
        {"child", test_child},
        {"child_refused", test_child_refused},
        {"child_ends", test_child_ends},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
