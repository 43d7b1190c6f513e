/* attach.c - the data that a page carries for its script and for downloads: the JSON report, the
 * samples, the layers' places under the roofs.
 *
 * Samples are kept whole but compact: per launch, base64 of their differences as the profile's file
 * encodes them (profile/chunk.c, "delta-varint"). A sample is a difference of two stamps of a clock
 * that counts ns, so a whole number; a launch with anything else is written as plain numbers. */
#include "report/json/json_parts.h"

#include "profile/chunk.h"
#include "report/formats.h"
#include "report/walk/html_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- samples ---------------------------------------------------------------------------------- */

static void put_launch(struct assay__json_writer *w, const struct assay__trial *trial,
                       const struct assay__launch *launch)
{
    struct assay__buf bytes = {0}, text = {0};
    const char *encoding = assay__chunk_encode(launch->samples_ns, launch->sample_count, &bytes);
    assay__json_object(w);
    assay__json_members(w, json_integer("trial", trial->id), json_integer("launch", launch->id),
                        json_integer("count", launch->sample_count),
                        json_integer("warmup", launch->warmup));
    assay__json_key(w, "streams"); /* where each begins */
    assay__json_array(w);
    for (int i = 0; i < launch->streams && launch->stream_offsets; i++)
        assay__json_integer(w, (int64_t)launch->stream_offsets[i]);
    assay__json_array_end(w);
    if (strcmp(encoding, ASSAY__CHUNK_DELTA) == 0) {
        assay__html_base64(&text, bytes.data, bytes.length);
        assay__json_put_string(w, "data", assay__buf_text(&text));
    } else {
        for (ASSAY__JSON_EACH(i, w, "values", launch->sample_count))
            assay__json_number(w, launch->samples_ns[i]);
    }
    assay__json_object_end(w);
    assay__buf_drop(&bytes, w->out);
    assay__buf_drop(&text, w->out);
}

static void put_samples(struct assay__buf *out, const struct assay_profile *profile)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, false);
    assay__json_object(w);
    assay__json_members(w, json_string("unit", "ns"),
                        json_string("encoding", "base64 of LEB128 of zigzag of differences"));
    for (ASSAY__JSON_EACH(i, w, "launches", profile->trial_count))
        for (size_t k = 0; k < profile->trials[i].launch_count; k++)
            if (profile->trials[i].launches[k].sample_count)
                put_launch(w, &profile->trials[i], &profile->trials[i].launches[k]);
    assay__json_object_end(w);
}

/* --- places under the roofs ------------------------------------------------------------------- */

static void put_places(struct assay__json_writer *w, const struct assay__roofline *r)
{
    static const char *const keys[] = {"attainable", "utilization"};
    for (size_t k = 0; k < 2; k++) {
        for (ASSAY__JSON_EACH(i, w, keys[k], r->layer_count))
            assay__json_number(
                w, assay__json_rounded(k ? r->layers[i].utilization : r->layers[i].attainable, 4));
    }
    for (ASSAY__JSON_EACH(i, w, "roof", r->layer_count)) {
        const struct assay__roofline_layer *l = &r->layers[i];
        const struct assay__roof *roof = l->under_memory ? l->level : l->peak;
        assay__json_string(w, roof ? roof->label : NULL);
    }
}

static void put_rooflines(struct assay__buf *out, struct assay__study *study)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay_profile *profile = study->profile;
    assay__json_start(w, out, false);
    for (ASSAY__JSON_EACH(i, w, NULL, profile->trial_count)) {
        const struct assay__roofline *r = assay__study_roofline(study, &profile->trials[i]);
        if (study->failed) continue;
        assay__json_object(w);
        assay__json_members(w, json_integer("trial", profile->trials[i].id),
                            json_text("reason", r->reason));
        /* What the table of layers as CSV needs beyond the JSON: the shares of its last two rows,
         * by the same formula (csv.c). */
        if (profile->trials[i].layers.count) {
            const struct assay__trial *trial = &profile->trials[i];
            const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
            const double rest_ns[] = {trial->layers.engine_ns, trial->layers.unattributed_ns};
            for (ASSAY__JSON_EACH(k, w, "shares", 2))
                assay__json_number(w, isfinite(rest_ns[k]) && p50 && p50->value > 0
                                          ? rest_ns[k] / 1e9 / p50->value
                                          : (double)NAN);
        }
        if (!r->reason[0]) put_places(w, r);
        assay__json_object_end(w);
    }
}

static struct assay__buf *attach(struct assay__doc *doc, const char *id)
{
    struct assay__attachment *made = &doc->attachments[doc->attachment_count++];
    made->id = id;
    return &made->json;
}

int assay__attach_data(struct assay__doc *doc, struct assay__study *study,
                       const struct assay_report_options *options, struct assay_error *error)
{
    int code = assay__write_json(study, options, attach(doc, "assay-data"), error);
    if (code) return code;
    put_samples(attach(doc, "assay-samples"), study->profile);
    put_rooflines(attach(doc, "assay-roofline"), study);
    for (size_t i = 0; i < doc->attachment_count; i++)
        if (doc->attachments[i].json.failed) doc->failed = true;
    return 0;
}
