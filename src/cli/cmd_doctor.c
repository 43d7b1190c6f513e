/* cmd_doctor.c - assay doctor: what makes numbers on this machine untrustworthy or unavailable,
 * each with what would change it, then every probe with its cost. A check is one function and one
 * row of the table below; those that look at switches of the kernel are in doctor_system.c. Exit
 * status 0: the doctor advises, it does not judge. */
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/render_options.h"
#include "probe/live.h"
#include "probe/sysfs.h"
#include "run/devices.h"
#include "run/locate.h"

#include <assay/engine.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OBSERVE_NS 200000000u /* steal and load of others are looked at for 0.2 s */

struct doctor_options {
    struct assay__render_options render;
    const char *capture;
};

static void check_virtual(const struct assay__patient *p, struct assay__diagnosis *d)
{
    const char *kind = p->machine.virtualized;
    if (!kind || !*kind) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(&d->says, "it is not known whether this is a virtual machine");
    } else if (strcmp(kind, "none") == 0) {
        assay__buf_puts(&d->says, "this is not a virtual machine");
    } else {
        d->health = ASSAY__HEALTH_WARNING;
        assay__buf_printf(
            &d->says,
            "this is a virtual machine (%s): neighbours take time unseen, counters and "
            "energy are often hidden",
            kind);
        assay__buf_puts(
            &d->advice,
            "measure on the bare machine, or compare within one run with several launches");
    }
}

static void check_container(const struct assay__patient *p, struct assay__diagnosis *d)
{
    if (!p->machine.container || !*p->machine.container) {
        assay__buf_puts(&d->says, "no container was detected");
        return;
    }
    assay__buf_printf(&d->says,
                      "this runs in a container (%s): fine for timing, but limits may apply",
                      p->machine.container);
}

static void check_governor(const struct assay__patient *p, struct assay__diagnosis *d)
{
    const char *governor = p->machine.governor;
    if (!governor || !*governor) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(&d->says,
                        "the CPU's frequency governor cannot be read: clock changes stay unseen");
        assay__buf_puts(&d->advice,
                        "on a virtual machine the host decides; else load the cpufreq driver");
    } else if (strcmp(governor, "performance") == 0) {
        assay__buf_puts(&d->says, "the frequency governor is 'performance'");
    } else {
        d->health = ASSAY__HEALTH_WARNING;
        assay__buf_printf(&d->says, "the frequency governor is '%s': the clock follows the load",
                          governor);
        assay__buf_puts(&d->advice,
                        "sudo cpupower frequency-set -g performance; or a longer warm-up");
    }
}

static void check_load(const struct assay__patient *p, struct assay__diagnosis *d)
{
    if (!p->after.load_known) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(&d->says, "the load of this machine cannot be read");
        return;
    }
    int threads = p->machine.threads > 0 ? p->machine.threads : 1;
    assay__buf_printf(&d->says, "load average %.2f on %d hardware thread%s", p->after.load_1min,
                      threads, threads > 1 ? "s" : "");
    if (p->before.cpu_known && p->after.cpu_known) {
        double busy = p->after.cpu_busy_s - p->before.cpu_busy_s,
               idle = p->after.cpu_idle_s - p->before.cpu_idle_s;
        if (busy + idle > 0)
            assay__buf_printf(&d->says, ", %.0f %% of CPU time in use now",
                              busy / (busy + idle) * 100);
    }
    if (p->after.load_1min > 0.25 * threads) {
        d->health = ASSAY__HEALTH_WARNING;
        assay__buf_puts(&d->advice, "stop other work, or wait until it ends");
    }
}

static void check_steal(const struct assay__patient *p, struct assay__diagnosis *d)
{
    if (!p->before.steal_known || !p->after.steal_known || !p->before.cpu_known ||
        !p->after.cpu_known) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(&d->says, "steal time cannot be read");
        return;
    }
    double steal = p->after.cpu_steal_s - p->before.cpu_steal_s;
    double total = steal + p->after.cpu_busy_s - p->before.cpu_busy_s + p->after.cpu_idle_s -
                   p->before.cpu_idle_s;
    if (!(total > 0)) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(&d->says, "steal time is not known: the counters of CPU time do not move");
        return;
    }
    double share = steal / total;
    assay__buf_printf(&d->says, "steal time %.1f %% over 0.2 s", share * 100);
    if (share > 0.01) {
        d->health = ASSAY__HEALTH_WARNING;
        assay__buf_puts(&d->advice,
                        "the hypervisor gives this machine's CPUs to others: use a quieter host");
    }
}

