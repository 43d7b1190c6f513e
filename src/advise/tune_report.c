/* tune_report.c - see tune_report.h.
 *
 * The best is the finalist of the least median over its own launches, of those that may be advised. Another finalist is alike when the exact rank test
 * on the launches' medians (base/stats.h) does not tell the two apart at 5 %; it needs five launches of each. */
#include "advise/tune_report.h"

#include "advise/comparison.h"
#include "advise/tune_surrogate.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct assay__ratio untested = {NAN, {NAN, NAN, false}, NAN, NAN};

const char *assay__tune_label_value(const char *label, const char *axis, struct assay__arena *arena)
{
    size_t length = strlen(axis);
    for (const char *at = label; *at;) {
        size_t word = strcspn(at, " ");
        if (word > length && at[length] == '=' && strncmp(at, axis, length) == 0)
            return assay__arena_strndup(arena, at + length + 1, word - length - 1);
        at += word;
        at += *at == ' ';
    }
    return "";
}

/* --- costs ------------------------------------------------------------------------------------ */

/* Energies of the good launches; of the trial where a sensor was too slow for one launch. */
static void read_energies(const struct assay__trial *trial, double *costs, size_t *count)
{
    size_t room = *count;
    *count = 0;
    for (size_t i = 0; i < trial->launch_count && *count < room; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        const struct assay_metric *m = launch->metrics && launch->state == ASSAY__TRIAL_OK
                                           ? assay_metrics_get(launch->metrics,
                                                               "energy.inference.gross")
                                           : NULL;
        if (m && m->state != ASSAY_UNAVAILABLE && isfinite(m->value)) costs[(*count)++] = m->value;
    }
    double whole = assay__trial_known(trial, "energy.inference.gross");
    if (!*count && room && isfinite(whole)) costs[(*count)++] = whole;
}

/* Costs of the good launches, sorted; free() them. NULL: out of memory. */
static double *costs_of(const struct assay__trial *trial, enum assay__sweep_goal goal,
                        size_t *count)
{
    double *costs = assay__trial_medians(trial, count);
    for (size_t i = 0; costs && i < *count; i++)
        if (goal == ASSAY__SWEEP_THROUGHPUT && trial->batch > 0) costs[i] /= (double)trial->batch;
    if (costs && goal == ASSAY__SWEEP_ENERGY) read_energies(trial, costs, count);
    if (costs) assay__stats_sort(costs, *count);
    return costs;
}

static int test(const struct assay_profile *profile, enum assay__sweep_goal goal, size_t best,
                size_t other, struct assay__ratio *ratio)
{
    size_t best_count = 0, count = 0;
    double *a = costs_of(&profile->trials[best], goal, &best_count),
           *b = costs_of(&profile->trials[other], goal, &count);
    int code = a && b ? 0 : ASSAY_ENOMEM;
    *ratio = untested;
    if (!code && best_count >= ASSAY__COMPARISON_LAUNCHES && count >= ASSAY__COMPARISON_LAUNCHES)
        code = assay__stats_compare(a, best_count, b, count, ratio);
    else if (!code && best_count && count)
        ratio->ratio = assay__stats_median(b, count) / assay__stats_median(a, best_count);
    free(a);
    free(b);
    return code;
}

/* --- rows ------------------------------------------------------------------------------------- */

static enum assay__tune_fate fate_of(const struct assay__trial *trial)
{
    const char *role = assay__trial_option(trial, "role");
    if (strcmp(role, "finalist") == 0) return ASSAY__FATE_FINALIST;
    return strcmp(role, "ablation") == 0 ? ASSAY__FATE_ABLATION : ASSAY__FATE_DROPPED;
}

/* Which of two trials of one label says more: finalist, then search, then ablation; a later one of the same kind when it has more launches. */
static bool says_more(const struct assay_profile *profile, size_t than, size_t trial)
{
    static const int worth[] = {0, 1, 0, 2};
    int a = worth[fate_of(&profile->trials[than])], b = worth[fate_of(&profile->trials[trial])];
    return b > a ||
           (b == a && profile->trials[trial].launch_count > profile->trials[than].launch_count);
}

