/* cmd_doctor.c - assay doctor: what makes measurements on this machine unreliable or unavailable,
 * each with a remedy, then every probe with its cost. A check is one function and one row of the
 * table below; those of kernel settings are in doctor_system.c. The exit status is 0: the doctor
 * advises, it does not judge. */
#include "base/clock.h"
#include "cli/doctor.h"
#include "cli/render_options.h"
#include "probe/live.h"
#include "probe/sysfs.h"
#include "run/devices.h"
#include "run/child.h"

#include "engine/engine.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OBSERVE_NS 200000000u /* steal time and other load are observed for 0.2 s */

struct doctor_options {
    struct assay__render_options render;
    const char *capture;
};

void assay__diagnose(struct assay__diagnosis *d, enum assay__health health, const char *advice,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    assay__buf_vprintf(&d->says, format, args);
    va_end(args);
    d->health = health;
    if (advice) assay__buf_puts(&d->advice, advice);
}

static void check_virtual(const struct assay__patient *p, struct assay__diagnosis *d)
{
    const char *kind = p->machine.virtualized;
    if (!kind || !*kind)
        ASSAY__UNKNOWN(d, "it is unknown whether this is a virtual machine");
    else if (strcmp(kind, "none") == 0)
        ASSAY__GOOD(d, "this is not a virtual machine");
    else
        assay__diagnose(d, ASSAY__HEALTH_WARNING,
                        "measure on bare metal, or compare within one run with several launches",
                        "this is a virtual machine (%s): neighbours may use CPU time unnoticed, "
                        "counters and energy are often hidden",
                        kind);
}

static void check_container(const struct assay__patient *p, struct assay__diagnosis *d)
{
    const char *kind = p->machine.container;
    ASSAY__GOOD(d,
                kind && *kind
                    ? "this runs in a container (%s): fine for timing, but limits may apply"
                    : "no container was detected",
                kind);
}

static void check_governor(const struct assay__patient *p, struct assay__diagnosis *d)
{
    const char *governor = p->machine.governor;
    if (!governor || !*governor)
        assay__diagnose(
            d, ASSAY__HEALTH_UNKNOWN,
            "on a virtual machine the host decides; else load the cpufreq driver",
            "the CPU's frequency governor cannot be read: clock changes will go unnoticed");
    else if (strcmp(governor, "performance") == 0)
        ASSAY__GOOD(d, "the frequency governor is 'performance'");
    else
        assay__diagnose(d, ASSAY__HEALTH_WARNING,
                        "sudo cpupower frequency-set -g performance; or a longer warm-up",
                        "the frequency governor is '%s': the clock follows the load", governor);
}

static void check_load(const struct assay__patient *p, struct assay__diagnosis *d)
{
    int threads = p->machine.threads > 0 ? p->machine.threads : 1;
    bool busy = p->after.load_1min > 0.25 * threads;
    if (!p->after.load_known) {
        ASSAY__UNKNOWN(d, "the load of this machine cannot be read");
        return;
    }
    assay__diagnose(d, busy ? ASSAY__HEALTH_WARNING : ASSAY__HEALTH_GOOD,
                    busy ? "stop other work, or wait until it finishes" : NULL,
                    "load average %.2f on %d hardware thread%s", p->after.load_1min, threads,
                    threads > 1 ? "s" : "");
    double used = p->after.cpu_busy_s - p->before.cpu_busy_s,
           idle = p->after.cpu_idle_s - p->before.cpu_idle_s;
    if (p->before.cpu_known && p->after.cpu_known && used + idle > 0)
        assay__buf_printf(&d->says, ", %.0f %% of CPU time in use now", used / (used + idle) * 100);
}

static void check_steal(const struct assay__patient *p, struct assay__diagnosis *d)
{
    double steal = p->after.cpu_steal_s - p->before.cpu_steal_s,
           total = steal + p->after.cpu_busy_s - p->before.cpu_busy_s + p->after.cpu_idle_s -
                   p->before.cpu_idle_s,
           share = steal / total;
    if (!p->before.steal_known || !p->after.steal_known || !p->before.cpu_known ||
        !p->after.cpu_known)
        ASSAY__UNKNOWN(d, "steal time cannot be read");
    else if (!(total > 0))
        ASSAY__UNKNOWN(d, "steal time is unknown: the counters of CPU time do not move");
    else
        assay__diagnose(d, share > 0.01 ? ASSAY__HEALTH_WARNING : ASSAY__HEALTH_GOOD,
                        share > 0.01
                            ? "the hypervisor gives CPU time to other guests: use a quieter host"
                            : NULL,
                        "steal time %.1f %% over 0.2 s", share * 100);
}

