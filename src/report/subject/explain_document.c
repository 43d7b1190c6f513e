/* explain_document.c - what a timeline says: one screen with the verdict, the key numbers, where
 * the device's time went, the longest kernels and the findings; then the details
 * (explain_detail.c). */
#include "report/report_explain.h"

#include "explain/gpu_metrics.h"
#include "explain/timeline.h"
#include "import/import.h"
#include "profile/profile.h"
#include "report/formats.h"
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

#define KERNELS_SHOWN 5
#define FINDINGS_SHOWN 5
#define DEVICES_SHOWN 2

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

static double of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static const char *text(const struct assay__explain *x, uint32_t name)
{
    return name == ASSAY__EVENT_UNKNOWN ? NULL : assay__events_text(x->events, name);
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The clauses of the evidence, each an item. */
static void add_evidence(struct assay__doc *doc, const struct assay__explain *x)
{
    const char *at = x->diagnosis.evidence;
    if (*at) assay__doc_fact(doc, "evidence");
    while (*at) {
        const char *end = strstr(at, "; ");
        size_t length = end ? (size_t)(end - at) : strlen(at);
        assay__doc_item_text(doc, "%.*s", (int)length, at);
        at += length + (end ? 2 : 0);
    }
}

static void add_kpis(struct assay__doc *doc, const struct assay__explain *x)
{
    static const struct {
        const char *metric, *name;
    } rows[] = {{"gpu.utilization", "utilisation"}, {"gpu.launch_efficiency", "launch efficiency"},
                {"gpu.kernels", "kernels"},         {"gpu.kernel_mean", "mean kernel"},
                {"gpu.gap_mean", "mean gap"},       {"gpu.transfers", "copied"}};
    struct assay_metrics *set = x->device_count ? assay__gpu_metrics(x, 0) : NULL;
    if (!set) return;
    assay__doc_kpis(doc, x->device_count > 1 ? "first device" : "numbers");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay_metric *m = assay_metrics_get(set, rows[i].metric);
        struct assay__datum value = assay__datum_metric(m);
        value.note = assay__doc_printf(doc, "%s", m && m->note ? m->note : "");
        value.source = "trace"; /* nothing may point into the set: it is freed */
        value.name = rows[i].metric;
        value.unit = assay_metric_lookup(rows[i].metric)->unit;
        assay__doc_item(doc, rows[i].name, value);
    }
    assay_metrics_free(set);
}

static void add_devices(struct assay__doc *doc, const struct assay__explain *x)
{
    size_t count = x->device_count, shown = count > DEVICES_SHOWN ? 0 : count;
    for (size_t i = 0; i < shown; i++) {
        const struct assay__explain_device *d = &x->devices[i];
        assay__doc_fact(doc, i ? "" : count > 1 ? "devices" : "device");
        assay__doc_item_text(doc, "%s", d->name);
        if (x->timeline->rank_count > 1) assay__doc_item_text(doc, "rank %d", (int)d->rank);
        assay__doc_item(doc, "first to last work", assay__derived(seconds(d->span_ns), "s"));
        if (!d->host) continue;
        assay__doc_item(doc, "host before", assay__derived(seconds(d->before_ns), "s"));
        assay__doc_item(doc, "after", assay__derived(seconds(d->after_ns), "s"));
    }
    if (shown) return;
    assay__doc_fact(doc, "devices");
    if (count) assay__doc_item_text(doc, "%zu, the first is %s", count, x->devices[0].name);
    if (!count) assay__doc_item_text(doc, "none");
    if (x->timeline->rank_count > 1)
        assay__doc_item_count(doc, (double)x->timeline->rank_count, "rank");
}

/* Of a job whose other ranks were not given nothing can be said. */
static void warn_of_missing_ranks(struct assay__doc *doc, const struct assay__explain *x)
{
    size_t given = x->timeline->rank_count;
    int32_t world = -1;
    for (size_t i = 0; i < x->events->source_count; i++)
        if (x->events->sources[i].rank >= 0 && x->events->sources[i].world_size > world)
            world = x->events->sources[i].world_size;
    if (world > 0 && (size_t)world > given)
        assay__doc_warn(doc, "%zu of the %d ranks of this job %s given; the others are not judged.",
                        given, (int)world, given == 1 ? "was" : "were");
}

