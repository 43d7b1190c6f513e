/* json_require.c - members of a trial: "requirements", "review". */
#include "report/json/json_parts.h"

#include <math.h>

static void put_column(struct assay__json_writer *w, const char *key, double required, double ratio,
                       enum assay__require_state state)
{
    assay__json_record(w, key, json_number("value", required), json_number("ratio", ratio),
                       json_string("verdict", assay__require_state_name(state)));
}

static void put_requirement(struct assay__json_writer *w, const struct assay__requirement *row)
{
    static const char *const levels[] = {"fine", "warn", "to-target", "to-minimum"};
    bool known = isfinite(row->value);
    assay__json_object(w);
    assay__json_members(
        w, json_string("name", row->info->key),
        json_string("kind", row->info->floor ? "floor" : "limit"),
        json_string("metric", row->measured ? row->measured->name : row->info->metric),
        json_string("unit", row->info->unit), json_number("value", row->value),
        json_string("state", assay_state_name(known ? row->measured->state : ASSAY_UNAVAILABLE)));
    put_column(w, "minimum", row->minimum, row->minimum_ratio, row->minimum_state);
    put_column(w, "target", row->target, row->target_ratio, row->target_state);
    assay__json_members(
        w, json_string("level", levels[row->level]), json_text("reason", row->reason),
        json_text("note", row->note), json_text("unreachable", row->unreachable),
        json_text("beyond_device", row->beyond), json_text("recommendation", row->advice));
    assay__json_object_end(w);
}

static void put_score(struct assay__json_writer *w, const struct assay__score *score)
{
    assay__json_put_object(w, "score");
    assay__json_put_number(w, "value", score->points);
    for (ASSAY__JSON_EACH(i, w, "parts", ASSAY__SCORE_PARTS)) {
        const struct assay__score_part *part = &score->parts[i];
        assay__json_record(w, NULL, json_string("name", part->name),
                           json_string("formula", part->formula),
                           json_number("points", part->points), json_number("of", part->of),
                           json_text("reason", part->reason));
    }
    assay__json_object_end(w);
}

void assay__json_requirements(struct assay__json_writer *w, struct assay__study *study,
                              const struct assay__trial *trial, bool want_review)
{
    if (!want_review && !trial->required) return;
    const struct assay__review *review = assay__study_review(study, trial);
    if (study->failed) return;
    if (review->required) {
        const struct assay__judgement *j = &review->judgement;
        assay__json_put_object(w, "requirements");
        assay__json_members(w, json_string("table", j->table->name),
                            json_text("chip", j->table->chip ? j->table->chip->name : NULL),
                            json_string("minimum", assay__require_state_name(j->minimum)),
                            json_string("target", assay__require_state_name(j->target)));
        for (ASSAY__JSON_EACH(i, w, "rows", j->count))
            put_requirement(w, &j->rows[i]);
        put_score(w, &review->score);
        assay__json_object_end(w);
    }
    if (want_review) {
        assay__json_put_object(w, "review");
        put_score(w, &review->score);
        assay__json_put_strings(w, "bottlenecks", review->bottlenecks.items,
                                review->bottlenecks.count);
        assay__json_put_strings(w, "opportunities", review->opportunities.items,
                                review->opportunities.count);
        assay__json_put_strings(w, "recommendations", review->recommendations.items,
                                review->recommendations.count);
        assay__json_object_end(w);
    }
}
