/* require_data.c - requirements in the data formats: JSON, Markdown and JUnit. In JUnit a minimum
 * that is not met is a failure, one that cannot be judged an error; a target is no gate, so that
 * one that is not met is skipped with the figures. */
#include "report/require.h"

#include "judge/comparison.h"
#include "judge/review.h"
#include "base/text.h"
#include "report/junit.h"

#include <math.h>
#include <stdio.h>

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_column(struct assay__json_writer *w, const char *key, double required, double ratio,
                       enum assay__require_state state)
{
    assay__json_key(w, key);
    assay__json_object(w);
    assay__json_put_number(w, "value", required);
    assay__json_put_number(w, "ratio", ratio);
    assay__json_put_string(w, "verdict", assay__require_state_name(state));
    assay__json_object_end(w);
}

static void put_requirement(struct assay__json_writer *w, const struct assay__requirement *row)
{
    static const char *const levels[] = {"fine", "warn", "to-target", "to-minimum"};
    bool known = isfinite(row->value);
    assay__json_object(w);
    assay__json_put_string(w, "name", row->info->key);
    assay__json_put_string(w, "kind", row->info->floor ? "floor" : "limit");
    assay__json_put_string(w, "metric", row->measured ? row->measured->name : row->info->metric);
    assay__json_put_string(w, "unit", row->info->unit);
    assay__json_put_number(w, "value", row->value);
    assay__json_put_string(w, "state",
                           assay_state_name(known ? row->measured->state : ASSAY_UNAVAILABLE));
    put_column(w, "minimum", row->minimum, row->minimum_ratio, row->minimum_state);
    put_column(w, "target", row->target, row->target_ratio, row->target_state);
    assay__json_put_string(w, "level", levels[row->level]);
    assay__json_put_text(w, "reason", row->reason);
    assay__json_put_text(w, "note", row->note);
    assay__json_put_text(w, "unreachable", row->unreachable);
    assay__json_put_text(w, "beyond_device", row->beyond);
    assay__json_put_text(w, "recommendation", row->advice);
    assay__json_object_end(w);
}

