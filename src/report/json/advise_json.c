/* advise_json.c - advice and the table of its rules as JSON. */
#include "report/report_advise.h"

#include "base/json.h"
#include "experiment/verify.h"
#include "report/json/json_parts.h"

#include <math.h>

static void put_rules(struct assay__json_writer *w, const struct assay__advice *advice)
{
    for (ASSAY__JSON_EACH(i, w, "rules", advice->result_count)) {
        const struct assay__rule_result *r = &advice->results[i];
        bool known = isfinite(r->finding.expected_gain);
        assay__json_object(w);
        assay__json_members(
            w, json_string("id", r->rule->id), json_string("family", r->rule->family),
            json_string("outcome", assay__rule_outcome_name(r->outcome)),
            json_text("missing", r->missing),
            json_text("potential_of", known ? assay__rule_gain_of(r->rule->id) : ""),
            json_text("potential_state",
                      known ? assay_state_name(assay__finding_gain_state(&r->finding)) : ""));
        assay__json_key(w, "change");
        if (r->outcome == ASSAY__RULE_FOUND && r->change.kind != ASSAY__CHANGE_NONE) {
            assay__json_object(w);
            assay__json_put_string(w, "kind", assay__change_name(r->change.kind));
            if (r->change.value) assay__json_put_integer(w, "value", r->change.value);
            if (r->change.name_count)
                assay__json_put_strings(w, "dims", r->change.names, r->change.name_count);
            assay__json_object_end(w);
        } else {
            assay__json_null(w);
        }
        assay__json_object_end(w);
    }
}

void assay__json_advice(struct assay__buf *out, const struct assay__advice *advice)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay_profile *profile = advice->profile;
    const struct assay__trial *trial = advice->trial;
    assay__json_head_of(w, out, profile->assay_version, profile->schema);
    assay__json_members(w, json_string("command", "advise"), json_text("profile", profile->path));
    assay__json_record(w, "model", json_text("name", profile->models[0]->name),
                       json_text("path", profile->models[0]->path),
                       json_text("fingerprint", profile->models[0]->fingerprint));
    assay__json_put_object(w, "trial");
    assay__json_members(w, json_integer("id", trial->id),
                        json_string("state", assay__trial_state_name(trial->state)),
                        json_text("engine", trial->target.engine),
                        json_text("device", trial->target.device),
                        json_number("p50_us", advice->p50_ns / 1e3));
    assay__json_assumed(w, trial->assumed_count ? trial->assumed[0] : NULL);
    assay__json_object_end(w);
    assay__json_record(w, "summary", json_integer("rules", advice->result_count),
                       json_integer("found", advice->found),
                       json_integer("nothing", advice->nothing),
                       json_integer("not_evaluated", advice->missing));
    const struct assay__verification *v = advice->verification;
    assay__json_key(w, "verification");
    if (v) {
        assay__json_record(
            w, NULL, json_integer("launches", v->launches), json_number("budget_s", v->budget_s),
            json_number("spent_s", v->spent_s), json_number("baseline_us", v->baseline_s * 1e6),
            json_integer("changes", v->changes), json_integer("tried", v->tried),
            json_integer("verified", v->verified), json_integer("withdrawn", v->withdrawn),
            json_bool("interrupted", v->interrupted), json_text("reason", v->reason));
    } else {
        assay__json_null(w);
    }
    assay__json_findings(w, profile);
    put_rules(w, advice);
    assay__json_tail(w);
}

void assay__json_rules(struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay__rule *rule;
    assay__json_head(w, out, "advise");
    assay__json_put_array(w, "rules");
    for (size_t i = 0; (rule = assay__rule_at(i)); i++) {
        struct assay__buf needs = {0};
        assay__rule_needs(&needs, rule);
        assay__json_record(
            w, NULL, json_string("id", rule->id), json_string("family", rule->family),
            json_string("title", rule->title), json_string("looks_for", rule->looks),
            json_string("needs", assay__buf_text(&needs)), json_string("effort", rule->effort));
        assay__buf_free(&needs);
    }
    assay__json_array_end(w);
    assay__json_tail(w);
}