static size_t good_launches(const struct assay__trial *trial)
{
    size_t good = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        good += trial->launches[i].state == ASSAY__TRIAL_OK;
    return good;
}

static int collect(const struct assay_profile *profile, struct assay__arena *arena,
                   struct assay__tune_result *out)
{
    out->rows = assay__arena_array(arena, profile->trial_count, sizeof *out->rows);
    if (!out->rows && profile->trial_count) return ASSAY_ENOMEM;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        const char *label = assay__trial_option(trial, "label");
        enum assay__tune_fate fate = fate_of(trial);
        size_t at = 0;
        while (at < out->count && strcmp(out->rows[at].label, label) != 0)
            at++;
        struct assay__tune_row *row = &out->rows[at];
        if (at == out->count) {
            *row = (struct assay__tune_row){.label = label, .trial = i, .ratio = untested};
            out->count++;
        } else if (says_more(profile, row->trial, i)) {
            row->trial = i;
        }
        const char *role = assay__trial_option(trial, "role");
        row->start = row->start || strcmp(role, "start") == 0;
        row->searched = row->searched ||
                        (fate != ASSAY__FATE_ABLATION && strcmp(role, "refused") != 0);
        out->refused += strcmp(role, "refused") == 0;
        if (fate == ASSAY__FATE_DROPPED) row->search_launches += good_launches(trial);
        *(fate == ASSAY__FATE_FINALIST   ? &out->final_launches
          : fate == ASSAY__FATE_ABLATION ? &out->ablation_launches
                                         : &out->search_launches) += trial->launch_count;
    }
    return 0;
}

static const char not_numbers[] = "its outputs are not all numbers: NaN or infinite";

/* Why a configuration that ran may not be advised; "" it may. */
static const char *objection(const struct assay__trial *trial, const struct assay__tune_row *row,
                             const struct assay__tune_result *out)
{
    const struct assay__sweep_limits *limits = &out->limits;
    double slo = assay__trial_known(trial, limits->slo_metric);
    if (row->software) return "runs on software that stands in for a device";
    if (limits->slo_metric && !(slo <= limits->slo_s))
        return isfinite(slo) ? "beyond the latency that is allowed"
                             : "the percentile of the limit is not known: run longer";
    if (isfinite(limits->memory_bytes) && !(row->memory_bytes <= limits->memory_bytes))
        return isfinite(row->memory_bytes) ? "beyond the memory budget" : "its memory is not known";
    if (assay__trial_known(trial, "drift.nonfinite") > 0) return not_numbers;
    if (isfinite(out->drift_limit) && assay__trial_known(trial, "outputs.nonfinite") > 0)
        return not_numbers; /* in the reference as well, or it is the reference */
    if (row->drift > out->drift_limit) return "its outputs drift beyond the limit (--allow-drift)";
    return "";
}

/* The number, and how it is known; NaN unknown. */
static double known(const struct assay__trial *trial, const char *name, enum assay_state *state)
{
    const struct assay_metric *m = trial->metrics ? assay_metrics_get(trial->metrics, name) : NULL;
    *state = m ? m->state : ASSAY_UNAVAILABLE;
    return assay__trial_known(trial, name);
}

static int fill_row(const struct assay_profile *profile, struct assay__tune_row *row,
                    const struct assay__tune_result *out)
{
    const struct assay__trial *trial = &profile->trials[row->trial];
    size_t count = 0;
    double *costs = costs_of(trial, out->goal, &count);
    if (!costs) return ASSAY_ENOMEM;
    row->cost = assay__stats_median(costs, count);
    free(costs);
    row->launches = good_launches(trial);
    row->fate = row->launches ? fate_of(trial) : ASSAY__FATE_FAILED;
    row->software = strcmp(assay__trial_option(trial, "software"), "yes") == 0;
    row->latency_s = known(trial, "latency.p50", &row->latency_state);
    row->throughput = known(trial, "throughput.samples", &row->throughput_state);
    if (!isfinite(row->throughput))
        row->throughput = known(trial, "throughput.inferences", &row->throughput_state);
    row->memory_bytes = known(trial, "memory.peak.worker", &row->memory_state);
    row->energy_j = assay__trial_known(trial, "energy.inference.gross");
    row->drift = assay__trial_known(trial, "drift.relative_l2");
    row->reason = row->launches                     ? objection(trial, row, out)
                  : trial->reason && *trial->reason ? trial->reason
                                                    : "no launch was made";
    row->allowed = row->launches && !*row->reason;
    if (row->allowed && !isfinite(row->cost))
        row->reason = "what the goal is about is not known of it";
    row->allowed = row->allowed && isfinite(row->cost);
    return 0;
}

