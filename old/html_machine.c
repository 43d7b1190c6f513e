/* html_machine.c - memory, power, temperature and clocks: pictures over time, the numbers, or the
 * reason there are none. */
#include "report/html_sections.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 20, SITES = 20, COUNTERS = 16 };

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_of(const char *name, const char *const *families)
{
    for (; *families; families++)
        if (begins(name, *families)) return true;
    return false;
}

/* What is not known of some families, by reason: one sensor that is missing leaves many metrics
 * without a value. */
static void put_missing(struct assay__html *page, const struct assay__trial *trial,
                        const char *const *families)
{
    struct assay_metrics *missing = assay_metrics_new();
    struct assay__reason_group *groups = NULL;
    size_t count = 0;
    int code = missing ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < assay_metrics_count(trial->metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(trial->metrics, i);
        if (is_of(m->name, families) && m->state == ASSAY_UNAVAILABLE)
            code = assay_metrics_put(missing, m);
    }
    if (!code) code = assay__render_unavailable(missing, &groups, &count);
    if (code) page->body.failed = true;
    if (count) {
        assay__html_heading(page, "Not available");
        assay__buf_puts(&page->body, "<dl class=\"reasons\">\n");
    }
    for (size_t i = 0; i < count; i++) {
        assay__buf_puts(&page->body, "<dt>");
        assay__html_text(&page->body, groups[i].names.data);
        assay__buf_puts(&page->body, "</dt><dd>");
        assay__html_text(&page->body, groups[i].reason);
        assay__buf_puts(&page->body, "</dd>\n");
        assay__buf_free(&groups[i].names);
    }
    if (count) assay__buf_puts(&page->body, "</dl>\n");
    free(groups);
    assay_metrics_free(missing);
}

