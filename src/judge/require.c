/* require.c - a trial judged by a requirement table: a pure function of the profile. An unknown
 * metric does not count against the trial: its verdict is "unavailable", with the metric's
 * reason. */
#include "judge/require.h"

#include "judge/require_advice.h"
#include "base/metric_value.h"
#include "base/text.h"
#include "cost/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *assay__require_state_name(enum assay__require_state state)
{
    static const char *const names[] = {"none", "pass", "fail", "unavailable"};
    return names[state];
}

/* --- one row ---------------------------------------------------------------------------------- */

static const struct assay_metric *measured_of(const struct assay__trial *trial,
                                              enum assay__require_kind kind)
{
    if (kind == ASSAY__REQUIRE_MEMORY)
        return assay__peak_memory(trial->metrics, assay__trial_on_cpu(trial));
    return assay_metrics_get(trial->metrics, assay__require_info(kind)->metric);
}

static enum assay__require_state state_of(const struct assay__requirement *row, double required,
                                          double ratio)
{
    if (!isfinite(required)) return ASSAY__REQUIRE_NONE;
    if (!isfinite(ratio)) return ASSAY__REQUIRE_UNKNOWN;
    bool met = row->info->floor ? ratio >= 1 : ratio <= 1;
    return met ? ASSAY__REQUIRE_MET : ASSAY__REQUIRE_NOT_MET;
}

/* Rates are work / p50, so they have p50's interval. */
static bool too_close(const struct assay__trial *trial, const struct assay__requirement *row,
                      double required)
{
    double p50 = assay__trial_value(trial, "latency.p50");
    struct assay__median_interval interval = assay__trial_interval(trial);
    double low = interval.low_s, high = interval.high_s;
    if (!(low > 0)) return false;
    if (row->kind == ASSAY__REQUIRE_TFLOPS || row->kind == ASSAY__REQUIRE_BANDWIDTH)
        return row->value * p50 / high <= required && required <= row->value * p50 / low;
    return row->kind == ASSAY__REQUIRE_P50 && low <= required && required <= high;
}

/* What no program can reach: a requirement above the published peak of the table's chip, or a rate
 * above the measured peak of this device. Not for bandwidth here: a model's bytes may come from
 * caches. */
static void judge_reach(const struct assay__require_evidence *evidence,
                        struct assay__requirement *row, struct assay__arena *arena)
{
    const struct assay__chip *chip = evidence->table->chip;
    const char *unit = row->info->unit;
    const double peaks[] = {chip ? assay__require_peak(chip, row->kind) : NAN,
                            row->kind == ASSAY__REQUIRE_TFLOPS ? evidence->ceiling : NAN};
    const char *names[2] = {"", ""};
    row->minimum_unreachable = row->minimum > peaks[0];
    row->minimum_beyond = row->minimum > peaks[1];
    for (int i = 0; i < 2; i++) {
        bool minimum = row->minimum > peaks[i];
        double required = minimum ? row->minimum : row->target;
        if (required > peaks[i])
            names[i] = assay__arena_text(arena, "the %s of %s", minimum ? "minimum" : "target",
                                         assay__scaled(required, unit).text);
    }
    row->unreachable = row->beyond = "";
    if (*names[0])
        row->unreachable = assay__arena_text(
            arena, "%s is unreachable: above the published peak of %s's %s, %s%s", names[0],
            chip->name, row->kind == ASSAY__REQUIRE_TFLOPS ? "GPU (float32)" : "memory",
            assay__scaled(peaks[0], unit).text,
            row->value > peaks[0] ? " (exceeded here: another device, or caches)" : "");
    if (*names[1])
        row->beyond = assay__arena_text(
            arena, "%s is out of reach here: the measured peak of %s is %s", names[1],
            evidence->trial->target.device, assay__scaled(peaks[1], unit).text);
}

/* How far the value is from the requirement; a floor must be reached, a budget must not be
 * exceeded. */
static enum assay__require_level level_of(const struct assay__requirement *row)
{
    double minimum = row->minimum_ratio, target = row->target_ratio; /* NaN: nothing is required */
    if (row->info->floor) {
        if (minimum < ASSAY__REQUIRE_LOW) return ASSAY__REQUIRE_TO_MINIMUM;
        if (target < ASSAY__REQUIRE_LOW) return ASSAY__REQUIRE_TO_TARGET;
        return ASSAY__REQUIRE_FINE;
    }
    if (minimum > 1) return ASSAY__REQUIRE_TO_MINIMUM;
    if (target > 1) return ASSAY__REQUIRE_TO_TARGET;
    bool close = minimum > ASSAY__REQUIRE_LOW || target > ASSAY__REQUIRE_LOW;
    return close ? ASSAY__REQUIRE_WARN : ASSAY__REQUIRE_FINE;
}

