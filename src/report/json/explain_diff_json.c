/* explain_diff_json.c - what changed between two timelines as one JSON object (doc/explain.md). */
#include "report/report_explain.h"

#include "report/json/json_members.h"

static void put_side(struct assay__json_writer *w, const char *key, const struct assay__explain *x)
{
    assay__json_record(w, key, json_text("path", assay__explain_file(x)),
                       json_string("diagnosis", assay__diagnoses[x->diagnosis.id].name),
                       json_string("verdict", x->diagnosis.verdict),
                       json_string("evidence", x->diagnosis.evidence),
                       json_integer("steps", (int64_t)x->steps.count),
                       json_number("span_ms", (double)x->span_ns / 1e6));
}

void assay__explain_diff_json(const struct assay__explain_diff *d, struct assay__buf *out)
{
    struct assay__json_writer w;
    assay__json_head(&w, out, "explain");
    assay__json_members(&w, json_string("summary", d->verdict), json_text("why", d->why),
                        json_bool("per_step", d->per_step));
    put_side(&w, "before", d->before);
    put_side(&w, "after", d->after);
    for (ASSAY__JSON_EACH(i, &w, "changes", ASSAY__DIFF_PARTS))
        assay__json_record(&w, NULL, json_string("id", d->parts[i].id),
                           json_number("before_ms", d->parts[i].before_s * 1e3),
                           json_number("after_ms", d->parts[i].after_s * 1e3));
    for (ASSAY__JSON_EACH(i, &w, "kernels", d->kernel_count)) {
        const struct assay__diff_kernel *k = &d->kernels[i];
        assay__json_record(
            &w, NULL, json_string("name", k->name), json_number("before_count", k->before_count),
            json_number("after_count", k->after_count), json_number("before_us", k->before_s * 1e6),
            json_number("after_us", k->after_s * 1e6));
    }
    assay__json_tail(&w);
}