/* --- the front -------------------------------------------------------------------------------- */

/* a is at least as good in all that is known of both, and better in one. */
static bool dominates(const struct assay__tune_row *a, const struct assay__tune_row *b)
{
    const double pairs[][2] = {{a->latency_s, b->latency_s},
                               {-a->throughput, -b->throughput},
                               {a->memory_bytes, b->memory_bytes},
                               {a->energy_j, b->energy_j}};
    bool better = false;
    for (size_t i = 0; i < 4; i++) {
        if (pairs[i][0] > pairs[i][1]) return false;
        better = better || pairs[i][0] < pairs[i][1];
    }
    return better;
}

static void find_front(struct assay__tune_result *out)
{
    size_t least = 1; /* one launch is luck: it counts only while there are no others */
    for (size_t i = 0; i < out->count; i++)
        if (out->rows[i].allowed && out->rows[i].launches > 1) least = 2;
    for (size_t i = 0; i < out->count; i++) {
        struct assay__tune_row *row = &out->rows[i];
        row->front = row->allowed && row->launches >= least;
        for (size_t k = 0; k < out->count && row->front; k++)
            row->front = !(out->rows[k].allowed && out->rows[k].launches >= least &&
                           dominates(&out->rows[k], row));
    }
}

/* --- the best --------------------------------------------------------------------------------- */

static const char *why_none(const struct assay__tune_result *out)
{
    size_t ran = 0, broken = 0;
    for (size_t i = 0; i < out->count; i++) {
        ran += out->rows[i].launches > 0;
        broken += out->rows[i].launches && strcmp(out->rows[i].reason, not_numbers) == 0;
    }
    if (!ran) return "no configuration could be measured";
    if (broken == ran)
        return "every configuration that ran gives outputs that are NaN or infinite: none is "
               "advised; where that is right for this model, --allow-drift";
    return out->goal == ASSAY__SWEEP_ENERGY ? "energy is not known of any configuration allowed"
                                            : "no configuration that ran keeps the limits";
}

/* The allowed row of the least cost; of the finalists only, unless `any`. */
static size_t least_cost(const struct assay__tune_result *out, bool any)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (!row->allowed || !(any || row->fate == ASSAY__FATE_FINALIST)) continue;
        if (best == SIZE_MAX || row->cost < out->rows[best].cost) best = i;
    }
    return best;
}

static int find_best(const struct assay_profile *profile, struct assay__tune_result *out)
{
    out->best = least_cost(out, false);
    bool misled = out->best == SIZE_MAX; /* the finalists that looked best may not be advised */
    for (size_t i = 0; i < out->count && !misled; i++)
        misled = out->rows[i].fate == ASSAY__FATE_FINALIST && !out->rows[i].allowed &&
                 out->rows[i].cost < out->rows[out->best].cost;
    if (misled) out->best = least_cost(out, true);
    if (out->best == SIZE_MAX) return 0;
    struct assay__tune_row *best = &out->rows[out->best];
    int code = 0;
    out->tested = best->fate == ASSAY__FATE_FINALIST &&
                  best->launches >= ASSAY__COMPARISON_LAUNCHES;
    for (size_t i = 0; i < out->count && !code; i++) {
        struct assay__tune_row *row = &out->rows[i];
        if (row == best || row->fate != best->fate || !isfinite(row->cost)) continue;
        code = test(profile, out->goal, best->trial, row->trial, &row->ratio);
        row->alike = out->tested && row->allowed && !(row->ratio.p_value < 0.05);
        if (isnan(row->ratio.p_value) && out->goal == ASSAY__SWEEP_ENERGY) out->tested = false;
    }
    for (size_t i = 0; i < out->count; i++) /* what was not tested is not called alike */
        out->rows[i].alike = out->rows[i].alike && out->tested;
    out->confirmed = out->tested && out->start != SIZE_MAX && out->start != out->best &&
                     out->rows[out->start].ratio.p_value < 0.05;
    return code;
}

