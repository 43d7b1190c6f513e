/* write_results.c - PROFILING_RESULTS.md of a timeline, line by line as the profiling guide lays it
 * out: date, configuration, key findings with evidence, impact and root cause, utilisation against
 * 80 %, memory patterns, opportunities with gain, effort and approach, and the table of key numbers
 * with their targets. */
#include "report/report_explain.h"

#include "base/text.h"
#include "explain/gpu_metrics.h"
#include "explain/timeline.h"
#include "import/import.h"
#include "report/walk/walk.h"

#include <assay/api.h>
#include <math.h>
#include <string.h>
#include <time.h>

struct results {
    const struct assay__explain *x;
    struct assay__buf *out;
    struct assay_metrics *metrics; /* of the first device; NULL: there is none */
};

#define NO_DEVICE "the trace contains no device activity"
#define PERCENT(value) assay__scaled(value, "ratio").text

static void put_line(struct results *r, const char *before, const char *text)
{
    assay__buf_puts(r->out, before);
    assay__markdown_text(r->out, text);
    assay__buf_putc(r->out, '\n');
}

/* --- date and configuration ------------------------------------------------------------------- */

/* When the trace was recorded, if its clock says so. */
static bool put_recorded(struct results *r)
{
    const struct assay__events *events = r->x->events;
    char text[16];
    struct tm parts;
    if (!events->source_count || strcmp(events->sources[0].clock, ASSAY__IMPORT_CLOCK_UNIX) != 0)
        return false;
    time_t seconds = (time_t)(r->x->timeline->first_ns / 1000000000);
    if (seconds <= 0 || !gmtime_r(&seconds, &parts) ||
        !strftime(text, sizeof text, "%Y-%m-%d", &parts))
        return false;
    assay__buf_puts(r->out, text);
    return true;
}

static void put_configuration(struct results *r)
{
    const struct assay__explain *x = r->x;
    const struct assay__events *events = x->events;
    assay__buf_puts(r->out, "### Configuration\n\n");
    for (size_t i = 0; i < x->device_count && i < 8; i++)
        put_line(r, "- Device: ", x->devices[i].name);
    if (!x->device_count) assay__buf_puts(r->out, "- Device: none in the trace\n");
    if (events->source_count) {
        const struct assay__trace_source *s = &events->sources[0];
        put_line(r, "- Profiler: ", assay__import_source_name(s));
        put_line(r, "- Trace: ", s->path);
    }
    assay__buf_printf(r->out, "- assay Version: %s\n", assay_version());
}

/* --- key findings ----------------------------------------------------------------------------- */

/* Idle time on both axes: of all devices. */
static int64_t idle_ns(const struct assay__explain *x, int device, int host)
{
    int64_t ns = 0;
    for (size_t i = 0; i < x->device_count; i++)
        ns += x->devices[i].idle[device][host];
    return ns;
}

/* The loss that a diagnosis is about; ASSAY__LOSSES: all. */
static int loss_of(enum assay__diagnosis_id id)
{
    switch (id) {
    case ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD: return ASSAY__LOSS_LAUNCHING;
    case ASSAY__DIAGNOSIS_TRANSFERS: return ASSAY__LOSS_TRANSFERS;
    case ASSAY__DIAGNOSIS_SYNCHRONISATION: return ASSAY__LOSS_SYNCHRONISING;
    case ASSAY__DIAGNOSIS_STARVED: return ASSAY__LOSS_STARVATION;
    default: return ASSAY__LOSSES;
    }
}

/* What causes most of the idle time that the diagnosis is about. */
static void put_idle_cause(struct results *r)
{
    int device = -1, host = -1, loss = loss_of(r->x->diagnosis.id);
    int64_t most_ns = 0, sum_ns = 0;
    for (int c = 0; c < ASSAY__DEVICE_CAUSES; c++)
        for (int h = 0; h < ASSAY__HOST_CAUSES; h++) {
            int64_t ns = idle_ns(r->x, c, h);
            int is = (int)assay__loss_of((enum assay__device_cause)c, (enum assay__host_cause)h);
            sum_ns += ns;
            if ((loss != ASSAY__LOSSES && is != loss) || ns <= most_ns) continue;
            most_ns = ns;
            device = c;
            host = h;
        }
    if (device < 0) {
        assay__buf_puts(r->out, r->x->device_count ? "the device was never idle" : NO_DEVICE);
        return;
    }
    assay__buf_printf(r->out, "%s of the idle time: %s", PERCENT((double)most_ns / (double)sum_ns),
                      assay__device_causes[device].meaning);
    if (host != ASSAY__HOST_UNSEEN && host != ASSAY__HOST_QUEUED)
        assay__buf_printf(r->out, "; the host meanwhile: %s", assay__host_causes[host].meaning);
}

