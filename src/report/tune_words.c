/* tune_words.c - see tune_words.h. */
#include "report/tune_words.h"

#include "judge/tune_report.h"
#include "base/text.h"
#include "report/render.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The result in a fresh arena; NULL: not a tuning, or out of memory (which `out` then says). */
static struct assay__arena *judge(const struct assay_profile *profile,
                                  struct assay__tune_result *result, struct assay__buf *out)
{
    if (profile->kind != ASSAY__PROFILE_TUNE) return NULL;
    struct assay__arena *arena = assay__arena_new();
    if (arena && assay__tune_result(profile, arena, result) == 0) return arena;
    out->failed = true;
    assay__arena_free(arena);
    return NULL;
}

static const char *fate_of(const struct assay__tune_row *row)
{
    static const char *const fates[] = {"failed", "dropped", "ablation", "finalist"};
    return fates[row->fate];
}

static const char *mark_of(const struct assay__tune_result *result, size_t i)
{
    return i == result->best           ? "best"
           : result->rows[i].alike     ? "not apart"
           : i == result->start        ? "start"
           : !result->rows[i].launches ? "failed"
                                       : "";
}

void assay__csv_tune(const struct assay_profile *profile, struct assay__buf *out)
{
    struct assay__tune_result result;
    struct assay__arena *arena = judge(profile, &result, out);
    for (size_t i = 0; arena && i < result.count; i++) {
        const struct assay__tune_row *row = &result.rows[i];
        bool tested = isfinite(row->ratio.ratio) && row->ratio.ci.known;
        assay__buf_printf(out, "%d", profile->trials[row->trial].id);
        assay__csv_next_text(out, row->label);
        assay__csv_next_text(out, fate_of(row));
        assay__buf_printf(out, ",%zu", row->launches);
        assay__csv_next_number(out, row->latency_s);
        assay__csv_next_number(out, row->throughput);
        assay__csv_next_number(out, row->memory_bytes);
        assay__csv_next_number(out, row->energy_j);
        assay__csv_next_number(out, row->drift);
        assay__csv_next_number(out, row->ratio.ratio);
        assay__csv_next_number(out, tested ? row->ratio.ci.low : (double)NAN);
        assay__csv_next_number(out, tested ? row->ratio.ci.high : (double)NAN);
        assay__csv_next_text(out, mark_of(&result, i));
        assay__csv_next_text(out, row->front ? "yes" : "no");
        assay__csv_next_text(out, row->fate == ASSAY__FATE_FAILED ? "failed"
                                  : row->allowed                  ? "ok"
                                                                  : "not advised");
        assay__csv_next_text(out, row->reason);
        assay__buf_putc(out, '\n');
    }
    assay__arena_free(arena);
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void put_scaled(struct assay__buf *out, double value, enum assay_state state,
                       const char *unit)
{
    char scaled[64] = "—";
    if (isfinite(value)) assay__text_scaled(scaled, sizeof scaled, value, unit);
    assay__buf_printf(out, " %s%s |", isfinite(value) ? assay__markdown_mark(state) : "", scaled);
}

static void put_rows(struct assay__buf *out, const struct assay_profile *profile,
                     const struct assay__tune_result *result)
{
    assay__buf_puts(out,
                    "| configuration | p50 | throughput | memory | energy (gross) | launches | |\n"
                    "|---|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < result->count; i++) {
        const struct assay__tune_row *row = &result->rows[i];
        const char *mark = row->allowed ? mark_of(result, i) : row->reason;
        assay__buf_puts(out, "| ");
        assay__markdown_text(out, row->label);
        assay__buf_puts(out, " |");
        const struct assay_metric *energy = assay__trial_metric(&profile->trials[row->trial],
                                                                "energy.inference.gross");
        put_scaled(out, row->latency_s, row->latency_state, "s");
        put_scaled(out, row->throughput, row->throughput_state, "1/s");
        put_scaled(out, row->memory_bytes, row->memory_state, "B");
        put_scaled(out, row->energy_j, energy ? energy->state : ASSAY_DERIVED, "J");
        assay__buf_printf(out, " %zu | ", row->launches);
        assay__markdown_text(out, mark);
        if (row->front) assay__buf_puts(out, *mark ? ", front" : "front");
        assay__buf_puts(out, " |\n");
    }
}

static void put_parts(struct assay__buf *out, const struct assay__tune_result *result)
{
    for (size_t i = 0; i < result->part_count; i++) {
        const struct assay__tune_part *part = &result->parts[i];
        assay__buf_puts(out, "- ");
        assay__markdown_text(out, assay__axis_name(part->axis));
        assay__buf_puts(out, " ");
        assay__markdown_text(out, part->from);
        assay__buf_puts(out, " → ");
        assay__markdown_text(out, part->to);
        assay__buf_puts(out, ": set back alone, ");
        if (!isfinite(part->factor))
            assay__buf_puts(out, "not known");
        else if (part->measured && part->ratio.ci.known)
            assay__buf_printf(out, "%s × the cost (95 %%: %s%s; measured)",
                              assay__digits(part->factor, 3).text,
                              assay__digits_range(part->ratio.ci.low, part->ratio.ci.high).text,
                              part->ratio.p_value < 0.05 ? "" : ", no difference shown");
        else
            assay__buf_printf(out, "\\~%s × the cost (the search's model, not measured)",
                              assay__digits(part->factor, 3).text);
        assay__buf_putc(out, '\n');
    }
}

/* As an indented block: no fence can be closed from inside it. The text has no control characters
 * but its line ends. */
static void put_code(struct assay__buf *out, const char *text)
{
    assay__buf_puts(out, "\nThe best configuration, ready to use:\n\n");
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        struct assay__buf line = {0};
        assay__buf_add(&line, at, length);
        assay__buf_puts(out, "    ");
        assay__text_safe(out, line.data ? line.data : "");
        assay__buf_putc(out, '\n');
        if (line.failed) out->failed = true;
        assay__buf_free(&line);
        at += length;
        at += *at == '\n';
    }
}

void assay__markdown_tune(struct assay__buf *out, const struct assay_profile *profile)
{
    struct assay__tune_result result;
    struct assay__arena *arena = judge(profile, &result, out);
    if (!arena) return;
    assay__buf_puts(out, "\n### Tune\n\n");
    put_rows(out, profile, &result);
    assay__buf_puts(out, "\n- best: ");
    assay__markdown_text(out, result.best != SIZE_MAX ? result.rows[result.best].label : "none");
    assay__buf_puts(out, "\n- ");
    assay__markdown_text(out, result.why);
    assay__buf_putc(out, '\n');
    if (*result.unconfirmed) {
        assay__buf_puts(out, "- ");
        assay__markdown_text(out, result.unconfirmed);
        assay__buf_putc(out, '\n');
    }
    put_parts(out, &result);
    assay__buf_printf(
        out, "- tried: %zu of %zu configurations, %zu launches to choose, %zu to judge\n",
        result.configurations, result.grid, result.search_launches, result.final_launches);
    if (result.best != SIZE_MAX) {
        const char *text = assay__tune_snippet(profile, &result, "python", arena);
        if (text)
            put_code(out, text);
        else
            out->failed = true;
    }
    assay__arena_free(arena);
}