static int say_why(struct assay__tune_result *out, struct assay__arena *arena)
{
    static const char *const goals[] = {"throughput", "latency", "energy per inference"};
    out->why = why_none(out);
    if (out->best == SIZE_MAX) return 0;
    const struct assay__tune_row *best = &out->rows[out->best];
    const struct assay__tune_row *start = out->start != SIZE_MAX ? &out->rows[out->start] : NULL;
    char gain[160] = "";
    if (out->best == out->start)
        snprintf(gain, sizeof gain, ": the usual settings");
    else if (start && !start->launches)
        snprintf(gain, sizeof gain, "; the usual settings did not run");
    else if (start && !start->allowed && strcmp(start->reason, not_numbers) == 0)
        snprintf(gain, sizeof gain, "; the outputs of the usual settings are NaN or infinite");
    else if (start && isfinite(start->ratio.ratio) && start->ratio.ci.known)
        snprintf(
            gain, sizeof gain,
            start->ratio.p_value < 0.05
                ? ": %.3g × as good as the usual settings (95 %%: %.4g to %.4g)"
                : ": no difference shown from the usual settings (%.3g ×, 95 %%: %.4g to %.4g)",
            start->ratio.ratio, start->ratio.ci.low, start->ratio.ci.high);
    else if (start && isfinite(start->cost / best->cost))
        snprintf(gain, sizeof gain, ": about %.3g × as good as the usual settings, not tested",
                 start->cost / best->cost);
    out->why = assay__arena_printf(
        arena, "best %s%s%s", goals[out->goal], gain,
        out->tested ? ""
                    : "; too few launches of its own for a test: a larger --budget gives them");
    return out->why ? 0 : ASSAY_ENOMEM;
}

/* --- what each setting contributes ------------------------------------------------------------ */

struct axis_words {
    const char *name;
    const char *words[ASSAY__TUNE_VALUES];
};

static bool is_ordered(const char *axis)
{
    return strcmp(axis, "threads") == 0 || strcmp(axis, "batch") == 0 || strcmp(axis, "seq") == 0;
}

/* Puts a word of an axis into its place: numbers by size, names as they come. */
static void put_word(struct assay__tune_grid *grid, struct axis_words *words, size_t a,
                     const char *word)
{
    struct assay__tune_axis *axis = &grid->axes[a];
    double position = axis->ordered ? log2(fmax(strtod(word, NULL), 1)) : 0;
    size_t at = axis->count;
    for (size_t i = 0; i < axis->count; i++)
        if (strcmp(words[a].words[i], word) == 0) return;
    if (axis->count == ASSAY__TUNE_VALUES) return;
    for (; at > 0 && axis->ordered && axis->positions[at - 1] > position; at--) {
        axis->positions[at] = axis->positions[at - 1];
        words[a].words[at] = words[a].words[at - 1];
    }
    axis->positions[at] = position;
    words[a].words[at] = word;
    axis->count++;
}

static int read_grid(const struct assay__tune_result *out, struct assay__arena *arena,
                     struct assay__tune_grid *grid, struct axis_words *words)
{
    static const char *const names[] = {"device",   "precision", "opt",  "threads",
                                        "spinning", "seq",       "batch"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        size_t a = grid->axis_count;
        words[a].name = names[n];
        grid->axes[a] = (struct assay__tune_axis){.ordered = is_ordered(names[n])};
        for (size_t i = 0; i < out->count; i++) {
            const char *word = assay__tune_label_value(out->rows[i].label, names[n], arena);
            if (!word) return ASSAY_ENOMEM;
            if (*word) put_word(grid, words, a, word);
        }
        grid->axis_count += grid->axes[a].count > 0;
    }
    return 0;
}