/* The metrics of some families, each with its state, then those without a value with the reason. */
static void put_metrics(struct assay__html *page, const struct assay__trial *trial,
                        const char *caption, const char *const *families)
{
    size_t count = trial->metrics ? assay_metrics_count(trial->metrics) : 0, shown = 0;
    for (size_t i = 0; i < count; i++) {
        const struct assay_metric *m = assay_metrics_at(trial->metrics, i);
        if (!is_of(m->name, families) || m->state == ASSAY_UNAVAILABLE) continue;
        if (!shown++) assay__html_table(page, "", NULL, caption, "Metric|>Value|State|What it is");
        const struct assay_metric_info *info = assay_metric_lookup(m->name);
        assay__html_row(page, "");
        assay__html_cell_name(page, m->name);
        assay__buf_puts(&page->body, "<td class=\"n\">");
        assay__html_metric(page, m, "");
        assay__buf_puts(&page->body, "</td>");
        assay__html_cell_text(page, assay_state_name(m->state));
        assay__buf_puts(&page->body, "<td class=\"words\">");
        assay__html_prose(&page->body, info ? info->summary : m->note);
        assay__buf_puts(&page->body, "</td>");
        assay__html_row_end(page);
    }
    if (shown) assay__html_table_end(page);
    if (count) put_missing(page, trial, families);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int by_live(const void *left, const void *right)
{
    const struct assay__layer *const *a = left, *const *b = right;
    if ((*a)->live_bytes != (*b)->live_bytes) return (*a)->live_bytes > (*b)->live_bytes ? -1 : 1;
    return (*a)->index < (*b)->index ? -1 : (*a)->index > (*b)->index;
}

/* The tensors that are alive at the peak, and what those take that are not listed. */
static void put_tensors(struct assay__html *page, const struct assay__peak *peak)
{
    struct assay__buf text = {0};
    if (!peak->reason) return; /* not looked for, or from before it was */
    assay__html_heading(page, "Alive at the peak");
    if (peak->reason[0]) {
        assay__html_paragraph(page, "note", peak->reason);
        return;
    }
    size_t shown = peak->count < TENSORS ? peak->count : TENSORS;
    double rest = peak->rest_bytes;
    for (size_t i = shown; i < peak->count; i++)
        rest += peak->tensors[i].bytes;
    assay__render_peak(&text, peak);
    assay__html_paragraph(page, NULL, text.data);
    assay__html_table(page, "peak-tensors", "sortable", "Activations alive at the peak",
                      "Tensor|Shape and type|>Bytes|Made by|Operator|Last read by");
    for (size_t i = 0; i < shown; i++) {
        const struct assay__peak_tensor *t = &peak->tensors[i];
        assay__html_row(page, "");
        assay__html_cell_name(page, t->name);
        assay__html_cell_text(page, *t->type ? t->type : "—");
        assay__html_cell_number(page, t->bytes, "B", "=");
        assay__html_cell_name(page, *t->producer ? t->producer : "— an input of the model");
        assay__html_cell_text(page, *t->op ? t->op : "—");
        assay__html_cell_name(page, *t->last ? t->last : "—");
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    if (peak->alive > (int64_t)shown) {
        char scaled[64];
        assay__text_scaled(scaled, sizeof scaled, rest, "B");
        assay__buf_clear(&text);
        assay__buf_printf(&text, "%lld smaller ones take %s together%s.",
                          (long long)peak->alive - (long long)shown, scaled,
                          peak->count > shown ? "; the data of this page has more of them" : "");
        assay__html_paragraph(page, "note", text.data);
    }
    assay__buf_free(&text);
}

/* The layers while which most is alive. */
static void put_peak(struct assay__html *page, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay__layer **sorted = calloc(layers->count + 1, sizeof *sorted);
    size_t count = 0;
    if (!sorted) {
        page->body.failed = true;
        return;
    }
    for (size_t i = 0; i < layers->count; i++)
        if (isfinite(layers->items[i].live_bytes)) sorted[count++] = &layers->items[i];
    qsort(sorted, count, sizeof *sorted, by_live);
    if (count) {
        assay__html_heading(page, "Where most is alive");
        assay__html_table(page, "", "sortable", "Layers by what is alive while they run",
                          ">#|Layer|Operator|>Alive|>Weights read|>Bytes moved");
        for (size_t i = 0; i < count && i < TENSORS; i++) {
            const struct assay__layer *l = sorted[i];
            assay__html_row(page, "");
            assay__buf_printf(&page->body, "<td class=\"n\" data-v=\"%d\">%d</td>", l->index,
                              l->index);
            assay__html_cell_name(page, assay__render_layer_title(l));
            assay__html_cell_text(page, l->op);
            assay__html_cell_number(page, l->live_bytes, "B", "=");
            assay__html_cell_number(page, l->weight_bytes, "B", "=");
            assay__html_cell_number(page, l->bytes, "B", "=");
            assay__html_row_end(page);
        }
        assay__html_table_end(page);
        assay__html_paragraph(
            page, "note",
            "Alive is by liveness of the graph: activations that a later layer still needs.");
    }
    free(sorted);
}

static void put_allocations(struct assay__html *page, const struct assay__allocations *a)
{
    if (!a->reason) return; /* not asked for */
    assay__html_heading(page, "Allocations");
    assay__html_paragraph(page, "note", a->reason);
    if (a->phase_count) {
        assay__html_table(page, "", NULL, "Allocations by phase of the worker's life",
                          "Phase|>Inferences|>Allocations|>Bytes|>Alive at its end|>Alive at most");
        for (size_t i = 0; i < a->phase_count; i++) {
            const struct assay__allocation_phase *p = &a->phases[i];
            assay__html_row(page, "");
            assay__html_cell_name(page, p->name);
            assay__html_cell_number(page, p->inferences < 0 ? (double)NAN : (double)p->inferences,
                                    "count", "");
            assay__html_cell_number(page, p->count, "count", "");
            assay__html_cell_number(page, p->bytes, "B", "");
            assay__html_cell_number(page, p->live_bytes, "B", "");
            assay__html_cell_number(page, p->peak_live_bytes, "B", "");
            assay__html_row_end(page);
        }
        assay__html_table_end(page);
    }
    if (!a->site_count) return;
    assay__html_table(page, "", "sortable", "Allocations by who asked for them",
                      "Call site|Phase|>Allocations|>Bytes|>Alive");
    for (size_t i = 0; i < a->site_count && i < SITES; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        assay__html_row(page, "");
        assay__html_cell_name(page, s->site);
        assay__html_cell_text(page, s->phase);
        assay__html_cell_number(page, s->count, "count", "");
        assay__html_cell_number(page, s->bytes, "B", "");
        assay__html_cell_number(page, s->live_bytes, "B", "");
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
}

void assay__html_memory(struct assay__html *page, const struct assay_profile *profile,
                        const struct assay__trial *trial)
{
    static const char *const families[] = {"memory.", "cache.", NULL};
    assay__html_section(page, "memory", "Memory", ASSAY__HTML_MACHINE);
    assay__html_figure(page, profile, trial, "memory", true);
    put_metrics(page, trial, "Memory: what takes how much", families);
    put_tensors(page, &trial->peak);
    put_peak(page, trial);
    put_allocations(page, &trial->allocations);
    assay__html_section_end(page);
}

/* --- power ------------------------------------------------------------------------------------ */

/* With its rail, by which the metrics are called, where the two differ. */
static void put_channel_name(struct assay__html *page, const struct assay__series_info *s)
{
    assay__buf_puts(&page->body, "<th scope=\"row\">");
    assay__html_name(&page->body, s->name);
    if (begins(s->name, "power.") && s->rail && *s->rail && !strstr(s->name, s->rail)) {
        assay__buf_puts(&page->body, " (");
        assay__html_name(&page->body, s->rail);
        assay__buf_puts(&page->body, ")");
    }
    assay__buf_puts(&page->body, "</th>");
}

/* Launches have channels of the same names: then a column tells them apart. */
static void put_channels(struct assay__html *page, const struct assay__trial *trial)
{
    size_t shown = 0;
    bool several = false;
    for (size_t i = 1; i < trial->series_count; i++)
        several |= trial->series[i].launch != trial->series[0].launch;
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        if (begins(s->name, "memory.")) continue;
        if (!shown++) {
            assay__html_heading(page, "Channels");
            assay__html_table(page, "", "sortable", "What was read over time, and from where",
                              several ? "Channel|>Launch|>Readings|Source|State|Remark"
                                      : "Channel|>Readings|Source|State|Remark");
        }
        assay__html_row(page, "");
        put_channel_name(page, s);
        if (several && s->launch > 0)
            assay__buf_printf(&page->body, "<td class=\"n\" data-v=\"%d\">%d</td>", s->launch,
                              s->launch);
        else if (several)
            assay__buf_puts(&page->body, "<td class=\"n\">all</td>");
        assay__html_cell_number(page, (double)s->count, "count", "");
        assay__html_cell_text(page, s->source);
        assay__html_cell_text(page, assay_state_name(s->state));
        assay__buf_puts(&page->body, "<td class=\"words\">");
        assay__html_prose(&page->body, s->note);
        assay__buf_puts(&page->body, "</td>");
        assay__html_row_end(page);
    }
    if (shown) assay__html_table_end(page);
}

/* Two of them are times. */
static const char *counter_unit(const char *name)
{
    bool time = name && (strcmp(name, "task-clock") == 0 || strcmp(name, "elapsed") == 0);
    return time ? "s" : "count";
}

/* What each kind of layer counted in one inference. */
static void put_counters(struct assay__html *page, const struct assay__trial *trial)
{
    struct assay__buf heads = {0};
    bool said = trial->class_counter_note && *trial->class_counter_note;
    size_t names = trial->counter_count < COUNTERS ? trial->counter_count : COUNTERS;
    if (!said && !trial->class_counter_count) return;
    assay__html_heading(page, "Counters by kind of layer");
    assay__html_paragraph(page, "note", trial->class_counter_note);
    if (!trial->class_counter_count) return;
    assay__buf_puts(&heads, "Operator|>Layers|>Time");
    for (size_t i = 0; i < names; i++)
        assay__buf_printf(&heads, "|>%s", trial->counter_names[i]);
    assay__html_table(page, "", "sortable", "Counters of one inference by kind of layer",
                      heads.data ? heads.data : "");
    for (size_t i = 0; i < trial->class_counter_count; i++) {
        const struct assay__class_counters *c = &trial->class_counters[i];
        assay__html_row(page, "");
        assay__html_cell_name(page, c->op);
        assay__html_cell_number(page, c->layers < 0 ? (double)NAN : (double)c->layers, "count", "");
        assay__html_cell_number(page, c->time_ns / 1e9, "s", "");
        for (size_t k = 0; k < names; k++)
            assay__html_cell_number(page, c->values ? c->values[k] : (double)NAN,
                                    counter_unit(trial->counter_names[k]), "");
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    if (heads.failed) page->body.failed = true;
    assay__buf_free(&heads);
}

void assay__html_power(struct assay__html *page, const struct assay_profile *profile,
                       const struct assay__trial *trial)
{
    static const char *const families[] = {"power.",       "energy.",   "efficiency.",
                                           "sensor.",      "hardware.", "overhead.sensors",
                                           "disturbance.", NULL};
    assay__html_section(page, "power", "Power and clocks", ASSAY__HTML_MACHINE);
    assay__html_figure(page, profile, trial, "power", true);
    put_metrics(page, trial, "Power, temperature, clocks and counters", families);
    put_channels(page, trial);
    put_counters(page, trial);
    assay__html_section_end(page);
}
