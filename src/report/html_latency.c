/* html_latency.c - how long one inference takes: pictures, percentiles, launches. */
#include "report/html_sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void assay__html_percentiles(struct assay__html *page, const struct assay__trial *trial)
{
    static const char *const rows[][2] = {
        {"latency.min", "least"},
        {"latency.p50", "median (p50)"},
        {"latency.mean", "mean"},
        {"latency.p90", "p90"},
        {"latency.p95", "p95"},
        {"latency.p99", "p99"},
        {"latency.p999", "p99.9"},
        {"latency.max", "greatest"},
        {"latency.iqr", "quartiles apart"},
        {"latency.cv", "deviation over mean"},
        {"timing.first", "first inference"},
        {"timing.session", "session"},
        {"timing.load", "load"},
        {"timing.compile", "compile"},
    };
    assay__html_table(page, "", NULL, "Latency: percentiles and times around it",
                      "Measure|>Value|State|What it is, or why it is not known");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay_metric *m = trial->metrics
                                           ? assay_metrics_get(trial->metrics, rows[i][0])
                                           : NULL;
        struct assay__buf interval = {0};
        if (!m) continue;
        bool known = m->state != ASSAY_UNAVAILABLE && isfinite(m->value);
        if (i == 1 && known) assay__html_p50_interval(&interval, trial);
        const struct assay_metric_info *info = assay_metric_lookup(m->name);
        assay__html_row(page, "");
        assay__html_cell_name(page, rows[i][1]);
        assay__buf_puts(&page->body, "<td class=\"n\">");
        assay__html_metric(page, m, interval.data ? interval.data : "");
        assay__buf_puts(&page->body, "</td>");
        assay__html_cell_text(page, assay_state_name(known ? m->state : ASSAY_UNAVAILABLE));
        assay__buf_puts(&page->body, "<td class=\"words\">");
        assay__html_prose(&page->body, !known ? m->note : info ? info->summary : "");
        if (interval.length) {
            assay__buf_puts(&page->body, " ");
            assay__html_text(&page->body, interval.data);
            assay__buf_puts(&page->body, ".");
        }
        assay__buf_puts(&page->body, "</td>");
        assay__html_row_end(page);
        assay__buf_free(&interval);
    }
    assay__html_table_end(page);
}

static void put_launches(struct assay__html *page, const struct assay__trial *trial)
{
    if (!trial->launch_count) return;
    assay__html_heading(page, "Launches");
    assay__html_table(
        page, "", "sortable", "Launches: one worker process each",
        ">Launch|State|>Median|>Samples counted|>Warm-up found|>Pre-run|>Streams|Remark");
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        struct assay__launch_counts counts = assay__render_launch_counts(l);
        assay__html_row(page, "");
        assay__buf_printf(&page->body, "<th scope=\"row\" class=\"n\">%d</th>", l->id);
        assay__html_cell_text(page, assay__trial_state_name(l->state));
        assay__html_cell_number(page, l->p50_ns / 1e9, "s", "");
        assay__html_cell_number(page, (double)counts.counted, "count", "");
        assay__html_cell_number(page, (double)counts.found, "count", "");
        assay__html_cell_number(page, counts.prerun, "count", "");
        assay__html_cell_number(page, (double)l->streams, "count", "");
        assay__html_cell_text(page, l->reason);
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        if (!l->log_tail || !*l->log_tail) continue;
        assay__buf_printf(&page->body,
                          "<details><summary>Last log lines of launch %d</summary><pre>", l->id);
        assay__html_text(&page->body, l->log_tail);
        assay__buf_puts(&page->body, "</pre></details>\n");
    }
}

void assay__html_latency(struct assay__html *page, const struct assay_profile *profile,
                         const struct assay__trial *trial)
{
    assay__html_section(page, "latency", "Latency", ASSAY__HTML_OVERVIEW | ASSAY__HTML_LAYERS);
    if (!assay__trial_metric(trial, "latency.p50")) {
        const struct assay_metric *p50 = trial->metrics
                                             ? assay_metrics_get(trial->metrics, "latency.p50")
                                             : NULL;
        assay__html_paragraph(page, "note",
                              p50 && p50->note && *p50->note
                                  ? p50->note
                                  : "There is no latency: the run did not get that far.");
    }
    bool bins = assay__html_figure(page, profile, trial, "latency", true) == 0;
    assay__html_figure(page, profile, trial, "samples", bins); /* few samples have this one alone */
    if (trial->metrics && assay_metrics_count(trial->metrics)) assay__html_percentiles(page, trial);
    put_launches(page, trial);
    assay__html_section_end(page);
}
