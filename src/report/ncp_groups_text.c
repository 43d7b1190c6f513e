/* ncp_groups_text.c - time steps and neuron groups for people: a block of the text report, and of
 * the Markdown one. The rows of the groups with engine and unattributed add up to the latency;
 * steps are summed up in a line (JSON and CSV have each). */
#include "report/ncp_groups.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAYERS_COLUMNS 8
#define TIME_COLUMNS 11
#define SHARE_COLUMNS 9
#define FLOPS_COLUMNS 13

static const char *derived_ns(char text[64], double time_ns)
{
    char number[60];
    assay__text_scaled(number, sizeof number, time_ns / 1e9, "s");
    snprintf(text, 64, "%s%s", isfinite(time_ns) ? "=" : "", number);
    return text;
}

/* --- lines that both formats have ------------------------------------------------------------- */

/* "CfC, unrolled over 16 steps" */
static void form_text(struct assay__buf *out, const struct assay__cell_info *cell)
{
    assay__buf_printf(out, "%s, ", cell->kind);
    if (strcmp(cell->form, "step") == 0)
        assay__buf_puts(out, "one step");
    else
        assay__buf_printf(out, "%s over %" PRId64 " step%s",
                          strcmp(cell->form, "scan") == 0 ? "a Scan" : cell->form, cell->steps,
                          cell->steps == 1 ? "" : "s");
}

static void per_step_text(struct assay__buf *out, const struct assay__ncp_groups *g)
{
    char text[64];
    if (g->cell->steps == 1)
        assay__page_item(out, "%s: one inference is one step", derived_ns(text, g->per_step_ns));
    else
        assay__page_item(out, "%s of the latency (latency.p50 / %" PRId64 ")",
                         derived_ns(text, g->per_step_ns), g->cell->steps);
    if (isfinite(g->scan_step_ns))
        assay__page_item(out, "%s of the Scan (its time / %" PRId64 ")",
                         derived_ns(text, g->scan_step_ns), g->cell->steps);
}

static void by_layers_text(struct assay__buf *out, const struct assay__ncp_groups *g)
{
    char a[64], b[64], c[64];
    if (isfinite(g->first_ns))
        assay__page_item(out, g->cell->steps == 1 ? "the step %s" : "first %s",
                         derived_ns(a, g->first_ns));
    if (g->cell->steps == 2 && isfinite(g->median_ns))
        assay__page_item(out, "the second %s", derived_ns(a, g->median_ns));
    else if (isfinite(g->median_ns))
        assay__page_item(out, "each later one %s at the median, %s to %s",
                         derived_ns(a, g->median_ns), derived_ns(b, g->min_ns),
                         derived_ns(c, g->max_ns));
    for (size_t i = 0; i < g->step_count; i++) {
        const struct assay__part *row = &g->steps[i];
        if (row->kind != ASSAY__PART_SHARED && row->kind != ASSAY__PART_OUTSIDE &&
            row->kind != ASSAY__PART_ADDED)
            continue;
        assay__page_item(out, "%s %s", row->name, derived_ns(a, row->time_ns));
    }
}

static void floor_text(struct assay__buf *out, const struct assay__ncp_groups *g)
{
    char text[64];
    if (!isfinite(g->floor_share)) return;
    assay__buf_printf(
        out,
        "at most =%.1f %% of the latency is the cost of calling layers, whatever they "
        "compute: %zu × what the fastest takes (%s), and engine per run",
        g->floor_share * 100, g->timed, derived_ns(text, g->floor_ns));
}

static void flops_text(char text[64], const struct assay__part *row)
{
    char number[60];
    if (!isfinite(row->flops)) {
        snprintf(text, 64, "—");
        return;
    }
    assay__text_scaled(number, sizeof number, row->flops, "FLOP");
    snprintf(text, 64, "%s%s", assay__render_mark(row->flops_state), number);
}

static void share_text(char text[64], double share)
{
    if (isfinite(share))
        snprintf(text, 64, fabs(share) < 0.9995 ? "%.1f %%" : "%.0f %%", share * 100);
    else
        snprintf(text, 64, "—");
}

/* Not engine and unattributed: those have no layers and no FLOPs. */
static bool has_work(const struct assay__part *row)
{
    return row->kind <= ASSAY__PART_ADDED;
}