static void check_quota(const struct assay__patient *p, struct assay__diagnosis *d)
{
    double throttled_s = (double)p->after.cgroup_throttled_ns / 1e9;
    if (!p->after.cgroup_known)
        ASSAY__UNKNOWN(d, "CPU limits of the control group cannot be read");
    else if (throttled_s == 0)
        ASSAY__GOOD(d, "the control group was never throttled by a CPU limit");
    else if (throttled_s < 0.05)
        ASSAY__GOOD(d,
                    "so far the control group was throttled for less than 0.1 s by its CPU limit");
    else
        assay__diagnose(d, ASSAY__HEALTH_WARNING, "raise or remove the CPU limit (see the limits)",
                        "so far the control group was throttled for %.1f s by its CPU limit",
                        throttled_s);
}

static void check_cpus(const struct assay__patient *p, struct assay__diagnosis *d)
{
    int threads = p->machine.threads, cores = p->machine.cores;
    if (*p->allowed)
        ASSAY__GOOD(d, "this process may run on CPU %s", p->allowed);
    else
        ASSAY__UNKNOWN(d, "it is unknown which CPUs this process may use");
    if (cores > 0 && threads > cores)
        assay__diagnose(d, d->health, "--cpus with one CPU per core keeps sibling threads apart",
                        "; %d hardware threads share %d cores", threads, cores);
}

static void check_thermal(const struct assay__patient *p, struct assay__diagnosis *d)
{
    unsigned long long count = p->after.throttle_known ? p->after.throttle_count : 0;
    if (!p->after.throttle_known && !p->after.temperature_known) {
        assay__diagnose(
            d, ASSAY__HEALTH_UNKNOWN, "on a virtual machine only the host sees them",
            "neither temperature nor thermal throttling can be read: throttling will go unnoticed");
        return;
    }
    if (p->after.temperature_known)
        assay__buf_printf(&d->says, "CPU at %.0f °C; ", p->after.temperature_c);
    if (count)
        assay__diagnose(d, ASSAY__HEALTH_WARNING, "improve cooling, or pause between runs",
                        "throttled %llu times since boot because of heat", count);
    else
        assay__buf_puts(&d->says, p->after.throttle_known ? "not throttled since boot"
                                                          : "thermal throttling cannot be read");
}