static void put_root_cause(struct results *r)
{
    const struct assay__explain *x = r->x;
    assay__buf_puts(r->out, "   - Root cause: ");
    if (x->diagnosis.id == ASSAY__DIAGNOSIS_INEFFICIENT_KERNELS && x->kernel_count) {
        struct assay__buf brief = {0};
        assay__kernel_brief(&brief, assay__events_text(x->events, x->kernels[0].name));
        assay__buf_puts(r->out, "most time in ");
        assay__markdown_text(r->out, assay__buf_text(&brief));
        assay__buf_free(&brief);
    } else {
        put_idle_cause(r);
    }
    assay__buf_putc(r->out, '\n');
}

static void put_bottleneck(struct results *r)
{
    const struct assay__explain_diagnosis *d = &r->x->diagnosis;
    bool none = d->id == ASSAY__DIAGNOSIS_NONE;
    put_line(r, "1. **Bottleneck Identified**: ", d->verdict);
    put_line(r, "   - Evidence: ",
             *d->evidence ? d->evidence : "the sentence above; the trace shows no more");
    if (isfinite(d->cost))
        assay__buf_printf(r->out, "   - Impact: %s of the %s time\n", PERCENT(d->cost),
                          r->x->device_count > 1 ? "devices'" : "device's");
    else
        assay__buf_puts(r->out, none ? "   - Impact: none\n" : "   - Impact: not known\n");
    if (!none) put_root_cause(r);
}

static double value_of(const struct results *r, const char *name)
{
    const struct assay_metric *m = r->metrics ? assay_metrics_get(r->metrics, name) : NULL;
    return m ? m->value : (double)NAN;
}

/* "15.6 %", or "—" and why. */
static void put_value(struct results *r, const char *name, const char *unit)
{
    const struct assay_metric *m = r->metrics ? assay_metrics_get(r->metrics, name) : NULL;
    if (m && isfinite(m->value))
        assay__buf_puts(r->out, assay__scaled(m->value, unit).text);
    else
        assay__buf_printf(r->out, "— (%s)", m ? m->note : NO_DEVICE);
}

static void put_utilization(struct results *r)
{
    double utilization = value_of(r, "gpu.utilization");
    assay__buf_puts(r->out, "\n2. **GPU Utilization**: ");
    put_value(r, "gpu.utilization", "ratio");
    if (r->x->device_count > 1)
        assay__buf_printf(r->out, " (the first of %zu devices)", r->x->device_count);
    assay__buf_puts(r->out, "\n   - Expected: >80%\n   - Gap: ");
    if (utilization > 0.8) {
        assay__buf_puts(r->out, "none\n");
        return;
    }
    bool any = false;
    for (int i = 0; i < ASSAY__LOSSES; i++) {
        double part = assay__explain_share(r->x, r->x->loss_ns[i]);
        if (!(part >= 0.01)) continue;
        assay__buf_printf(r->out, "%s%s %s", any ? ", " : "", assay__losses[i].meaning,
                          PERCENT(part));
        any = true;
    }
    assay__buf_puts(r->out, any ? "\n" : "not known\n");
}

