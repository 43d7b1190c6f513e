/* view_plain.c - a view as text for logs: one line per tick, several at the end. Derived values are
 * marked with '=', unknown ones are "—". A line has the rows that matter; one that nothing here
 * measures is only in the summary, with the reason. */
#include "monitor/view.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

#define PROCESSES_SHOWN 8

static void put_value(struct assay__buf *out, double value, const char *unit, bool derived)
{
    if (derived && !isnan(value)) assay__buf_putc(out, '=');
    assay__text_put_scaled(out, value, unit);
}

static void put_processes(const struct assay__view *view, struct assay__buf *out)
{
    size_t shown = view->process_count < PROCESSES_SHOWN ? view->process_count : PROCESSES_SHOWN;
    if (!view->has_tree) return;
    for (size_t i = 0; i < shown; i++) {
        const struct assay__process *process = &view->processes[i];
        assay__buf_puts(out, "  ");
        assay__text_safe(out, process->name);
        assay__buf_printf(out, "[%ld] ", (long)process->pid);
        put_value(out, process->share, "ratio", true);
        assay__buf_putc(out, ' ');
        assay__text_put_scaled(out, process->memory_bytes, "B");
    }
    if (shown < view->process_count) {
        double rest = 0;
        for (size_t i = shown; i < view->process_count; i++)
            rest += view->processes[i].share;
        assay__buf_printf(out, "  %zu more ", view->process_count - shown);
        put_value(out, rest, "ratio", true);
    }
    if (*view->tree_reason) assay__buf_printf(out, "  %s", view->tree_reason);
    assay__buf_puts(out, "  other ");
    put_value(out, view->tree_other, "ratio", true);
    assay__buf_puts(out, "  total ");
    put_value(out, view->tree_total, "ratio", true);
}

static void put_model(const struct assay__view *view, struct assay__buf *out)
{
    const struct assay__shown_model *model = &view->model;
    if (!model->name) return;
    assay__buf_puts(out, "  ");
    assay__text_safe(out, model->name);
    assay__buf_printf(out, " on %s %s", model->device, model->state);
    if (*model->reason) assay__buf_puts(out, ": ");
    assay__text_safe(out, model->reason);
}

/* Only what is not met: "  not met: latency p99 25.0 ms, at most 20.0 ms". */
static void put_requirements(const struct assay__view *view, struct assay__buf *out)
{
    for (size_t i = 0; i < view->requirement_count; i++) {
        const struct assay__shown_requirement *row = &view->requirements[i];
        if (row->state != ASSAY__REQUIRE_NOT_MET) continue;
        assay__buf_printf(out, "  not met: %s %s, %s %s", row->info->label,
                          assay__scaled(row->value, row->info->unit).text,
                          row->info->floor ? "at least" : "at most",
                          assay__scaled(row->minimum, row->info->unit).text);
    }
}

void assay__view_plain(const struct assay__view *view, struct assay__buf *out)
{
    assay__buf_puts(out, *view->time ? view->time : "—");
    put_model(view, out);
    put_requirements(view, out);
    for (size_t i = 0; i < view->row_count; i++) {
        const struct assay__shown *shown = &view->rows[i];
        if (shown->row->rank != ASSAY__ROW_HEADLINE ||
            (!shown->row->sensor_count && !shown->row->given))
            continue;
        assay__buf_printf(out, "  %s ", shown->row->name);
        put_value(out, shown->value, shown->row->unit, shown->state == ASSAY_DERIVED);
    }
    put_processes(view, out);
    assay__buf_puts(out, "  assay ");
    assay__text_put_scaled(out, view->cost.share, "ratio");
    assay__buf_puts(out, " of a core\n");
}

static void put_padded(struct assay__buf *out, double value, const char *unit)
{
    struct assay__digits digits = assay__scaled(value, unit);
    size_t width = assay__text_width(digits.text);
    assay__buf_repeat(out, " ", width < 12 ? 12 - width : 1);
    assay__buf_puts(out, digits.text);
}

void assay__view_plain_summary(const struct assay__view *view, struct assay__buf *out)
{
    double seconds = (double)(view->now_ns - view->began_ns) * 1e-9;
    bool missing = false;
    assay__buf_printf(out, "\n%s, %llu readings of the sensors\n", assay__scaled(seconds, "s").text,
                      (unsigned long long)view->ticks);
    assay__buf_printf(out, "%-40s %12s%12s%12s\n", "", "min", "mean", "max");
    for (size_t i = 0; i < view->row_count; i++) {
        const struct assay__shown *shown = &view->rows[i];
        missing |= !shown->count;
        if (!shown->count) continue;
        assay__buf_printf(out, "%-40s ", shown->row->name);
        put_padded(out, shown->least, shown->row->unit);
        put_padded(out, shown->mean, shown->row->unit);
        put_padded(out, shown->greatest, shown->row->unit);
        if (!isnan(shown->energy_j)) assay__buf_puts(out, "  ");
        if (!isnan(shown->energy_j)) assay__text_put_scaled(out, shown->energy_j, "J");
        assay__buf_putc(out, '\n');
    }
    if (missing) assay__buf_puts(out, "\nNot available:\n");
    for (size_t i = 0; i < view->row_count; i++)
        if (!view->rows[i].count)
            assay__buf_printf(out, "  %s: %s\n", view->rows[i].row->name, view->rows[i].note);
    assay__buf_puts(out, "\nassay's own cost: reading the sensors took ");
    assay__text_put_scaled(out, view->cost.sensors_share, "ratio");
    assay__buf_printf(out, " of a core, the history %s",
                      assay__scaled((double)view->cost.history_bytes, "B").text);
    if (view->cost.late)
        assay__buf_printf(out, "; %llu readings were skipped because others took too long",
                          (unsigned long long)view->cost.late);
    assay__buf_puts(out, "\n");
}