static void check_clock(const struct assay__patient *p, struct assay__diagnosis *d)
{
    double read_ns = NAN, step_ns = NAN;
    assay__clock_measure(&read_ns, &step_ns);
    bool slow = read_ns > 200;
    assay__diagnose(d, slow ? ASSAY__HEALTH_WARNING : ASSAY__HEALTH_GOOD,
                    slow ? "the clock is slow (a system call?)" : NULL,
                    "a clock read costs %.0f ns; the smallest step is %.0f ns", read_ns, step_ns);
    if (slow && strcmp(p->machine.architecture, "x86_64") == 0)
        assay__buf_puts(&d->advice,
                        ": echo tsc | sudo tee "
                        "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

struct cpu_device {
    bool available;
    char library[1024], reason[1024];
};

/* The device "cpu" itself: other providers of the class (XNNPACK, OpenVINO) may well be missing. */
static int on_device(void *context, const struct assay__device *device)
{
    struct cpu_device *cpu = context;
    if (!device->name || strcmp(device->name, "cpu") != 0) return 0;
    cpu->available = device->available;
    snprintf(cpu->library, sizeof cpu->library, "%s", device->library ? device->library : "");
    snprintf(cpu->reason, sizeof cpu->reason, "%s", device->reason ? device->reason : "");
    return 0;
}

static void check_engine(const struct assay__patient *p, struct assay__diagnosis *d)
{
    (void)p;
    struct assay_error error = {0};
    struct cpu_device cpu = {0};
    struct assay__devices_options only = {
        .engine = "ort", .only = "cpu", .interrupt = &assay__interrupted};
    int code = assay__devices_list(&only, on_device, &cpu, &error);
    if (!code && cpu.available)
        ASSAY__GOOD(d, "ONNX Runtime is %s", cpu.library);
    else
        assay__diagnose(d, ASSAY__HEALTH_MISSING,
                        "'make' fetches it; or set ASSAY_ORT_LIBRARY to the path of libonnxruntime",
                        "ONNX Runtime cannot be used: %s",
                        code && error.message[0] ? error.message
                        : *cpu.reason            ? cpu.reason
                                                 : assay_error_text(code));
}

static void check_worker(const struct assay__patient *p, struct assay__diagnosis *d)
{
    (void)p;
    char path[4096];
    struct assay_error error = {0};
    if (assay__worker_locate(path, sizeof path, &error) == 0)
        ASSAY__GOOD(d, "the worker is %s", path);
    else
        assay__diagnose(d, ASSAY__HEALTH_MISSING,
                        "keep assay-worker next to assay, or set ASSAY_WORKER to its path",
                        "the worker program is missing: %s", error.message);
}

static void check_memory(const struct assay__patient *p, struct assay__diagnosis *d)
{
    struct assay__memory memory;
    (void)p;
    memset(&memory, 0, sizeof memory);
    assay__memory_read(&memory);
    if (memory.pss_known)
        ASSAY__GOOD(d, "memory of the worker is read as proportional set size");
    else if (memory.rss_known)
        ASSAY__GOOD(d,
                    "memory of the worker is read as resident set size (shared pages count fully)");
    else
        assay__diagnose(d, ASSAY__HEALTH_MISSING, "sudo mount -t proc proc /proc",
                        "memory of a process cannot be read: memory metrics will be unavailable");
}

static const struct {
    const char *id;
    assay__check *check;
} checks[] = {
    {"engine", check_engine},
    {"worker", check_worker},
    {"drivers", assay__check_drivers},
    {"virtual-machine", check_virtual},
    {"container", check_container},
    {"governor", check_governor},
    {"load", check_load},
    {"steal", check_steal},
    {"cpu-limit", check_quota},
    {"limits", assay__check_limits},
    {"cpus", check_cpus},
    {"smt", assay__check_smt},
    {"turbo", assay__check_turbo},
    {"swap", assay__check_swap},
    {"thermal", check_thermal},
    {"clock", check_clock},
    {"memory", check_memory},
    {"perf-events", assay__check_perf_events},
    {"pmu", assay__check_pmu},
};
#define CHECK_COUNT (sizeof checks / sizeof checks[0])

/* Which CPUs may be used: for a captured machine, by the process that captured it. */
static void read_allowed(struct assay__patient *patient)
{
    if (!assay__live_refused()) {
        assay__cpus_allowed(patient->allowed, sizeof patient->allowed);
        return;
    }
    const char *text = assay__sysfs_text(patient->arena, "/proc/self/status");
    const char *list = text ? assay__fs_field(text, "Cpus_allowed_list") : NULL;
    if (list)
        snprintf(patient->allowed, sizeof patient->allowed, "%.*s",
                 (int)strspn(list, "0123456789,-"), list);
}

/* Writes this machine's files into a folder and reports what it wrote and what it could not. */
static int write_capture(const char *folder, const struct assay__render_options *render)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__capture capture;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    int code = arena ? assay__capture_write(arena, folder, &capture, &error) : ASSAY_ENOMEM;
    if (!code && assay__wants_json(render))
        assay__capture_json(&out, &capture, folder);
    else if (!code && assay__capture_document(&capture, folder, &doc))
        out.failed = true;
    int status = code ? assay__fail(code, &error) : assay__print_document(render, doc, &out);
    assay__arena_free(arena);
    return status;
}

static int examine_machine(struct assay__invocation *invocation)
{
    struct doctor_options *o = invocation->options;
    struct assay__patient patient = {0};
    struct assay__diagnosis all[CHECK_COUNT] = {0};
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    int status = assay__render_check("doctor", &o->render);
    if (status) return status;
    assay__render_top(invocation, &o->render);
    if (o->capture) return write_capture(o->capture, &o->render);
    patient.arena = assay__arena_new();
    int code = patient.arena ? assay__machine_read(patient.arena, &patient.machine) : ASSAY_ENOMEM;
    if (!code) {
        assay__disturbance_read(&patient.before);
        assay__sleep_ns(OBSERVE_NS);
        assay__disturbance_read(&patient.after);
        read_allowed(&patient);
        code = assay__doctor_probes_open(&patient);
    }
    for (size_t i = 0; i < CHECK_COUNT && !code; i++) {
        all[i].id = checks[i].id;
        checks[i].check(&patient, &all[i]);
    }
    const struct assay__checkup checkup = {all, CHECK_COUNT, patient.probes, patient.probe_count};
    if (!code && assay__wants_json(&o->render))
        assay__doctor_json(&out, &checkup);
    else if (!code && assay__doctor_document(&checkup, &doc))
        out.failed = true;
    status = code ? assay__fail(code, NULL) : assay__print_document(&o->render, doc, &out);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        assay__buf_free(&all[i].says);
        assay__buf_free(&all[i].advice);
    }
    assay__doctor_probes_close(&patient);
    assay__arena_free(patient.arena);
    return status;
}

#define AT(member) offsetof(struct doctor_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW(
        "capture", 0, capture, "DIR",
        "Write the files that describe this machine into the new folder DIR instead."),
    ASSAY__RENDER_ROWS(ASSAY__VIEW_NAMES_AND("|json"), ASSAY__DOCTOR_TABLES),
    {0},
};

const struct assay__command assay__command_doctor = {
    .name = "doctor",
    .summary = "find what makes measurements on this machine unreliable, and what would help",
    .arguments = "",
    .description =
        "Observes this machine for 0.2 s and lists what disturbs measurements, what is missing and "
        "what cannot be observed, each with a remedy; then every probe, whether it can be read, "
        "and the cost of reading it. It changes nothing, and its exit status is 0.\n\n--capture "
        "copies the files of /proc and /sys that assay reads, for a bug report or to examine the "
        "machine elsewhere: with ASSAY_FSROOT=DIR, assay reads them instead of this machine. The "
        "host name is replaced; the copy contains no environment variables, command lines or "
        "serial numbers.",
    .examples = "  assay doctor\n  assay doctor --capture machine\n"
                "  ASSAY_FSROOT=machine assay doctor\n",
    .options = options,
    .options_size = sizeof(struct doctor_options),
    .run = examine_machine,
};