/* SIZE_MAX: the label lacks an axis. */
static size_t point_of(const struct assay__tune_grid *grid, const struct axis_words *words,
                       const char *label, struct assay__arena *arena)
{
    size_t point = 0;
    for (size_t a = 0; a < grid->axis_count; a++) {
        const char *word = assay__tune_label_value(label, words[a].name, arena);
        size_t at = 0;
        while (word && at < grid->axes[a].count && strcmp(words[a].words[at], word) != 0)
            at++;
        if (!word || at == grid->axes[a].count) return SIZE_MAX;
        point = point * grid->axes[a].count + at;
    }
    return point;
}

/* All launches that chose, as the surrogate takes them; which round each was of is not kept. */
static int observe(const struct assay_profile *profile, const struct assay__tune_result *out,
                   const struct assay__tune_grid *grid, const struct axis_words *words,
                   struct assay__arena *arena, struct assay__tune_observation **seen, size_t *count)
{
    size_t room = out->search_launches + out->final_launches;
    *seen = assay__arena_array(arena, room + 1, sizeof **seen);
    if (!*seen) return ASSAY_ENOMEM;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        if (fate_of(trial) == ASSAY__FATE_ABLATION) continue;
        size_t point = point_of(grid, words, assay__trial_option(trial, "label"), arena), n = 0;
        double *costs = costs_of(trial, out->goal, &n);
        if (!costs) return ASSAY_ENOMEM;
        for (size_t k = 0; k < n && point != SIZE_MAX && *count < room; k++) {
            if (!(costs[k] > 0)) continue;
            (*seen)[*count] = (struct assay__tune_observation){point, (int)*count, log(costs[k])};
            ++*count;
        }
        free(costs);
    }
    return 0;
}

/* The trial of that role whose label is the best's but for one axis; SIZE_MAX: none. */
static size_t changed_trial(const struct assay_profile *profile, const char *role,
                            const struct assay__tune_grid *grid, const struct axis_words *words,
                            size_t point, struct assay__arena *arena)
{
    for (size_t i = 0; i < profile->trial_count; i++)
        if (strcmp(assay__trial_option(&profile->trials[i], "role"), role) == 0 &&
            point_of(grid, words, assay__trial_option(&profile->trials[i], "label"), arena) ==
                point)
            return i;
    return SIZE_MAX;
}

/* What was run goes before what is believed: first the launches of one kind that took turns, tested if possible, then any. Set back to the start,
 * it is what is said of the start. */
static int measured_part(const struct assay_profile *profile, const struct assay__tune_result *out,
                         const struct assay__tune_grid *grid, const struct axis_words *words,
                         size_t best, size_t changed, struct assay__arena *arena,
                         struct assay__tune_part *part)
{
    static const char *const roles[] = {"ablation", "finalist"};
    struct assay__ratio found = untested;
    int code = 0;
    for (size_t r = 0; r < 2 && !isfinite(found.p_value) && !code; r++) {
        size_t a = changed_trial(profile, roles[r], grid, words, best, arena),
               b = changed_trial(profile, roles[r], grid, words, changed, arena);
        struct assay__ratio own = untested;
        if (a == SIZE_MAX || b == SIZE_MAX) continue;
        code = test(profile, out->goal, a, b, &own);
        if (isfinite(own.p_value) || !isfinite(found.ratio)) found = own;
    }
    for (size_t i = 0; i < out->count && !code; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (point_of(grid, words, row->label, arena) != changed) continue;
        if (i == out->start && isfinite(row->ratio.ratio)) found = row->ratio;
        if (!isfinite(found.ratio)) found.ratio = row->cost / out->rows[out->best].cost;
    }
    part->measured = !code && isfinite(found.ratio);
    if (part->measured) {
        part->ratio = found;
        part->factor = found.ratio;
    }
    return code;
}

/* Why nothing with that value of the axis may be advised; "" something may, or nothing is known. NULL: out of memory. */
static const char *objection_to(const struct assay__tune_result *out, const char *axis,
                                const char *value, struct assay__arena *arena)
{
    const char *reason = "";
    for (size_t i = 0; i < out->count; i++) {
        const char *own = assay__tune_label_value(out->rows[i].label, axis, arena);
        if (!own) return NULL;
        if (strcmp(own, value) != 0) continue;
        if (out->rows[i].allowed) return "";
        if (!*reason) reason = out->rows[i].reason;
    }
    return reason;
}