static void put_score(struct assay__json_writer *w, const struct assay__score *score)
{
    assay__json_key(w, "score");
    assay__json_object(w);
    assay__json_put_number(w, "value", score->points);
    assay__json_key(w, "parts");
    assay__json_array(w);
    for (size_t i = 0; i < ASSAY__SCORE_PARTS; i++) {
        const struct assay__score_part *part = &score->parts[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", part->name);
        assay__json_put_string(w, "formula", part->formula);
        assay__json_put_number(w, "points", part->points);
        assay__json_put_number(w, "of", part->of);
        assay__json_put_text(w, "reason", part->reason);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_object_end(w);
}

static void put_judgement(struct assay__json_writer *w, const struct assay__review *review)
{
    const struct assay__judgement *j = &review->judgement;
    assay__json_key(w, "requirements");
    assay__json_object(w);
    assay__json_put_string(w, "table", j->table->name);
    assay__json_put_text(w, "chip", j->table->chip ? j->table->chip->name : NULL);
    assay__json_put_string(w, "minimum", assay__require_state_name(j->minimum));
    assay__json_put_string(w, "target", assay__require_state_name(j->target));
    assay__json_key(w, "rows");
    assay__json_array(w);
    for (size_t i = 0; i < j->count; i++)
        put_requirement(w, &j->rows[i]);
    assay__json_array_end(w);
    put_score(w, &review->score);
    assay__json_object_end(w);
}

static void put_list(struct assay__json_writer *w, const char *key,
                     const struct assay__sentence_list *list)
{
    assay__json_put_strings(w, key, list->items, list->count);
}

void assay__json_requirements(struct assay__json_writer *w, const struct assay_profile *profile,
                              const struct assay__trial *trial, bool want_review,
                              struct assay__buf *out)
{
    if (!want_review && !trial->required) return;
    struct assay__arena *arena = assay__arena_new();
    struct assay__review review;
    if (!arena || assay__review(profile, trial, arena, &review)) {
        out->failed = true;
        assay__arena_free(arena);
        return;
    }
    if (review.required) put_judgement(w, &review);
    if (want_review) {
        assay__json_key(w, "review");
        assay__json_object(w);
        put_score(w, &review.score);
        put_list(w, "bottlenecks", &review.bottlenecks);
        put_list(w, "opportunities", &review.opportunities);
        put_list(w, "recommendations", &review.recommendations);
        assay__json_object_end(w);
    }
    assay__arena_free(arena);
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void put_cells(struct assay__buf *out, double required, double ratio,
                      enum assay__require_state state, const char *unit)
{
    char text[64], share[64];
    assay__text_scaled(text, sizeof text, required, unit);
    assay__text_scaled(share, sizeof share, ratio, "ratio");
    if (isfinite(required))
        assay__buf_printf(out, " %s | %s | %s |", text, share, assay__require_state_name(state));
    else
        assay__buf_puts(out, " | | |");
}

static void put_markdown_row(struct assay__buf *out, const struct assay__requirement *row)
{
    struct assay__buf value = {0};
    assay__render_metric(&value, isfinite(row->value) ? row->measured : NULL);
    assay__buf_printf(out, "| %s | %s |", row->info->label, value.data ? value.data : "");
    put_cells(out, row->minimum, row->minimum_ratio, row->minimum_state, row->info->unit);
    put_cells(out, row->target, row->target_ratio, row->target_state, row->info->unit);
    const char *const remarks[] = {row->reason, row->note, row->unreachable, row->beyond,
                                   row->advice};
    const char *between = " ";
    for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++) {
        if (!remarks[i][0]) continue;
        assay__buf_puts(out, between);
        assay__markdown_text(out, remarks[i]);
        between = "; ";
    }
    assay__buf_puts(out, " |\n");
    assay__buf_free(&value);
}

void assay__markdown_requirements(struct assay__buf *out, const struct assay_profile *profile,
                                  const struct assay__trial *trial)
{
    if (!trial->required) return;
    struct assay__arena *arena = assay__arena_new();
    struct assay__review review;
    const struct assay__judgement *j = &review.judgement;
    if (!arena || assay__review(profile, trial, arena, &review)) {
        out->failed = true;
    } else if (review.required) {
        assay__buf_puts(out, "\n### Requirements\n\n");
        assay__markdown_text(out, j->table->name);
        assay__buf_printf(out, ": minimum **%s**, target **%s**.\n\n",
                          assay__require_state_name(j->minimum),
                          assay__require_state_name(j->target));
        assay__buf_puts(
            out, "| requirement | measured | minimum | reached | verdict | target | reached | "
                 "verdict | remarks |\n|---|--:|--:|--:|---|--:|--:|---|---|\n");
        for (size_t i = 0; i < j->count; i++)
            put_markdown_row(out, &j->rows[i]);
    }
    assay__arena_free(arena);
}

/* --- JUnit ------------------------------------------------------------------------------------ */

static void put_case(struct assay__junit *junit, const char *classname,
                     const struct assay__requirement *row, bool target)
{
    enum assay__require_state state = target ? row->target_state : row->minimum_state;
    double required = target ? row->target : row->minimum;
    double ratio = target ? row->target_ratio : row->minimum_ratio;
    char name[64], value[64], asked[64], share[64], message[300];
    if (state == ASSAY__REQUIRE_NONE) return;
    snprintf(name, sizeof name, "%s %s", row->info->label, target ? "target" : "minimum");
    assay__text_scaled(value, sizeof value, row->value, row->info->unit);
    assay__text_scaled(asked, sizeof asked, required, row->info->unit);
    assay__text_scaled(share, sizeof share, ratio, "ratio");
    snprintf(message, sizeof message, "%s is %s, %s %s: %s", row->info->label, value,
             row->info->floor ? "at least" : "at most", asked, share);
    assay__junit_case(junit, classname, name, NAN);
    if (state == ASSAY__REQUIRE_UNKNOWN && target)
        assay__junit_skipped(junit, row->reason);
    else if (state == ASSAY__REQUIRE_UNKNOWN)
        assay__junit_error(junit, "unavailable", row->reason, NULL);
    else if (state == ASSAY__REQUIRE_NOT_MET && target) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "target not met, which is no failure: %s%s%s", message,
                          row->unreachable[0] ? "; " : "", row->unreachable);
        assay__junit_skipped(junit, text.data ? text.data : message);
        assay__buf_free(&text);
    } else if (state == ASSAY__REQUIRE_NOT_MET)
        assay__junit_failure(junit, "requirement", message, row->advice);
    else
        assay__junit_output(junit, message);
    if (row->note[0] && state != ASSAY__REQUIRE_UNKNOWN) assay__junit_output(junit, row->note);
}

/* The run itself is a case too, so that a trial that failed is seen where no table was given. */
static int put_trial(struct assay__junit *junit, const struct assay_profile *profile,
                     const struct assay__trial *trial)
{
    struct assay__arena *arena = assay__arena_new();
    const struct assay__require_table *table = NULL;
    struct assay__judgement judgement = {.count = 0};
    const char *label = trial->label;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    if (!label[0]) label = trial->target.device;
    int code = arena ? assay__require_of(trial, arena, &table) : ASSAY_ENOMEM;
    assay__junit_case(junit, label, "run", p50 ? p50->value : (double)NAN);
    if (trial->state != ASSAY__TRIAL_OK)
        assay__junit_failure(
            junit, assay__trial_state_name(trial->state),
            trial->reason && trial->reason[0] ? trial->reason : "the run did not end", NULL);
    if (code == 0 && table && trial->metrics)
        code = assay__require_judge(profile, trial, table, arena, &judgement);
    for (size_t i = 0; code == 0 && table && trial->metrics && i < 2 * judgement.count; i++)
        put_case(junit, label, &judgement.rows[i / 2], i % 2 == 1);
    assay__arena_free(arena);
    return code;
}

int assay__report_junit(const struct assay_profile *profile,
                        const struct assay_report_options *options, struct assay__buf *out,
                        struct assay_error *error)
{
    (void)options;
    struct assay__junit junit;
    char suite[200];
    int code = 0;
    snprintf(suite, sizeof suite, "assay %.40s %.120s", profile->command, profile->models[0]->name);
    assay__junit_begin(&junit, out, suite);
    assay__junit_property(&junit, "assay", profile->assay_version);
    assay__junit_property(&junit, "model", profile->models[0]->name);
    assay__junit_property(&junit, "created", profile->created);
    for (size_t i = 0; i < profile->trial_count && code == 0; i++)
        code = put_trial(&junit, profile, &profile->trials[i]);
    assay__junit_end(&junit);
    return code ? assay_error_set(error, code, "out of memory while writing the report") : 0;
}