static void add_sources(struct assay__doc *doc, const struct assay__explain *x)
{
    const struct assay__events *events = x->events;
    const char *reason = "";
    uint64_t skipped = 0;
    assay__doc_fact(doc, "trace");
    if (events->source_count) {
        const struct assay__trace_source *s = &events->sources[0];
        assay__doc_item_text(doc, "%s", assay__import_source_name(s));
    }
    assay__doc_item_count(doc, (double)events->count, "event");
    if (events->source_count > 1) assay__doc_item_count(doc, (double)events->source_count, "file");
    for (size_t i = 1; i < events->source_count; i++) /* beside a device's recording */
        if (!strcmp(events->sources[i].format, "cpu"))
            assay__doc_item_text(doc, "%s", events->sources[i].producer);
    if (events->count)
        assay__doc_item(doc, "from the first event to the last",
                        assay__derived(seconds(x->timeline->last_ns - x->timeline->first_ns), "s"));
    else
        assay__doc_item_count(doc, (double)x->counter_count, "counter");
    add_devices(doc, x);
    for (size_t i = 0; i < events->source_count; i++) {
        const struct assay__trace_source *s = &events->sources[i];
        bool why = !s->skipped && *s->complaint; /* else it is about what was skipped first */
        if (s->skipped && !*reason) reason = s->complaint;
        skipped += s->skipped;
        if (s->truncated)
            assay__doc_warn(doc, "%s ends early%s%s. What could be read is explained.", s->path,
                            why ? ": " : "", why ? s->complaint : "");
        else if (why)
            assay__doc_warn(doc, "%s: %s.", s->path, s->complaint);
    }
    warn_of_missing_ranks(doc, x);
    if (skipped)
        assay__doc_warn(doc, "%llu event%s missing%s%s.", (unsigned long long)skipped,
                        skipped == 1 ? " is" : "s are", *reason ? "; the first reason: " : "",
                        reason);
}

/* --- where the time went ---------------------------------------------------------------------- */

static const struct assay__column loss_columns[] = {
    {.key = "id"},
    {.title = "device time", .flags = ASSAY__COLUMN_NAME},
    {"ms", "time", .unit = "s", .factor = 1e-3},
    {"share", "share", .unit = "ratio"},
    {.title = "", .unit = "ratio", .flags = ASSAY__COLUMN_BAR},
    {"gain", "gain if removed", .unit = "ratio", .priority = 1},
};

static double gain_of(const struct assay__explain *x, enum assay__loss loss)
{
    for (size_t i = 0; i < x->what_if.count; i++)
        if (x->what_if.items[i].loss == loss) return x->what_if.items[i].gain;
    return (double)NAN;
}

static void add_loss(struct assay__table *t, const struct assay__explain *x, const char *id,
                     const char *title, int64_t ns, double gain)
{
    if (ns <= 0 && !(gain >= 0.05)) return;
    double share = of(ns, x->span_ns);
    assay__table_row_of(t, 0, id, title);
    assay__table_numbers(t, ASSAY_DERIVED, seconds(ns) * 1e3, share, share);
    assay__table_known(t, gain, ASSAY_ESTIMATED);
}

static void add_losses(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "time", "Where the device's time went",
                       x->device_count > 1 ? "all devices together" : NULL, 0);
    struct assay__table *t = assay__doc_table(doc, "losses", "Device time", loss_columns);
    add_loss(t, x, "compute", "computing", x->compute_ns, NAN);
    for (int i = 0; i < ASSAY__LOSSES; i++)
        add_loss(t, x, assay__losses[i].name, assay__losses[i].meaning, x->loss_ns[i],
                 gain_of(x, (enum assay__loss)i));
    assay__doc_note(doc, "Busy and idle time add up to the span from the device's first work to "
                         "its last. A gain is estimated by replaying the trace without that cost.");
    assay__doc_end(doc);
}

