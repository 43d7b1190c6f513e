/* tune_parts.c - what each setting of the best configuration contributes: measured where it was set
 * back alone, else believed by the surrogate, fitted on all launches that chose or judged. See
 * tune_report.h. */
#include "judge/tune_report.h"

#include "judge/comparison.h"
#include "judge/tune_surrogate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct assay__ratio untested = ASSAY__RATIO_UNKNOWN;

struct axis_words {
    enum assay__axis axis;
    const char *words[ASSAY__TUNE_VALUES];
};

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

static void read_grid(const struct assay_profile *profile, const struct assay__tune_result *out,
                      struct assay__tune_grid *grid, struct axis_words *words)
{
    for (size_t n = 0; n < ASSAY__AXIS_COUNT; n++) {
        size_t a = grid->axis_count;
        words[a].axis = (enum assay__axis)n;
        grid->axes[a] = (struct assay__tune_axis){.ordered = assay__axis_is_number(words[a].axis)};
        for (size_t i = 0; i < out->count; i++) {
            const char *word = assay__trial_axis(&profile->trials[out->rows[i].judged.trial],
                                                 words[a].axis);
            if (*word) put_word(grid, words, a, word);
        }
        grid->axis_count += grid->axes[a].count > 0;
    }
}

/* SIZE_MAX: the trial lacks an axis. */
static size_t point_of(const struct assay__tune_grid *grid, const struct axis_words *words,
                       const struct assay__trial *trial)
{
    size_t point = 0;
    for (size_t a = 0; a < grid->axis_count; a++) {
        const char *word = assay__trial_axis(trial, words[a].axis);
        size_t at = 0;
        while (at < grid->axes[a].count && strcmp(words[a].words[at], word) != 0)
            at++;
        if (at == grid->axes[a].count) return SIZE_MAX;
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
        if (assay__tune_fate(trial) == ASSAY__FATE_ABLATION) continue;
        size_t point = point_of(grid, words, trial), n = 0;
        double *costs = assay__tune_costs(trial, out->plan->goal, &n);
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

/* The trial of that role at that point; SIZE_MAX: none. */
static size_t changed_trial(const struct assay_profile *profile, enum assay__trial_role role,
                            const struct assay__tune_grid *grid, const struct axis_words *words,
                            size_t point)
{
    for (size_t i = 0; i < profile->trial_count; i++)
        if (profile->trials[i].role == role && point_of(grid, words, &profile->trials[i]) == point)
            return i;
    return SIZE_MAX;
}

/* What was run goes before what is believed: first the launches of one kind that took turns, tested
 * if possible, then any. Set back to the start, it is what is said of the start. */
static int measured_part(const struct assay_profile *profile, const struct assay__tune_result *out,
                         const struct assay__tune_grid *grid, const struct axis_words *words,
                         size_t best, size_t changed, struct assay__tune_part *part)
{
    static const enum assay__trial_role roles[] = {ASSAY__ROLE_ABLATION, ASSAY__ROLE_FINALIST};
    struct assay__ratio found = untested;
    int code = 0;
    for (size_t r = 0; r < 2 && !isfinite(found.p_value) && !code; r++) {
        size_t a = changed_trial(profile, roles[r], grid, words, best),
               b = changed_trial(profile, roles[r], grid, words, changed);
        struct assay__ratio own = untested;
        if (a == SIZE_MAX || b == SIZE_MAX) continue;
        code = assay__tune_test(profile, out->plan->goal, a, b, &own);
        if (isfinite(own.p_value) || !isfinite(found.ratio)) found = own;
    }
    for (size_t i = 0; i < out->count && !code; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (point_of(grid, words, &profile->trials[row->judged.trial]) != changed) continue;
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

/* Why nothing with that value of the axis may be advised; "" something may, or nothing is known. */
static const char *objection_to(const struct assay_profile *profile,
                                const struct assay__tune_result *out, enum assay__axis axis,
                                const char *value)
{
    const char *reason = "";
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        const struct assay__trial *trial = &profile->trials[row->judged.trial];
        if (strcmp(assay__trial_axis(trial, axis), value) != 0) continue;
        if (row->allowed) return "";
        if (!*reason) reason = row->judged.reason;
    }
    return reason;
}

int assay__tune_find_parts(const struct assay_profile *profile, struct assay__arena *arena,
                           struct assay__tune_result *out)
{
    struct assay__tune_grid grid = {.axis_count = 0};
    struct axis_words words[ASSAY__TUNE_AXES];
    struct assay__tune_observation *seen = NULL;
    size_t count = 0;
    if (out->best == SIZE_MAX || out->start == SIZE_MAX || out->best == out->start) return 0;
    read_grid(profile, out, &grid, words);
    int code = observe(profile, out, &grid, words, arena, &seen, &count);
    out->parts = assay__arena_array(arena, ASSAY__TUNE_AXES, sizeof *out->parts);
    if (code || !out->parts || !count) return !out->parts ? ASSAY_ENOMEM : code;
    size_t best = point_of(&grid, words, &profile->trials[out->rows[out->best].judged.trial]),
           start = point_of(&grid, words, &profile->trials[out->rows[out->start].judged.trial]);
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
            .axis = words[a].axis,
            .from = words[a].words[usual],
            .to = words[a].words[chosen],
            .objection = objection_to(profile, out, words[a].axis, words[a].words[usual]),
            .factor = NAN,
            .ratio = untested};
        if (*part->objection) continue;
        part->factor = exp(assay__surrogate_predict(&surrogate, changed, scratch, NULL) -
                           assay__surrogate_predict(&surrogate, best, scratch, NULL));
        code = measured_part(profile, out, &grid, words, best, changed, part);
    }
    assay__surrogate_free(&surrogate);
    free(scratch);
    return code;
}
