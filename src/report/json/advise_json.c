/* advise_json.c - see advise_json.h. */
#include "report/json/advise_json.h"

#include "base/json.h"
#include "experiment/verify.h"
#include "report/json/json_parts.h"

#include <math.h>

static void put_rules(struct assay__json_writer *w, const struct assay__advice *advice)
{
    assay__json_put_array(w, "rules");
    for (size_t i = 0; i < advice->result_count; i++) {
        const struct assay__rule_result *r = &advice->results[i];
        assay__json_object(w);
        assay__json_put_string(w, "id", r->rule->id);
        assay__json_put_string(w, "family", r->rule->family);
        assay__json_put_string(w, "outcome", assay__rule_outcome_name(r->outcome));
        assay__json_put_text(w, "missing", r->missing);
        bool known = isfinite(r->finding.expected_gain);
        assay__json_put_text(w, "potential_of", known ? assay__rule_gain_of(r->rule->id) : "");
        assay__json_put_text(w, "potential_state",
                             known ? assay_state_name(assay__finding_gain_state(&r->finding)) : "");
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
    assay__json_array_end(w);
}

static void put_head(struct assay__json_writer *w, const struct assay__advice *advice)
{
    const struct assay_profile *profile = advice->profile;
    const struct assay__trial *trial = advice->trial;
    assay__json_put_text(w, "profile", profile->path);
    assay__json_put_object(w, "model");
    assay__json_put_text(w, "name", profile->models[0]->name);
    assay__json_put_text(w, "path", profile->models[0]->path);
    assay__json_put_text(w, "fingerprint", profile->models[0]->fingerprint);
    assay__json_object_end(w);
    assay__json_put_object(w, "trial");
    assay__json_put_integer(w, "id", trial->id);
    assay__json_put_string(w, "state", assay__trial_state_name(trial->state));
    assay__json_put_text(w, "engine", trial->target.engine);
    assay__json_put_text(w, "device", trial->target.device);
    assay__json_put_number(w, "p50_us", advice->p50_ns / 1e3);
    assay__json_object_end(w);
}

static void put_verified(struct assay__json_writer *w, const struct assay__advice *advice)
{
    const struct assay__verification *v = advice->verification;
    assay__json_key(w, "verification");
    if (!v) {
        assay__json_null(w);
        return;
    }
    assay__json_object(w);
    assay__json_put_integer(w, "launches", v->launches);
    assay__json_put_number(w, "budget_s", v->budget_s);
    assay__json_put_number(w, "spent_s", v->spent_s);
    assay__json_put_number(w, "baseline_us", v->baseline_s * 1e6);
    assay__json_put_integer(w, "changes", (int64_t)v->changes);
    assay__json_put_integer(w, "tried", (int64_t)v->tried);
    assay__json_put_integer(w, "verified", (int64_t)v->verified);
    assay__json_put_integer(w, "withdrawn", (int64_t)v->withdrawn);
    assay__json_put_bool(w, "interrupted", v->interrupted);
    assay__json_put_text(w, "reason", v->reason);
    assay__json_object_end(w);
}

void assay__json_advice(struct assay__buf *out, const struct assay__advice *advice)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__json_head(w, advice->profile->assay_version, advice->profile->schema);
    assay__json_put_string(w, "command", "advise");
    put_head(w, advice);
    assay__json_put_object(w, "summary");
    assay__json_put_integer(w, "rules", (int64_t)advice->result_count);
    assay__json_put_integer(w, "found", (int64_t)advice->found);
    assay__json_put_integer(w, "nothing", (int64_t)advice->nothing);
    assay__json_put_integer(w, "not_evaluated", (int64_t)advice->missing);
    assay__json_object_end(w);
    put_verified(w, advice);
    assay__json_findings(w, advice->profile);
    put_rules(w, advice);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}

void assay__json_rules(struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay__rule *rule;
    assay__json_start(w, out, true);
    assay__json_head(w, ASSAY_VERSION_STRING, ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "advise");
    assay__json_put_array(w, "rules");
    for (size_t i = 0; (rule = assay__rule_at(i)); i++) {
        struct assay__buf needs = {0};
        assay__rule_needs(&needs, rule);
        assay__json_object(w);
        assay__json_put_string(w, "id", rule->id);
        assay__json_put_string(w, "family", rule->family);
        assay__json_put_string(w, "title", rule->title);
        assay__json_put_string(w, "looks_for", rule->looks);
        assay__json_put_string(w, "needs", assay__buf_text(&needs));
        assay__json_put_string(w, "effort", rule->effort);
        assay__json_object_end(w);
        assay__buf_free(&needs);
    }
    assay__json_array_end(w);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}