static void put_memory(struct results *r)
{
    const struct assay__explain *x = r->x;
    bool known = isfinite(value_of(r, "gpu.transfers"));
    size_t count = 0, small = 0, blocking = 0;
    for (size_t i = 0; i < x->transfer_count; i++) {
        count += x->transfers[i].count;
        small += x->transfers[i].small;
        blocking += x->transfers[i].blocking;
    }
    assay__buf_puts(r->out, "\n3. **Memory Patterns**:\n");
    assay__buf_puts(r->out, "   - Transfers: ");
    put_value(r, "gpu.transfers", "B");
    assay__buf_puts(r->out, known ? " total" : "");
    if (count) assay__buf_printf(r->out, " in %zu copies", count);
    if (small) assay__buf_printf(r->out, ", %zu of them below 64 KiB", small);
    if (blocking) assay__buf_printf(r->out, ", %zu waited for", blocking);
    assay__buf_puts(r->out, "\n   - Bandwidth: ");
    put_value(r, "gpu.copy_bandwidth", "B/s");
    assay__buf_puts(r->out, isfinite(value_of(r, "gpu.copy_bandwidth"))
                                ? " (vs theoretical: not in the trace)\n"
                                : "\n");
}

/* --- opportunities ---------------------------------------------------------------------------- */

static void put_opportunities(struct results *r)
{
    const struct assay__explain *x = r->x;
    assay__buf_puts(r->out, "\n### Optimization Opportunities\n\n");
    if (!x->finding_count) assay__buf_puts(r->out, "None found.\n");
    for (size_t i = 0; i < x->finding_count; i++) {
        const struct assay__explain_finding *f = &x->findings[i];
        assay__buf_printf(r->out, "%zu. ", i + 1);
        assay__markdown_text(r->out, f->title);
        assay__buf_puts(r->out, ": ");
        put_line(r, "", f->evidence);
        assay__buf_printf(r->out, "   - Potential gain: %s%s\n", isfinite(f->gain) ? "~" : "",
                          isfinite(f->gain) ? PERCENT(f->gain) : "not known");
        assay__buf_printf(r->out, "   - Effort: %s\n", f->effort);
        put_line(r, "   - Approach: ", f->advice);
    }
}

/* --- key numbers ------------------------------------------------------------------------------ */

static void put_row(struct results *r, const char *name, double value, const char *unit,
                    const char *target)
{
    assay__buf_printf(r->out, "| %s | %s | %s |\n", name, assay__scaled(value, unit).text, target);
}

static void put_kpis(struct results *r)
{
    const struct assay__explain *x = r->x;
    double total_s = (double)(x->timeline->last_ns - x->timeline->first_ns) * 1e-9;
    double span_s = value_of(r, "gpu.span");
    assay__buf_puts(r->out, "\n### Key Performance Indicators\n\n");
    if (x->device_count > 1)
        assay__buf_printf(r->out, "Of the first of %zu devices.\n\n", x->device_count);
    assay__buf_puts(r->out, "| Metric | Value | Target |\n|--------|-------|--------|\n");
    put_row(r, "Total Time", total_s, "s", "");
    put_row(r, "GPU Utilization", value_of(r, "gpu.utilization"), "ratio", ">80%");
    put_row(r, "Kernel Launch Efficiency", value_of(r, "gpu.launch_efficiency"), "ratio", ">70%");
    assay__buf_printf(r->out, "| Kernel Count | %s |  |\n",
                      assay__digits(value_of(r, "gpu.kernels"), 9).text);
    put_row(r, "Avg Kernel Time", value_of(r, "gpu.kernel_mean"), "s", "");
    put_row(r, "Avg Gap Time", value_of(r, "gpu.gap_mean"), "s", "<1 µs");
    put_row(r, "Operation Throughput (kernels)", value_of(r, "gpu.kernels") / span_s, "1/s", "");
    if (x->steps.count > 1)
        put_row(r, "Steps per Second", 1e9 / (double)x->steps.time.median_ns, "1/s", "");
    put_row(r, "Memory BW (host and device)", value_of(r, "gpu.copy_bandwidth"), "B/s", "");
}

void assay__explain_results(const struct assay__explain *x, const char *today,
                            struct assay__buf *out)
{
    struct results r = {x, out, x->device_count ? assay__gpu_metrics(x, 0) : NULL};
    assay__buf_puts(out, "# Profiling Results\n\n## Date: ");
    if (!put_recorded(&r)) assay__buf_puts(out, today);
    assay__buf_puts(out, "\n\n");
    put_configuration(&r);
    assay__buf_puts(out, "\n### Key Findings\n\n");
    put_bottleneck(&r);
    put_utilization(&r);
    put_memory(&r);
    put_opportunities(&r);
    put_kpis(&r);
    assay_metrics_free(r.metrics);
}