static const struct assay__column idle_columns[] = {
    {.key = "rank", .unit = ASSAY__UNIT_COUNT},
    {.key = "device", .unit = ASSAY__UNIT_COUNT},
    {"device_cause", "why the device had nothing to do", .flags = ASSAY__COLUMN_NAME},
    {"host_cause", "what the host did", .flags = ASSAY__COLUMN_NAME},
    {"ms", "time", .unit = "s", .factor = 1e-3, .flags = ASSAY__COLUMN_SUM},
    {"share", "share of the span", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {.key = "ns", .unit = ASSAY__UNIT_COUNT},
};

static void add_idle_row(struct assay__table *t, const struct assay__explain_device *d, int c,
                         int h, unsigned flags)
{
    int64_t ns = d->idle[c][h];
    if (ns <= 0) return;
    assay__table_row(t, flags | (of(ns, d->span_ns) < 0.001 ? ASSAY__ROW_DATA : 0), NULL);
    assay__table_numbers(t, ASSAY_MEASURED, d->rank, d->device);
    assay__table_texts(t, assay__device_causes[c].name, assay__host_causes[h].name);
    assay__table_numbers(t, ASSAY_DERIVED, seconds(ns) * 1e3, of(ns, d->span_ns), (double)ns);
}

/* Programs read each device by itself; people read several as one. */
static void add_idle(struct assay__doc *doc, const struct assay__explain *x)
{
    struct assay__explain_device all = {.span_ns = x->span_ns};
    bool several = x->device_count > 1;
    assay__doc_section(doc, "idle", "Idle time by cause", several ? "all devices together" : NULL,
                       0);
    struct assay__table *t = assay__doc_table(doc, "idle", "Idle time", idle_columns);
    t->more = "pairs of causes";
    for (size_t i = 0; i < x->device_count; i++)
        for (int c = 0; c < ASSAY__DEVICE_CAUSES; c++)
            for (int h = 0; h < ASSAY__HOST_CAUSES; h++) {
                all.idle[c][h] += x->devices[i].idle[c][h];
                add_idle_row(t, &x->devices[i], c, h, several ? ASSAY__ROW_DATA : 0);
            }
    for (int c = 0; several && c < ASSAY__DEVICE_CAUSES; c++)
        for (int h = 0; h < ASSAY__HOST_CAUSES; h++)
            add_idle_row(t, &all, c, h, ASSAY__ROW_PEOPLE);
    assay__doc_end(doc);
}

/* --- kernels and findings --------------------------------------------------------------------- */

static const struct assay__column kernel_columns[] = {
    {.key = "name"},
    {.title = "kernel", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"class", "class", .priority = 1},
    {"traits", "by its name", .priority = 3},
    {"count", "count", .unit = ASSAY__UNIT_COUNT, .flags = ASSAY__COLUMN_SUM},
    {"total_us", "total", .unit = "s", .factor = 1e-6, .flags = ASSAY__COLUMN_SUM},
    {"share", "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {"mean_us", "mean", .unit = "s", .factor = 1e-6, .priority = 2},
    {.key = "min_us", .unit = "s", .factor = 1e-6},
    {.key = "max_us", .unit = "s", .factor = 1e-6},
    {"flops_per_s", "rate", .unit = "FLOP/s", .priority = 4},
    {"operator", "operator", .priority = 2},
};

/* Short names, no two of them equal. */
static const char **short_names(struct assay__doc *doc, const struct assay__explain *x)
{
    const char **names = assay__arena_array(doc->arena, x->kernel_count + 1, sizeof *names);
    for (size_t i = 0; names && i < x->kernel_count; i++) {
        const char *name = text(x, x->kernels[i].name);
        names[i] = name ? name : "";
    }
    return names ? assay__kernel_briefs(names, x->kernel_count, doc->arena) : NULL;
}

static const char *traits_text(struct assay__doc *doc, unsigned traits)
{
    struct assay__buf words = {0};
    for (unsigned i = 0; i < ASSAY__KERNEL_TRAITS; i++)
        if (traits >> i & 1) assay__buf_join(&words, assay__kernel_traits[i]);
    return assay__doc_take(doc, &words);
}

static void add_kernels(struct assay__doc *doc, const struct assay__explain *x)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < x->device_count; i++)
        sum_ns += x->devices[i].kernel_sum_ns;
    assay__doc_section(doc, "kernels", "Kernels", "by total time", 0);
    struct assay__table *t = assay__doc_table(doc, "kernels", "Kernels", kernel_columns);
    t->more = "kernels";
    t->limit = KERNELS_SHOWN;
    const char **names = short_names(doc, x);
    for (size_t i = 0; names && i < x->kernel_count; i++) {
        const struct assay__kernel_time *k = &x->kernels[i];
        double total_us = (double)k->ns * 1e-3;
        assay__table_row_of(t, 0, text(x, k->name), names[i], assay__kernel_kinds[k->kind],
                            traits_text(doc, k->traits));
        assay__table_number(t, (double)k->count, ASSAY_MEASURED);
        assay__table_numbers(t, ASSAY_DERIVED, total_us, of(k->ns, sum_ns),
                             total_us / (double)k->count);
        assay__table_numbers(t, ASSAY_MEASURED, (double)k->min_ns * 1e-3, (double)k->max_ns * 1e-3);
        assay__table_known(t, k->ns > 0 ? k->flops / seconds(k->ns) : NAN, ASSAY_DERIVED);
        assay__table_text(t, text(x, k->op));
    }
    assay__doc_end(doc);
}