static void check_quota(const struct assay__patient *p, struct assay__diagnosis *d)
{
    if (!p->after.cgroup_known) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(&d->says, "CPU limits of the control group cannot be read");
    } else if (p->after.cgroup_throttled_ns > 0 && p->after.cgroup_throttled_ns < 50000000) {
        assay__buf_puts(
            &d->says,
            "the control group was held back for less than 0.1 s so far by its CPU limit");
    } else if (p->after.cgroup_throttled_ns > 0) {
        d->health = ASSAY__HEALTH_WARNING;
        assay__buf_printf(&d->says,
                          "the control group was held back for %.1f s so far by its CPU limit",
                          (double)p->after.cgroup_throttled_ns / 1e9);
        assay__buf_puts(&d->advice, "raise or remove the CPU limit: see the limits");
    } else {
        assay__buf_puts(&d->says, "the control group was never held back by a CPU limit");
    }
}

static void check_cpus(const struct assay__patient *p, struct assay__diagnosis *d)
{
    int threads = p->machine.threads, cores = p->machine.cores;
    if (!*p->allowed) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(&d->says, "which CPUs this process may use cannot be read");
    } else {
        assay__buf_printf(&d->says, "this process may use CPU %s", p->allowed);
    }
    if (cores > 0 && threads > cores) {
        assay__buf_printf(&d->says, "; %d hardware threads share %d cores", threads, cores);
        assay__buf_puts(&d->advice, "--cpus with one CPU per core keeps sibling threads apart");
    }
}

static void check_thermal(const struct assay__patient *p, struct assay__diagnosis *d)
{
    if (!p->after.throttle_known && !p->after.temperature_known) {
        d->health = ASSAY__HEALTH_UNKNOWN;
        assay__buf_puts(
            &d->says,
            "neither temperature nor thermal throttling can be read: throttling stays unseen");
        assay__buf_puts(&d->advice, "on a virtual machine only the host sees them");
        return;
    }
    if (p->after.temperature_known)
        assay__buf_printf(&d->says, "CPU at %.0f °C; ", p->after.temperature_c);
    if (p->after.throttle_known && p->after.throttle_count) {
        assay__buf_printf(&d->says, "throttled by heat %llu times since boot",
                          (unsigned long long)p->after.throttle_count);
        d->health = ASSAY__HEALTH_WARNING;
        assay__buf_puts(&d->advice, "better cooling, or rests between runs");
    } else {
        assay__buf_puts(&d->says, p->after.throttle_known ? "never throttled by heat since boot"
                                                          : "thermal throttling cannot be read");
    }
}