static int find_parts(const struct assay_profile *profile, struct assay__arena *arena,
                      struct assay__tune_result *out)
{
    struct assay__tune_grid grid = {.axis_count = 0};
    struct axis_words words[ASSAY__TUNE_AXES];
    struct assay__tune_observation *seen = NULL;
    size_t count = 0;
    if (out->best == SIZE_MAX || out->start == SIZE_MAX || out->best == out->start) return 0;
    int code = read_grid(out, arena, &grid, words);
    if (!code) code = observe(profile, out, &grid, words, arena, &seen, &count);
    out->parts = assay__arena_array(arena, ASSAY__TUNE_AXES, sizeof *out->parts);
    if (code || !out->parts || !count) return !out->parts ? ASSAY_ENOMEM : code;
    size_t best = point_of(&grid, words, out->rows[out->best].label, arena),
           start = point_of(&grid, words, out->rows[out->start].label, arena);
    struct assay__surrogate surrogate = assay__surrogate_start(&grid);
    double *scratch = malloc(count * sizeof *scratch);
    code = scratch ? 0 : ASSAY_ENOMEM;
    for (int i = 0; i < 6 && !code; i++)
        code = assay__surrogate_fit(&surrogate, seen, count, true);
    for (size_t a = 0; a < grid.axis_count && !code && best != SIZE_MAX && start != SIZE_MAX; a++) {
        size_t usual = assay__tune_grid_choice(&grid, start, a),
               chosen = assay__tune_grid_choice(&grid, best, a);
        if (usual == chosen) continue;
        size_t changed = assay__tune_grid_with(&grid, best, a, usual);
        struct assay__tune_part *part = &out->parts[out->part_count++];
        *part = (struct assay__tune_part){
            .axis = words[a].name,
            .from = words[a].words[usual],
            .to = words[a].words[chosen],
            .objection = objection_to(out, words[a].name, words[a].words[usual], arena),
            .factor = NAN,
            .ratio = untested};
        if (!part->objection) code = ASSAY_ENOMEM;
        if (code || *part->objection) continue;
        part->factor = exp(assay__surrogate_predict(&surrogate, changed, scratch, NULL) -
                           assay__surrogate_predict(&surrogate, best, scratch, NULL));
        code = measured_part(profile, out, &grid, words, best, changed, arena, part);
    }
    assay__surrogate_free(&surrogate);
    free(scratch);
    return code;
}

/* --- all of it -------------------------------------------------------------------------------- */

static double number_option(const struct assay_profile *profile, const char *key)
{
    const char *text = profile->trial_count ? assay__trial_option(profile->trials, key) : "";
    char *end = NULL;
    double value = *text ? strtod(text, &end) : NAN;
    return end && end != text && *end == '\0' ? value : NAN;
}

int assay__tune_result(const struct assay_profile *profile, struct assay__arena *arena,
                       struct assay__tune_result *out)
{
    double grid = number_option(profile, "grid");
    *out = (struct assay__tune_result){.best = SIZE_MAX, .start = SIZE_MAX, .why = ""};
    out->limits = assay__sweep_limits_of(profile);
    out->goal = out->limits.goal;
    out->budget_s = number_option(profile, "budget_s");
    out->drift_limit = number_option(profile, "drift_limit");
    if (isnan(out->drift_limit)) out->drift_limit = INFINITY;
    out->grid = grid > 0 && grid < 1e9 ? (size_t)grid : 0;
    out->elapsed_s = profile->trial_count ? assay__trial_known(profile->trials, "tune.elapsed")
                                          : NAN;
    int code = collect(profile, arena, out);
    for (size_t i = 0; i < out->count && !code; i++) {
        code = fill_row(profile, &out->rows[i], out);
        if (out->rows[i].start) out->start = i;
        out->configurations += out->rows[i].searched;
        out->failed += out->rows[i].searched && out->rows[i].fate == ASSAY__FATE_FAILED;
    }
    if (!code) find_front(out);
    if (!code) code = find_best(profile, out);
    if (!code) code = say_why(out, arena);
    return code ? code : find_parts(profile, arena, out);
}