static const struct assay__column finding_columns[] = {
    {.key = "id"},
    {.key = "severity"},
    {"expected_gain", "gain", .unit = "ratio"},
    {"title", "finding", .flags = ASSAY__COLUMN_PROSE},
    {"evidence", "evidence", .flags = ASSAY__COLUMN_PROSE},
    {.key = "advice"},
    {.key = "effort"},
};

static void add_findings(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "findings", "Findings", "gains are estimates, as shares of the span",
                       0);
    struct assay__table *t = assay__doc_table(doc, "findings", "Findings", finding_columns);
    t->more = "findings";
    t->limit = FINDINGS_SHOWN;
    for (size_t i = 0; i < x->finding_count; i++) {
        const struct assay__explain_finding *f = &x->findings[i];
        assay__table_row_of(t, 0, f->id, f->severity);
        assay__table_known(t, f->gain, ASSAY_ESTIMATED);
        assay__table_texts(t, f->title, f->evidence, f->advice, f->effort);
    }
    assay__doc_fold(doc, "advice", "What to do", NULL);
    for (size_t i = 0; i < x->finding_count; i++)
        assay__doc_point(doc, "%s: %s", x->findings[i].title, x->findings[i].advice);
    assay__doc_end(doc);
    assay__doc_end(doc);
}

int assay__explain_document(const struct assay__explain *x, bool page, struct assay__doc **made)
{
    const char *path = x->events->source_count ? x->events->sources[0].path : "";
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (x->events->source_count && *x->events->sources[0].title) name = x->events->sources[0].title;
    struct assay__doc *doc = assay__doc_open(made, "explain", name);
    if (!doc) return ASSAY_ENOMEM;
    doc->table = "kernels";
    doc->marks = true;
    if (x->device_count) doc->subtitle = assay__doc_printf(doc, "on %s", x->devices[0].name);
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__SECTION_QUIET);
    assay__doc_verdict(doc, x->diagnosis.verdict);
    assay__doc_say(doc, ASSAY__TONE_PLAIN, x->diagnosis.advice);
    add_evidence(doc, x);
    add_kpis(doc, x);
    add_sources(doc, x);
    assay__doc_end(doc);
    assay__add_explain_timeline(doc, x, page);
    if (x->device_count) add_losses(doc, x);
    add_idle(doc, x);
    add_kernels(doc, x);
    add_findings(doc, x);
    for (size_t i = 0; i < x->allocation_count; i++) {
        struct assay__trial trial = {.id = (int)i + 1,
                                     .label = x->allocations[i].program,
                                     .allocations = *x->allocations[i].seen};
        assay__add_allocations(doc, &trial);
    }
    assay__add_explain_detail(doc, x);
    return 0;
}
