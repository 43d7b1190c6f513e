/* explain_diff_document.c - two timelines: the verdict and its reason, the parts of the devices'
 * time whose changes add up, the metrics, and the kernels that changed most. */
#include "report/report_explain.h"

#include "explain/gpu_metrics.h"
#include "explain/timeline.h"

#include <math.h>
#include <string.h>

#define KERNELS_SHOWN 10

static const struct assay__column part_columns[] = {
    {.key = "id"},
    {.title = "device time", .flags = ASSAY__COLUMN_NAME},
    {"before_s", "before", .unit = "s"},
    {"after_s", "after", .unit = "s"},
    {"change_s", "change", .unit = "s"},
    {"ratio", "ratio", .unit = ASSAY__UNIT_TIMES},
};

static double ratio(double after, double before)
{
    return before > 0 ? after / before : (double)NAN;
}

static void add_part(struct assay__table *t, unsigned flags, const char *id, const char *title,
                     double before_s, double after_s)
{
    if (before_s <= 0 && after_s <= 0) return;
    assay__table_row_of(t, flags, id, title);
    assay__table_numbers(t, ASSAY_DERIVED, before_s, after_s, after_s - before_s);
    assay__table_known(t, ratio(after_s, before_s), ASSAY_DERIVED);
}

static void add_parts(struct assay__doc *doc, const struct assay__explain_diff *d)
{
    assay__doc_section(doc, "time", "Where the device's time went",
                       d->per_step ? "per step" : "in total", 0);
    struct assay__table *t = assay__doc_table(doc, "changes", "Device time", part_columns);
    for (int i = 0; i < ASSAY__DIFF_PARTS; i++)
        add_part(t, 0, d->parts[i].id, d->parts[i].title, d->parts[i].before_s,
                 d->parts[i].after_s);
    add_part(t, ASSAY__ROW_TOTAL, "span", "first to last work", d->before_s, d->after_s);
    assay__doc_end(doc);
}

static const struct assay__column metric_columns[] = {
    {"metric", "metric", .flags = ASSAY__COLUMN_NAME},
    {.key = "unit"},
    {"before", "before", .unit = ""},
    {"after", "after", .unit = ""},
    {"ratio", "ratio", .unit = ASSAY__UNIT_TIMES},
};

static struct assay__datum cell_of(struct assay__doc *doc, const struct assay_metrics *set,
                                   const char *name)
{
    const struct assay_metric *m = assay_metrics_get(set, name);
    struct assay__datum value = assay__datum_metric(m);
    value.unit = assay_metric_lookup(name)->unit;
    value.note = assay__doc_printf(doc, "%s", m ? m->note : "");
    value.source = "trace";
    value.name = name;
    return value;
}

static void add_metrics(struct assay__doc *doc, const struct assay__explain_diff *d)
{
    static const char *const names[] = {
        "gpu.utilization", "gpu.launch_efficiency", "gpu.kernels", "gpu.kernel_mean",
        "gpu.gaps",        "gpu.gap_mean",          "gpu.copies",  "gpu.transfers"};
    if (!d->before->device_count || !d->after->device_count) return;
    struct assay_metrics *before = assay__gpu_metrics(d->before, 0);
    struct assay_metrics *after = assay__gpu_metrics(d->after, 0);
    assay__doc_section(doc, "metrics", "Metrics", "of the first device", 0);
    struct assay__table *t = assay__doc_table(doc, "devices", "Metrics", metric_columns);
    for (size_t i = 0; before && after && i < sizeof names / sizeof names[0]; i++) {
        struct assay__datum a = cell_of(doc, before, names[i]), b = cell_of(doc, after, names[i]);
        assay__table_row_of(t, 0, names[i], a.unit);
        assay__table_cell(t, a);
        assay__table_cell(t, b);
        assay__table_known(t, ratio(b.number, a.number), ASSAY_DERIVED);
    }
    if (!before || !after) doc->failed = true;
    assay_metrics_free(before);
    assay_metrics_free(after);
    assay__doc_end(doc);
}

static const struct assay__column kernel_columns[] = {
    {.key = "name"},
    {.title = "kernel", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"before_count", "count before", .unit = ASSAY__UNIT_PLAIN, .priority = 1},
    {"after_count", "after", .unit = ASSAY__UNIT_PLAIN, .priority = 1},
    {"before_s", "time before", .unit = "s"},
    {"after_s", "after", .unit = "s"},
    {"change_s", "change", .unit = "s"},
};

static void add_kernels(struct assay__doc *doc, const struct assay__explain_diff *d)
{
    assay__doc_section(doc, "kernels", "Kernels", "the largest changes first", 0);
    struct assay__table *t = assay__doc_table(doc, "kernels", "Kernels", kernel_columns);
    t->more = "kernels";
    t->limit = KERNELS_SHOWN;
    const char **names = assay__arena_array(doc->arena, d->kernel_count + 1, sizeof *names);
    for (size_t i = 0; names && i < d->kernel_count; i++)
        names[i] = d->kernels[i].name;
    if (names) names = assay__kernel_briefs(names, d->kernel_count, doc->arena);
    for (size_t i = 0; names && i < d->kernel_count; i++) {
        const struct assay__diff_kernel *k = &d->kernels[i];
        assay__table_row_of(t, 0, k->name, names[i]);
        assay__table_numbers(t, ASSAY_DERIVED, k->before_count, k->after_count, k->before_s,
                             k->after_s, k->after_s - k->before_s);
    }
    assay__doc_end(doc);
}

static void add_side(struct assay__doc *doc, const char *label, const struct assay__explain *x)
{
    assay__doc_fact(doc, label);
    assay__doc_item_text(doc, "%s", assay__explain_file(x));
    assay__doc_item_text(doc, "%s", x->diagnosis.verdict);
}

int assay__explain_diff_document(const struct assay__explain_diff *d, struct assay__doc **made)
{
    struct assay__doc *doc = assay__doc_open(made, "explain", "before and after");
    if (!doc) return ASSAY_ENOMEM;
    doc->table = "changes";
    doc->marks = true;
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__SECTION_QUIET);
    assay__doc_verdict(doc, d->verdict);
    assay__doc_say(doc, ASSAY__TONE_PLAIN, d->why);
    add_side(doc, "before", d->before);
    add_side(doc, "after", d->after);
    if (!d->per_step)
        assay__doc_note(doc,
                        "The traces do not contain the same steps: whole traces are compared.");
    assay__doc_end(doc);
    add_parts(doc, d);
    add_metrics(doc, d);
    add_kernels(doc, d);
    return 0;
}
