/* sweep_words.c - see sweep_words.h; and the points as CSV and Markdown. */
#include "report/sweep_words.h"

#include "base/text.h"
#include "report/parts.h"
#include "report/render.h"
#include "run/builds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *assay__sweep_gap(const struct assay_profile *profile, const struct assay__sweep *sweep,
                             enum assay__sweep_column column)
{
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *p = &sweep->points[i];
        const struct assay__trial *trial = &profile->trials[p->trial];
        if (!p->usable || isfinite(assay__sweep_value(p, column))) continue;
        const struct assay_metric *m =
            trial->metrics ? assay_metrics_get(trial->metrics, assay__sweep_metric(column)) : NULL;
        return m && m->note && *m->note ? m->note : "not known of this capture";
    }
    return NULL;
}

enum assay_state assay__sweep_state(const struct assay_profile *profile,
                                    const struct assay__sweep_point *point,
                                    enum assay__sweep_column column)
{
    const struct assay_metrics *metrics = profile->trials[point->trial].metrics;
    const struct assay_metric *m = metrics && column == ASSAY__SWEEP_RATE
                                       ? assay_metrics_get(metrics, "throughput.samples")
                                       : NULL;
    if (metrics && (!m || m->state == ASSAY_UNAVAILABLE))
        m = assay_metrics_get(metrics, assay__sweep_metric(column));
    return m ? m->state : ASSAY_UNAVAILABLE;
}

const char *assay__sweep_help(const struct assay_profile *profile, enum assay__sweep_column column)
{
    if (column == ASSAY__SWEEP_JOULES && profile->trials[0].power.gap == ASSAY__POWER_UNREAD)
        return "--power reads what sensors there are";
    if (column == ASSAY__SWEEP_UTILIZATION && !profile->ceiling_count)
        return "--ceilings measures it";
    return "";
}

const char *assay__sweep_compiled(const struct assay__sweep *sweep, size_t point)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_OPT);
    if (axis == SIZE_MAX) return "yes";
    return strcmp(sweep->points[point].values[axis], "none") == 0 ? "no" : "yes";
}

const char *assay__sweep_accelerated(const struct assay__sweep_point *point)
{
    if (!point->device_class) return !*point->device || !point->usable ? "?" : "yes";
    return point->device_class == ASSAY__CLASS_CPU ? "no" : "yes";
}

struct assay__sweep_text assay__sweep_rest(const struct assay__sweep *sweep, size_t point)
{
    struct assay__sweep_text rest = {""};
    for (size_t a = 0; a < sweep->axis_count; a++) {
        size_t used = strlen(rest.text);
        const char *value = sweep->points[point].values[a];
        if (sweep->axes[a] == ASSAY__AXIS_DEVICE)
            snprintf(rest.text + used, sizeof rest.text - used, "%s%s", used ? " " : "", value);
        else if (sweep->axes[a] != ASSAY__AXIS_OPT ||
                 (strcmp(value, "none") != 0 && strcmp(value, "all") != 0))
            snprintf(rest.text + used, sizeof rest.text - used, "%s%s=%s", used ? " " : "",
                     assay__axis_name(sweep->axes[a]), value);
    }
    return rest;
}

void assay__sweep_alike(struct assay__buf *out, const struct assay__sweep *sweep)
{
    for (size_t i = 0; i < sweep->alike_count; i++)
        assay__buf_printf(out, "%s%s", i ? ", " : "", sweep->points[sweep->alike[i]].label);
    if (!sweep->alike_count) return;
    assay__buf_puts(out, ": not told from the best, their launches overlap");
    if (!sweep->confirmation.asked)
        assay__buf_puts(out, " (--confirm tests the best two, --launches 10 all)");
}

void assay__sweep_pairs(struct assay__buf *out, const struct assay__sweep *sweep)
{
    enum { SHOWN = 12 };
    size_t others = 0;
    for (size_t i = 0; i < sweep->pair_count; i++) {
        const struct assay__sweep_pair *pair = &sweep->pairs[i];
        if (pair->a == sweep->best || pair->b == sweep->best || others++ >= SHOWN) continue;
        assay__buf_printf(out, "%s%s and %s", others > 1 ? "; " : "", sweep->points[pair->a].label,
                          sweep->points[pair->b].label);
    }
    if (others > SHOWN) assay__buf_printf(out, "; and %zu more pairs", others - SHOWN);
}

/* --- formats ---------------------------------------------------------------------------------- */

static struct assay__arena *judge(const struct assay_profile *profile, struct assay__sweep *sweep,
                                  struct assay__buf *out)
{
    struct assay__arena *arena = profile->kind == ASSAY__PROFILE_SWEEP ? assay__arena_new() : NULL;
    if (profile->kind != ASSAY__PROFILE_SWEEP) return NULL;
    if (arena && assay__sweep(profile, arena, sweep) == 0) return arena;
    out->failed = true;
    assay__arena_free(arena);
    return NULL;
}

