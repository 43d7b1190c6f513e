/* diff_json.c - several profiles side by side as one JSON object: every row, folded or not, each
 * with the reason if it has no interval. Numbers are in base units; times of layers in
 * microseconds, as in all our JSON. */
#include "report/report_diff.h"

#include "report/json/json_parts.h"

#include "base/json.h"

static void put_profiles(struct assay__json_writer *w, const struct assay__diff *diff)
{
    for (ASSAY__JSON_EACH(s, w, "profiles", diff->count)) {
        const struct assay__diff_side *side = &diff->sides[s];
        assay__json_object(w);
        assay__json_members(w, json_string("name", side->name), json_bool("base", s == 0),
                            json_text("assay_version", side->profile->assay_version),
                            json_text("created", side->profile->created),
                            json_text("command_line", side->profile->command_line),
                            json_bool("complete", side->profile->complete),
                            json_text("model", side->profile->models[0]->name),
                            json_text("fingerprint", side->profile->models[0]->fingerprint));
        assay__json_members(
            w, side->trial ? json_integer("trial", side->trial->id) : json_null("trial"),
            json_text("trial_label", side->trial_label),
            json_text("device", side->trial ? side->trial->target.device : ""),
            json_bool("usable", side->usable), json_text("reason", side->reason));
        assay__json_object_end(w);
    }
}

static void put_metric(struct assay__json_writer *w, const struct assay__diff *diff,
                       const struct assay__diff_metric *row)
{
    assay__json_object(w);
    assay__json_members(w, json_string("name", row->name), json_string("unit", row->unit),
                        json_bool("by_launch", row->by_launch));
    for (ASSAY__JSON_EACH(s, w, "values", diff->count)) {
        const struct assay_metric *m = row->values[s];
        if (!m) {
            assay__json_null(w);
            continue;
        }
        assay__json_record(w, NULL, json_number("value", m->value),
                           json_string("state", assay_state_name(m->state)),
                           json_string("source", m->source), json_string("note", m->note));
    }
    for (ASSAY__JSON_EACH(i, w, "deltas", diff->count - 1)) {
        const struct assay__diff_delta *d = &row->deltas[i + 1];
        assay__json_object(w);
        assay__json_members(w, json_string("profile", diff->sides[i + 1].name),
                            json_number("ratio", d->ratio), json_number("low", d->ci.low),
                            json_number("high", d->ci.high),
                            json_number("difference", d->difference));
        if (d->ci.known) {
            assay__json_members(w, json_number("p_value", d->p_value),
                                json_number("smallest_difference", d->smallest));
        }
        assay__json_members(
            w, json_string("verdict", assay__diff_verdict_name(d->verdict, row->sense)),
            json_text("reason", d->reason));
        assay__json_object_end(w);
    }
    assay__json_put_bool(w, "folded", assay__diff_fold(diff, row) != ASSAY__DIFF_LINE);
    assay__json_object_end(w);
}

void assay__json_diff_deltas(struct assay__json_writer *w, const struct assay__diff *diff,
                             const struct assay__diff_delta *deltas, bool of_layers)
{
    /* There may be 100,000 of them: unknown values are left out, and the reason why single layers
     * have no interval is given once for all. */
    bool said_once = of_layers && *diff->layers_interval_reason;
    for (ASSAY__JSON_EACH(i, w, "deltas", diff->count - 1)) {
        const struct assay__diff_delta *d = &deltas[i + 1];
        assay__json_object(w);
        assay__json_members(w, json_number("ratio", d->ratio),
                            json_number("difference_us", d->difference / 1e3));
        if (d->ci.known) {
            assay__json_members(w, json_number("low", d->ci.low), json_number("high", d->ci.high),
                                json_number("p_value", d->p_value));
        }
        assay__json_put_string(w, "verdict",
                               assay__diff_verdict_name(d->verdict, ASSAY__DIFF_TIME));
        if (*d->reason && !(said_once && d->verdict == ASSAY__DIFF_UNJUDGED))
            assay__json_put_string(w, "reason", d->reason);
        assay__json_object_end(w);
    }
}

void assay__json_diff_layer(struct assay__json_writer *w, const struct assay__diff *diff,
                            const struct assay__diff_layer *row)
{
    static const char *const kinds[] = {"layer", "engine", "unattributed", "sum"};
    assay__json_object(w);
    assay__json_members(w, json_string("kind", kinds[row->kind]),
                        json_string("name", assay__diff_layer_title(diff, row)),
                        json_string("match", assay__diff_match_name(row->match)),
                        json_bool("grouped", row->grouped));
    if (row->by_launch) assay__json_put_bool(w, "by_launch", true);
    if (row->kind == ASSAY__DIFF_LAYER) {
        for (ASSAY__JSON_EACH(s, w, "members", diff->count)) {
            assay__json_array(w);
            for (size_t i = row->starts[s]; i < row->starts[s + 1]; i++) {
                const struct assay__layer *layer =
                    &diff->sides[s].trial->layers.items[row->members[i]];
                assay__json_record(w, NULL, json_integer("index", layer->index),
                                   json_string("name", layer->name), json_string("op", layer->op),
                                   json_number("time_us", layer->time_ns / 1e3));
            }
            assay__json_array_end(w);
        }
    }
    for (ASSAY__JSON_EACH(s, w, "times_us", diff->count))
        assay__json_number(w, row->times_ns[s] / 1e3);
    assay__json_diff_deltas(w, diff, row->deltas, row->kind == ASSAY__DIFF_LAYER);
    assay__json_put_bool(w, "folded", !row->shown);
    assay__json_object_end(w);
}

int assay__diff_json(const struct assay__diff *diff, const struct assay_report_options *options,
                     struct assay__buf *out, struct assay_error *error)
{
    struct assay__json_writer writer, *w = &writer;
    (void)options;
    (void)error;
    assay__json_head_of(w, out, diff->sides[0].profile->assay_version,
                        diff->sides[0].profile->schema);
    assay__json_members(w, json_string("command", "report"), json_string("summary", diff->summary));
    put_profiles(w, diff);
    assay__json_members(w, diff->model_known ? json_bool("same_model", diff->same_model)
                                             : json_null("same_model"));
    for (ASSAY__JSON_EACH(i, w, "metrics", diff->metric_count))
        put_metric(w, diff, &diff->metrics[i]);
    for (ASSAY__JSON_EACH(i, w, "layers", diff->layer_count))
        assay__json_diff_layer(w, diff, &diff->layers[i]);
    assay__json_members(w, json_text("layers_reason", diff->layers_reason),
                        json_text("layers_rule", diff->layers_rule),
                        json_text("layers_interval_reason", diff->layers_interval_reason),
                        json_number("layers_spread", diff->layers_spread));
    for (ASSAY__JSON_EACH(i, w, "differences", diff->cause_count)) {
        const struct assay__diff_cause *cause = &diff->causes[i];
        assay__json_object(w);
        assay__json_members(w, json_string("kind", cause->kind), json_string("name", cause->name),
                            json_string("explains", assay__diff_likelihood(cause->weight)));
        for (ASSAY__JSON_EACH(s, w, "values", diff->count))
            assay__json_string(w, *cause->values[s] ? cause->values[s] : NULL);
        assay__json_object_end(w);
    }
    assay__json_put_strings(w, "notes", diff->notes, diff->note_count);
    assay__json_tail(w);
    return 0;
}