static void check_clock(const struct assay__patient *p, struct assay__diagnosis *d)
{
    double read_ns = NAN, step_ns = NAN;
    assay__clock_measure(&read_ns, &step_ns);
    assay__buf_printf(&d->says, "a clock read costs %.0f ns, the smallest step is %.0f ns", read_ns,
                      step_ns);
    if (read_ns > 200) {
        d->health = ASSAY__HEALTH_WARNING;
        assay__buf_puts(&d->advice, "the clock is slow (a system call?)");
        if (strcmp(p->machine.architecture, "x86_64") == 0)
            assay__buf_puts(&d->advice,
                            ": echo tsc | sudo tee "
                            "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    }
}

struct cpu_device {
    bool available;
    char library[1024], reason[1024];
};

/* The device "cpu" itself: other providers of the class (XNNPACK, OpenVINO) may well be missing. */
static int on_device(void *context, const struct assay_device *device)
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
    if (!code && cpu.available) {
        assay__buf_printf(&d->says, "ONNX Runtime is %s", cpu.library);
        return;
    }
    d->health = ASSAY__HEALTH_MISSING;
    assay__buf_printf(&d->says, "ONNX Runtime cannot be used: %s",
                      code && error.message[0] ? error.message
                      : *cpu.reason            ? cpu.reason
                                               : assay_error_text(code));
    assay__buf_puts(&d->advice,
                    "'make' fetches it; or set ASSAY_ORT_LIBRARY to the path of libonnxruntime");
}

static void check_worker(const struct assay__patient *p, struct assay__diagnosis *d)
{
    (void)p;
    char path[4096];
    struct assay_error error = {0};
    if (assay__worker_locate(path, sizeof path, &error) == 0) {
        assay__buf_printf(&d->says, "the worker is %s", path);
        return;
    }
    d->health = ASSAY__HEALTH_MISSING;
    assay__buf_printf(&d->says, "the worker program is missing: %s", error.message);
    assay__buf_puts(&d->advice, "keep assay-worker beside assay, or set ASSAY_WORKER to its path");
}

static void check_memory(const struct assay__patient *p, struct assay__diagnosis *d)
{
    struct assay__memory memory;
    (void)p;
    memset(&memory, 0, sizeof memory);
    assay__memory_read(&memory);
    if (memory.pss_known) {
        assay__buf_puts(&d->says, "memory of the worker is read as proportional set size");
    } else if (memory.rss_known) {
        assay__buf_puts(
            &d->says,
            "memory of the worker is read as resident set size (shared pages count fully)");
    } else {
        d->health = ASSAY__HEALTH_MISSING;
        assay__buf_puts(&d->says,
                        "memory of a process cannot be read: memory metrics will be unavailable");
        assay__buf_puts(&d->advice, "sudo mount -t proc proc /proc");
    }
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

/* Which CPUs may be used: of a captured machine, by the process that captured it. */
static void read_allowed(struct assay__patient *patient)
{
    if (!assay__live_refused()) {
        assay__cpus_allowed(patient->allowed, sizeof patient->allowed);
        return;
    }
    const char *text = assay__sysfs_text(patient->arena, "/proc/self/status");
    const char *list = text ? assay__sysfs_field(text, "Cpus_allowed_list") : NULL;
    if (list)
        snprintf(patient->allowed, sizeof patient->allowed, "%.*s",
                 (int)strspn(list, "0123456789,-"), list);
}

static int examine(struct assay__arena *arena, struct assay__patient *patient)
{
    patient->arena = arena;
    int code = assay__machine_read(arena, &patient->machine);
    if (code) return code;
    assay__disturbance_read(&patient->before);
    assay__sleep_ns(OBSERVE_NS);
    assay__disturbance_read(&patient->after);
    read_allowed(patient);
    return assay__doctor_probes_open(patient);
}

static int show(const struct assay__patient *patient, const struct assay__diagnosis *all,
                const struct assay__render_options *render)
{
    struct assay__checkup checkup = {all, CHECK_COUNT, patient->probes, patient->probe_count};
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    if (assay__wants_json(render))
        assay__doctor_json(&out, &checkup);
    else if (assay__doctor_document(&checkup, &doc))
        out.failed = true;
    return assay__print_document(render, doc, &out);
}

static int examine_machine(struct assay__invocation *invocation)
{
    struct doctor_options *o = invocation->options;
    struct assay__patient patient = {0};
    struct assay__diagnosis all[CHECK_COUNT] = {0};
    int status = assay__render_check("doctor", &o->render);
    if (status) return status;
    assay__render_top(invocation, &o->render);
    if (o->capture) return assay__doctor_capture(o->capture, &o->render);
    struct assay__arena *arena = assay__arena_new();
    int code = arena ? examine(arena, &patient) : ASSAY_ENOMEM;
    for (size_t i = 0; i < CHECK_COUNT && !code; i++) {
        all[i].id = checks[i].id;
        checks[i].check(&patient, &all[i]);
    }
    status = code ? assay__fail(code, NULL) : show(&patient, all, &o->render);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        assay__buf_free(&all[i].says);
        assay__buf_free(&all[i].advice);
    }
    assay__doctor_probes_close(&patient);
    assay__arena_free(arena);
    return status;
}

#define AT(member) offsetof(struct doctor_options, member)

static const struct assay__option options[] = {
    {"capture", 0, ASSAY__OPTION_STRING, AT(capture), "DIR",
     "Write the files that describe this machine into the new folder DIR instead.", NULL, NULL, 0,
     0, false},
    ASSAY__RENDER_ROWS(ASSAY__VIEW_NAMES_AND("|json"), ASSAY__DOCTOR_TABLES),
    {0},
};

const struct assay__command assay__command_doctor = {
    .name = "doctor",
    .summary = "say what makes numbers here untrustworthy, and what would help",
    .arguments = "",
    .description = "Looks at this machine for 0.2 s and lists what disturbs measurements, what is "
                   "missing and what "
                   "cannot be observed, each with what would change it; then every probe, whether "
                   "it can be read here, and what "
                   "reading it costs. It changes nothing and its exit status is 0.\n\n"
                   "--capture copies the files of /proc and /sys that assay reads, for a report "
                   "about a machine: "
                   "ASSAY_FSROOT=DIR then stands for it. The host's name is replaced; no "
                   "environment, no command line and no serial "
                   "number is in it.",
    .examples = "  assay doctor\n  assay doctor --capture machine\n"
                "  ASSAY_FSROOT=machine assay doctor\n",
    .options = options,
    .options_size = sizeof(struct doctor_options),
    .run = examine_machine,
};