static void time_text(char text[64], double time_ns, const char *mark)
{
    char number[60];
    assay__text_scaled(number, sizeof number, time_ns / 1e9, "s");
    snprintf(text, 64, "%s%s", isfinite(time_ns) ? mark : "", number);
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_head(struct assay__page *page, int name, bool wide)
{
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__page_fit(page, "  group", name + 2, 0);
    if (wide) assay__page_right(page, "layers", LAYERS_COLUMNS);
    assay__page_right(page, "time", TIME_COLUMNS);
    assay__page_right(page, "share", SHARE_COLUMNS);
    if (wide) assay__page_right(page, "FLOPs", FLOPS_COLUMNS);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

static void put_row(struct assay__page *page, int name, bool wide, bool timed,
                    const struct assay__part *row)
{
    char text[64];
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, row->name, name, 0);
    snprintf(text, sizeof text, "%zu", row->layers);
    if (wide) assay__page_right(page, has_work(row) && timed ? text : "", LAYERS_COLUMNS);
    time_text(text, row->time_ns, assay__render_mark(row->state));
    assay__page_right(page, text, TIME_COLUMNS);
    share_text(text, row->share);
    assay__page_right(page, text, SHARE_COLUMNS);
    flops_text(text, row);
    if (wide && has_work(row)) assay__page_right(page, text, FLOPS_COLUMNS);
    assay__buf_putc(page->out, '\n');
}

static void put_total(struct assay__page *page, int name, bool wide,
                      const struct assay__trial *trial)
{
    char text[64];
    const char *mark = "";
    double total = assay__render_layer_total(trial, &mark);
    assay__page_style(page, ASSAY__STYLE_BOLD);
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, "total (the unprofiled median)", name, 0);
    if (wide) assay__page_right(page, "", LAYERS_COLUMNS);
    time_text(text, total, mark);
    assay__page_right(page, text, TIME_COLUMNS);
    assay__page_right(page, isfinite(total) ? "100 %" : "—", SHARE_COLUMNS);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

/* The same note once for all rows that have it. */
static void put_notes(struct assay__page *page, const struct assay__ncp_groups *g)
{
    for (size_t i = 0; i < g->group_count; i++) {
        struct assay__buf text = {0};
        const char *note = g->groups[i].note;
        bool said = !*note;
        for (size_t k = 0; k < i && !said; k++)
            said = strcmp(g->groups[k].note, note) == 0;
        if (said) continue;
        for (size_t k = i; k < g->group_count; k++)
            if (strcmp(g->groups[k].note, note) == 0)
                assay__buf_printf(&text, "%s%s", text.length ? ", " : "", g->groups[k].name);
        assay__buf_printf(&text, ": %s", note);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  — ", text.data ? text.data : "");
        if (text.failed) page->out->failed = true;
        assay__buf_free(&text);
    }
    if (*g->note) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", g->note);
}

static void put_line(struct assay__page *page, const char *label, struct assay__buf *text)
{
    if (text->length) assay__page_row(page, label, text->data);
    if (text->failed) page->out->failed = true;
    assay__buf_clear(text);
}

static void put_fault(struct assay__page *page, const struct assay__cell_info *cell)
{
    if (!cell->fault || !cell->fault[0]) return;
    assay__page_heading(page, "Time steps and neuron groups", "");
    assay__page_wrap(page, ASSAY__STYLE_WARN, "  — ", cell->fault);
}

void assay__page_ncp_groups(struct assay__page *page, const struct assay_profile *profile,
                            const struct assay__trial *trial)
{
    struct assay__ncp_groups *g = NULL;
    put_fault(page, &profile->models[0]->cell);
    if (assay__ncp_groups_make(profile, trial, &g)) page->out->failed = true;
    if (!g) return;
    struct assay__buf text = {0};
    bool wide = page->columns >= 72;
    int name = page->columns - 2 - TIME_COLUMNS - SHARE_COLUMNS -
               (wide ? LAYERS_COLUMNS + FLOPS_COLUMNS : 0);
    if (name > 40) name = 40;
    form_text(&text, g->cell);
    assay__page_heading(page, "Time steps and neuron groups", text.data ? text.data : "");
    assay__buf_clear(&text);
    per_step_text(&text, g);
    put_line(page, "per step", &text);
    by_layers_text(&text, g);
    put_line(page, "by layers", &text);
    floor_text(&text, g);
    put_line(page, "calling", &text);
    assay__buf_free(&text);
    if (g->group_count) put_head(page, name, wide);
    for (size_t i = 0; i < g->group_count; i++)
        put_row(page, name, wide, g->layers > 0, &g->groups[i]);
    if (g->layers) put_total(page, name, wide, trial);
    put_notes(page, g);
    assay__ncp_groups_free(g);
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void markdown_line(struct assay__buf *out, const char *label, struct assay__buf *text)
{
    if (text->length) {
        assay__buf_printf(out, "- %s: ", label);
        assay__markdown_text(out, text->data);
        assay__buf_putc(out, '\n');
    }
    if (text->failed) out->failed = true;
    assay__buf_clear(text);
}

static void markdown_row(struct assay__buf *out, const struct assay__part *row)
{
    char time[64], share[64], flops[64];
    time_text(time, row->time_ns, assay__render_mark(row->state));
    share_text(share, row->share);
    flops_text(flops, row);
    assay__buf_puts(out, "| ");
    assay__markdown_text(out, row->name);
    if (has_work(row))
        assay__buf_printf(out, " | %zu", row->layers);
    else
        assay__buf_puts(out, " | ");
    assay__buf_printf(out, " | %s | %s | ", time, share);
    assay__markdown_text(out, has_work(row) ? flops : "");
    assay__buf_printf(out, " | %s | ", assay_state_name(row->state));
    assay__markdown_text(out, row->note);
    assay__buf_puts(out, " |\n");
}

void assay__markdown_ncp_groups(struct assay__buf *out, const struct assay_profile *profile,
                                const struct assay__trial *trial)
{
    struct assay__ncp_groups *g = NULL;
    const char *fault = profile->models[0]->cell.fault;
    bool faulty = fault && fault[0];
    if (assay__ncp_groups_make(profile, trial, &g)) out->failed = true;
    if (g || faulty) assay__buf_puts(out, "\n### Time steps and neuron groups\n\n");
    if (faulty) {
        assay__markdown_text(out, fault);
        assay__buf_putc(out, '\n');
    }
    if (!g) return;
    struct assay__buf text = {0};
    form_text(&text, g->cell);
    markdown_line(out, "form", &text);
    per_step_text(&text, g);
    markdown_line(out, "per step", &text);
    by_layers_text(&text, g);
    markdown_line(out, "by layers", &text);
    floor_text(&text, g);
    markdown_line(out, "calling", &text);
    assay__buf_puts(out, "\n| group | layers | time | share | FLOPs | state | note |\n"
                         "|---|--:|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < g->group_count; i++)
        markdown_row(out, &g->groups[i]);
    if (*g->note) {
        assay__buf_putc(out, '\n');
        assay__markdown_text(out, g->note);
        assay__buf_putc(out, '\n');
    }
    assay__buf_free(&text);
    assay__ncp_groups_free(g);
}