static struct assay__requirement judge_row(const struct assay__require_evidence *evidence,
                                           enum assay__require_kind kind,
                                           struct assay__arena *arena)
{
    struct assay__requirement row = {.kind = kind,
                                     .info = assay__require_info(kind),
                                     .measured = measured_of(evidence->trial, kind),
                                     .minimum = evidence->table->minimum[kind],
                                     .target = evidence->table->target[kind],
                                     .reason = "",
                                     .note = "",
                                     .advice = "",
                                     .advice_limit = ""};
    const struct assay_metric *m = row.measured;
    row.value = assay__metric_is_known(m) ? m->value : NAN;
    row.minimum_ratio = row.value / row.minimum;
    row.target_ratio = row.value / row.target;
    row.minimum_state = state_of(&row, row.minimum, row.minimum_ratio);
    row.target_state = state_of(&row, row.target, row.target_ratio);
    row.level = level_of(&row);
    judge_reach(evidence, &row, arena);
    bool near_minimum = too_close(evidence->trial, &row, row.minimum);
    if (!isfinite(row.value))
        row.reason = assay__arena_text(arena, "%s: %s", m ? m->name : row.info->metric,
                                       m && m->note && *m->note ? m->note : "it was not measured");
    else if (near_minimum || too_close(evidence->trial, &row, row.target))
        row.note = assay__arena_text(
            arena, "the %s lies within the 95 %% interval of the measurement: too close to call",
            near_minimum ? "minimum" : "target");
    if (row.level != ASSAY__REQUIRE_FINE) row.advice = assay__require_advice(evidence, &row, arena);
    return row;
}

/* --- all of them ------------------------------------------------------------------------------ */

static enum assay__require_state worse(enum assay__require_state a, enum assay__require_state b)
{
    static const int order[] = {0, 1, 3, 2}; /* none, met, not met, unknown */
    return order[a] >= order[b] ? a : b;
}

int assay__require_judge(const struct assay_profile *profile, const struct assay__trial *trial,
                         const struct assay__require_table *table, struct assay__arena *arena,
                         struct assay__judgement *out)
{
    struct assay__require_evidence evidence;
    *out = (struct assay__judgement){.table = table};
    int code = assay__require_evidence(profile, trial, table, arena, &evidence);
    for (int i = 0; i < ASSAY__REQUIRE_COUNT && code == 0; i++) {
        if (!isfinite(table->minimum[i]) && !isfinite(table->target[i])) continue;
        struct assay__requirement *row = &out->rows[out->count++];
        *row = judge_row(&evidence, (enum assay__require_kind)i, arena);
        out->minimum = worse(out->minimum, row->minimum_state);
        out->target = worse(out->target, row->target_state);
    }
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : code;
}

int assay__require_of(const struct assay__trial *trial, struct assay__arena *arena,
                      const struct assay__require_table **out)
{
    const struct assay__requirements *kept = trial->required;
    const struct assay__chip *chip = kept && *kept->chip ? assay__chip_find(kept->chip, NULL)
                                                         : NULL;
    *out = NULL;
    if (!kept || (*kept->chip && !chip)) return 0; /* profiles are untrusted */
    struct assay__require_table *table = assay__arena_alloc(arena, sizeof *table);
    if (!table) return ASSAY_ENOMEM;
    *table = (struct assay__require_table){.name = kept->name,
                                           .origin = kept->name,
                                           .chip = chip,
                                           .batch = kept->batch,
                                           .backbone_units = kept->backbone_units};
    memcpy(table->minimum, kept->minimum, sizeof table->minimum);
    memcpy(table->target, kept->target, sizeof table->target);
    *out = table;
    return 0;
}

/* --- stored with the trial -------------------------------------------------------------------- */

/* Stored as typed fields, and in one line as an option. */
int assay__require_apply(struct assay_profile *profile, struct assay__trial *trial,
                         const struct assay__require_table *table)
{
    struct assay__arena *arena = profile->arena;
    struct assay__requirements *kept = assay__arena_alloc(arena, sizeof *kept);
    if (!kept) return ASSAY_ENOMEM;
    *kept = (struct assay__requirements){
        .name = assay__arena_text(arena, "%s", table->name),
        .chip = assay__arena_text(arena, "%s", table->chip ? table->chip->name : ""),
        .batch = table->batch,
        .backbone_units = table->backbone_units};
    memcpy(kept->minimum, table->minimum, sizeof kept->minimum);
    memcpy(kept->target, table->target, sizeof kept->target);
    trial->required = kept;
    int code = assay__trial_set_option(profile, trial, "require",
                                       assay__require_text(arena, table));
    for (int i = 0; i < ASSAY__REQUIRE_COUNT && code == 0; i++) {
        const struct assay__require_info *info = assay__require_info((enum assay__require_kind)i);
        const struct assay_metric *measured = measured_of(trial, (enum assay__require_kind)i);
        struct assay_metric required = {"required",      table->minimum[i], info->unit,
                                        ASSAY_PUBLISHED, table->name,       ""};
        char text[200];
        if (!info->share) continue;
        if (isfinite(table->minimum[i])) {
            snprintf(text, sizeof text, "%s / %s, the minimum of '%.64s'",
                     measured ? measured->name : info->metric,
                     assay__scaled(table->minimum[i], info->unit).text, table->name);
            assay_metrics_ratio(trial->metrics, info->share, measured, &required, text);
        } else {
            snprintf(text, sizeof text, "the requirement table '%.64s' has no %s of %s",
                     table->name, info->floor ? "minimum" : "budget", info->label);
            assay_metrics_unavailable(trial->metrics, info->share, text);
        }
    }
    return code ? code : assay_metrics_failed(trial->metrics);
}
