/* tune_parts.c - what each setting of the best configuration contributes: measured if only that
 * setting was reset, else estimated by the surrogate, which is fitted to all launches of the search
 * and of the finalists. */
#include "judge/tune_report.h"

#include "judge/tune_surrogate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct axis_words {
    enum assay__axis axis;
    const char *words[ASSAY__TUNE_VALUES];
};

/* The values of each axis: numbers by size, names in order of appearance. */
static void read_grid(const struct assay_profile *profile, const struct assay__tune_result *out,
                      struct assay__tune_grid *grid, struct axis_words *words)
{
    for (size_t n = 0; n < ASSAY__AXIS_COUNT; n++) {
        struct axis_words *own = &words[grid->axis_count];
        struct assay__tune_axis *axis = &grid->axes[grid->axis_count];
        own->axis = (enum assay__axis)n;
        *axis = (struct assay__tune_axis){.ordered = assay__axis_is_number(own->axis)};
        for (size_t i = 0; i < out->count && axis->count < ASSAY__TUNE_VALUES; i++) {
            const char *word = assay__trial_axis(&profile->trials[out->rows[i].judged.trial],
                                                 own->axis);
            double position = axis->ordered ? log2(fmax(strtod(word, NULL), 1)) : 0;
            size_t at = 0;
            while (at < axis->count && strcmp(own->words[at], word) != 0)
                at++;
            if (!*word || at < axis->count) continue;
            for (; at > 0 && axis->ordered && axis->positions[at - 1] > position; at--) {
                axis->positions[at] = axis->positions[at - 1];
                own->words[at] = own->words[at - 1];
            }
            axis->positions[at] = position;
            own->words[at] = word;
            axis->count++;
        }
        grid->axis_count += axis->count > 0;
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

/* The launches that the surrogate learns from; their rounds are not stored. */
static struct assay__tune_observation *observe(const struct assay_profile *profile,
                                               const struct assay__tune_result *out,
                                               const struct assay__tune_grid *grid,
                                               const struct axis_words *words,
                                               struct assay__arena *arena, size_t *count)
{
    size_t room = out->search_launches + out->final_launches;
    struct assay__tune_observation *seen = assay__arena_array(arena, room + 1, sizeof *seen);
    for (size_t i = 0; seen && i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        size_t point = point_of(grid, words, trial);
        if (assay__tune_fate(trial) == ASSAY__FATE_ABLATION || point == SIZE_MAX) continue;
        struct assay__launch_values costs = assay__tune_costs(trial, out->plan->goal, arena);
        assay__stats_sort(costs.items, costs.count);
        for (size_t k = 0; k < costs.count && *count < room; k++) {
            seen[*count] = (struct assay__tune_observation){point, (int)*count,
                                                            log(costs.items[k])};
            ++*count;
        }
    }
    return seen;
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

/* Measurements take precedence over estimates: first launches of one kind that alternated, tested
 * if possible, then any. If resetting leads to the start itself, the start's ratio is used. */
static void measure_part(const struct assay_profile *profile, const struct assay__tune_result *out,
                         const struct assay__tune_grid *grid, const struct axis_words *words,
                         size_t best, size_t changed, struct assay__arena *arena,
                         struct assay__tune_part *part)
{
    static const enum assay__trial_role roles[] = {ASSAY__ROLE_ABLATION, ASSAY__ROLE_FINALIST};
    struct assay__ratio found = part->ratio;
    for (size_t r = 0; r < 2 && !isfinite(found.p_value); r++) {
        size_t a = changed_trial(profile, roles[r], grid, words, best),
               b = changed_trial(profile, roles[r], grid, words, changed);
        if (a == SIZE_MAX || b == SIZE_MAX) continue;
        struct assay__ratio own = assay__tune_test(profile, a, b, arena);
        if (isfinite(own.p_value) || !isfinite(found.ratio)) found = own;
    }
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (point_of(grid, words, &profile->trials[row->judged.trial]) != changed) continue;
        if (i == out->start && isfinite(row->ratio.ratio)) found = row->ratio;
        if (!isfinite(found.ratio)) found.ratio = row->cost / out->rows[out->best].cost;
    }
    part->measured = isfinite(found.ratio);
    if (!part->measured) return;
    part->ratio = found;
    part->factor = found.ratio;
}

void assay__tune_find_parts(const struct assay_profile *profile, struct assay__arena *arena,
                            struct assay__tune_result *out)
{
    struct assay__tune_grid grid = {.axis_count = 0};
    struct axis_words words[ASSAY__TUNE_AXES];
    size_t count = 0;
    if (out->best == SIZE_MAX || out->start == SIZE_MAX || out->best == out->start) return;
    read_grid(profile, out, &grid, words);
    struct assay__tune_observation *seen = observe(profile, out, &grid, words, arena, &count);
    double *scratch = assay__arena_array(arena, count, sizeof *scratch);
    out->parts = assay__arena_array(arena, ASSAY__TUNE_AXES, sizeof *out->parts);
    size_t best = point_of(&grid, words, &profile->trials[out->rows[out->best].judged.trial]),
           start = point_of(&grid, words, &profile->trials[out->rows[out->start].judged.trial]);
    if (!count || !scratch || !out->parts || best == SIZE_MAX || start == SIZE_MAX) return;
    struct assay__surrogate surrogate = assay__surrogate_start(&grid);
    bool fitted = true;
    for (int i = 0; i < 6 && fitted; i++)
        fitted = assay__surrogate_fit(&surrogate, seen, count, true) == 0;
    if (!fitted) assay__arena_fail(arena);
    for (size_t a = 0; a < grid.axis_count && fitted; a++) {
        size_t usual = assay__tune_grid_choice(&grid, start, a),
               chosen = assay__tune_grid_choice(&grid, best, a);
        if (usual == chosen) continue;
        size_t changed = assay__tune_grid_with(&grid, best, a, usual);
        struct assay__tune_part *part = &out->parts[out->part_count++];
        *part = (struct assay__tune_part){.axis = words[a].axis,
                                          .from = words[a].words[usual],
                                          .to = words[a].words[chosen],
                                          .objection = "",
                                          .factor = NAN,
                                          .ratio = ASSAY__RATIO_UNKNOWN};
        for (size_t i = 0; i < out->count; i++) {
            const struct assay__tune_row *row = &out->rows[i];
            const struct assay__trial *trial = &profile->trials[row->judged.trial];
            if (strcmp(assay__trial_axis(trial, part->axis), part->from) != 0) continue;
            if (!*part->objection || row->allowed) part->objection = row->judged.reason;
            if (row->allowed) break; /* its reason is empty */
        }
        if (*part->objection) continue;
        part->factor = exp(assay__surrogate_predict(&surrogate, changed, scratch, NULL) -
                           assay__surrogate_predict(&surrogate, best, scratch, NULL));
        measure_part(profile, out, &grid, words, best, changed, arena, part);
    }
    assay__surrogate_free(&surrogate);
}
