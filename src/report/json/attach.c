/* attach.c - the data in a page for its script and for downloads: the JSON report, the samples, the
 * layers' places under the roofs and in their blocks. Lists of rows are columns (json_pack.h).
 *
 * Samples are complete but compact: per launch, base64 of their differences as the profile's file
 * encodes them (profile/chunk.c, "delta-varint"). A sample is a difference of two stamps of a clock
 * that counts ns, so a whole number; a launch with anything else is written as plain numbers. */
#include "report/json/json_pack.h"
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
    for (ASSAY__JSON_EACH(i, w, "layers", r->layer_count)) {
        const struct assay__roofline_layer *l = &r->layers[i];
        const struct assay__roof *roof = l->under_memory ? l->level : l->peak;
        assay__json_record(w, NULL,
                           json_number("least_us", assay__json_rounded(l->least_ns / 1e3, 6)),
                           json_number("attainable", assay__json_rounded(l->attainable, 4)),
                           json_number("utilization", assay__json_rounded(l->utilization, 4)),
                           json_string("roof", roof ? roof->label : NULL));
    }
    assay__json_put_number(w, "peak", r->peak ? r->peak->value : (double)NAN);
}

static void put_blocks(struct assay__json_writer *w, const struct assay__blocks *blocks)
{
    for (ASSAY__JSON_EACH(i, w, "blocks", blocks->count)) {
        const struct assay__layer_block *b = &blocks->items[i];
        assay__json_record(w, NULL, json_integer("id", b->id), json_integer("level", b->level),
                           json_integer("parent", b->parent), json_string("name", b->name),
                           json_string("label", b->label), json_integer("first", (int64_t)b->first),
                           json_integer("count", (int64_t)b->count));
    }
}

static void put_layers(struct assay__buf *out, struct assay__study *study)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay_profile *profile = study->profile;
    assay__json_start(w, out, false);
    for (ASSAY__JSON_EACH(i, w, NULL, profile->trial_count)) {
        const struct assay__trial *trial = &profile->trials[i];
        const struct assay__roofline *r = assay__study_roofline(study, trial);
        if (study->failed) continue;
        assay__json_object(w);
        assay__json_members(w, json_integer("trial", trial->id), json_text("reason", r->reason));
        /* What the table of layers as CSV needs beyond the JSON: the shares of its last two rows,
         * by the same formula (csv.c). */
        if (trial->layers.count) {
            double whole_ns = assay__layers_stored_whole(trial);
            const double rest_ns[] = {trial->layers.engine_ns, trial->layers.unattributed_ns};
            for (ASSAY__JSON_EACH(k, w, "shares", 2))
                assay__json_number(w, rest_ns[k] / whole_ns);
        }
        if (!r->reason[0]) put_places(w, r);
        put_blocks(w, assay__study_blocks(study, trial));
        assay__json_object_end(w);
    }
}

/* The packed form of what was written; the text is freed. */
static void attach(struct assay__doc *doc, const char *id, struct assay__buf *json)
{
    struct assay__attachment *made = &doc->attachments[doc->attachment_count++];
    made->id = id;
    assay__json_pack(&made->json, assay__buf_text(json), json->length);
    if (json->failed || made->json.failed) doc->failed = true;
    assay__buf_free(json);
}

int assay__attach_data(struct assay__doc *doc, struct assay__study *study,
                       const struct assay_report_options *options, struct assay_error *error)
{
    struct assay__buf json = {0};
    int code = assay__write_json(study, options, &json, error);
    if (code) {
        assay__buf_free(&json);
        return code;
    }
    attach(doc, "assay-data", &json);
    put_samples(&json, study->profile);
    attach(doc, "assay-samples", &json);
    put_layers(&json, study);
    attach(doc, "assay-layers", &json);
    if (assay__graph_json(&json, study)) attach(doc, "assay-graph", &json);
    assay__buf_free(&json);
    return 0;
}