static const char *mark_of(const struct assay__sweep *sweep, size_t i)
{
    return i == sweep->best && i == sweep->knee ? "best knee"
           : i == sweep->best                   ? "best"
           : i == sweep->knee                   ? "knee"
                                                : "";
}

void assay__csv_sweep(const struct assay_profile *profile, struct assay__buf *out)
{
    struct assay__sweep sweep;
    struct assay__arena *arena = judge(profile, &sweep, out);
    for (size_t i = 0; arena && i < sweep.count; i++) {
        const struct assay__sweep_point *p = &sweep.points[i];
        assay__buf_printf(out, "%d", profile->trials[p->trial].id);
        assay__csv_next_text(out, p->label);
        assay__csv_next_text(out, p->device);
        for (int c = 0; c < ASSAY__SWEEP_COLUMNS; c++)
            assay__csv_next_number(
                out, p->usable ? assay__sweep_value(p, (enum assay__sweep_column)c) : (double)NAN);
        assay__csv_next_number(out, p->efficiency);
        assay__csv_next_text(out, mark_of(&sweep, i));
        assay__csv_next_text(out, !p->usable  ? "failed"
                                  : p->within ? "ok"
                                  : p->sound  ? "beyond limits"
                                              : "wrong outputs");
        assay__csv_next_text(out, *p->reason ? p->reason : p->lost);
        assay__buf_putc(out, '\n');
    }
    assay__arena_free(arena);
}

static void put_item(struct assay__buf *out, const char *before, const char *text)
{
    assay__buf_printf(out, "- %s", before);
    assay__markdown_text(out, text);
    assay__buf_putc(out, '\n');
}

/* What is not told apart, beside the best. */
static void put_apart(struct assay__buf *out, const struct assay__sweep *sweep)
{
    struct assay__buf alike = {0}, pairs = {0};
    assay__sweep_alike(&alike, sweep);
    assay__sweep_pairs(&pairs, sweep);
    if (alike.length) put_item(out, "not apart: ", alike.data);
    if (pairs.length) put_item(out, alike.length ? "nor: " : "not apart: ", pairs.data);
    if (alike.failed || pairs.failed) out->failed = true;
    assay__buf_free(&alike);
    assay__buf_free(&pairs);
}

void assay__markdown_sweep(struct assay__buf *out, const struct assay_profile *profile)
{
    static const char *const units[ASSAY__SWEEP_COLUMNS] = {"s", "s",   "1/s",   "B",
                                                            "J", "B/s", "ratio", "FLOP/s"};
    struct assay__sweep sweep;
    struct assay__arena *arena = judge(profile, &sweep, out);
    if (!arena) return;
    assay__buf_puts(out,
                    "\n### Sweep\n\n| point | p50 | p99 | per second | memory | energy (gross) | "
                    "bandwidth | utilisation | FLOP/s | |\n"
                    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < sweep.count; i++) {
        const struct assay__sweep_point *p = &sweep.points[i];
        assay__buf_puts(out, "| ");
        assay__markdown_text(out, p->label);
        for (int c = 0; c < ASSAY__SWEEP_COLUMNS; c++) {
            double value = p->usable ? assay__sweep_value(p, (enum assay__sweep_column)c)
                                     : (double)NAN;
            char scaled[64];
            assay__text_scaled(scaled, sizeof scaled, value, units[c]);
            assay__buf_printf(out, " | %s%s",
                              isfinite(value) ? assay__markdown_mark(assay__sweep_state(
                                                    profile, p, (enum assay__sweep_column)c))
                                              : "",
                              scaled);
        }
        assay__buf_puts(out, " | ");
        assay__markdown_text(out, p->within ? mark_of(&sweep, i) : p->reason);
        assay__buf_puts(out, " |\n");
    }
    const char *const words[] = {sweep.why, sweep.knee_why, sweep.gain,
                                 sweep.confirmation.asked ? sweep.confirmation.why : ""};
    assay__buf_putc(out, '\n');
    for (size_t i = 0; i < sweep.count; i++) {
        if (!*sweep.points[i].lost) continue;
        assay__buf_puts(out, "- lost: ");
        assay__markdown_text(out, sweep.points[i].label);
        assay__buf_puts(out, ": ");
        assay__markdown_text(out, sweep.points[i].lost);
        assay__buf_putc(out, '\n');
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (*words[i]) put_item(out, "", words[i]);
        if (i == 0) put_apart(out, &sweep);
    }
    assay__arena_free(arena);
}
