/* html_data.c - the end of the page: all metrics, the exact command, and the data itself for the
 * script and for downloads.
 *
 * Samples are kept whole but compact: per launch, base64 of bytes, each sample the zigzag-coded
 * difference to the one before it in ns (LEB128: seven bits a byte, low ones first; the top bit
 * says that another follows). A sample is a difference of two stamps of a clock that counts ns, so
 * a whole number; a launch that holds anything else stands as plain numbers. */
#include "report/html_sections.h"

#include "base/json.h"
#include "cost/roofline.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- samples ---------------------------------------------------------------------------------- */

/* False: a sample is no whole number. */
static bool pack(struct assay__buf *bytes, const double *samples_ns, size_t count)
{
    int64_t previous = 0;
    char block[10];
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(samples_ns[i]) < 9007199254740992.0) || samples_ns[i] != floor(samples_ns[i]))
            return false;
        int64_t now = (int64_t)samples_ns[i], step = now - previous;
        uint64_t code = ((uint64_t)step << 1) ^ (uint64_t)(step < 0 ? -1 : 0);
        size_t used = 0;
        do {
            block[used++] = (char)((code & 127) | (code > 127 ? 128 : 0));
            code >>= 7;
        } while (code);
        assay__buf_add(bytes, block, used);
        previous = now;
    }
    return true;
}

static void put_launch(struct assay__json_writer *w, const struct assay__trial *trial,
                       const struct assay__launch *launch)
{
    struct assay__buf bytes = {0}, text = {0};
    bool packed = pack(&bytes, launch->samples_ns, launch->sample_count);
    assay__json_object(w);
    assay__json_put_integer(w, "trial", trial->id);
    assay__json_put_integer(w, "launch", launch->id);
    assay__json_put_integer(w, "count", (int64_t)launch->sample_count);
    assay__json_put_integer(w, "warmup", (int64_t)launch->warmup);
    assay__json_key(w, "streams"); /* where each begins */
    assay__json_array(w);
    for (int i = 0; i < launch->streams && launch->stream_offsets; i++)
        assay__json_integer(w, (int64_t)launch->stream_offsets[i]);
    assay__json_array_end(w);
    if (packed) {
        assay__html_base64(&text, bytes.data, bytes.length);
        assay__json_put_string(w, "data", text.data ? text.data : "");
    } else {
        assay__json_key(w, "values");
        assay__json_array(w);
        for (size_t i = 0; i < launch->sample_count; i++)
            assay__json_number(w, launch->samples_ns[i]);
        assay__json_array_end(w);
    }
    assay__json_object_end(w);
    if (bytes.failed || text.failed) w->out->failed = true;
    assay__buf_free(&bytes);
    assay__buf_free(&text);
}

static void put_samples(struct assay__buf *out, const struct assay_profile *profile)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, false);
    assay__json_object(w);
    assay__json_put_string(w, "unit", "ns");
    assay__json_put_string(w, "encoding", "base64 of LEB128 of zigzag of differences");
    assay__json_key(w, "launches");
    assay__json_array(w);
    for (size_t i = 0; i < profile->trial_count; i++)
        for (size_t k = 0; k < profile->trials[i].launch_count; k++)
            if (profile->trials[i].launches[k].sample_count)
                put_launch(w, &profile->trials[i], &profile->trials[i].launches[k]);
    assay__json_array_end(w);
    assay__json_object_end(w);
}

/* --- places under the roofs ------------------------------------------------------------------- */

/* Four digits are enough for a place in a picture. */
static void put_rounded(struct assay__json_writer *w, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    assay__json_number(w, isfinite(value) ? strtod(text, NULL) : value);
}

static void put_places(struct assay__json_writer *w, const struct assay__roofline *r)
{
    static const char *const keys[] = {"attainable", "utilization"};
    for (size_t k = 0; k < 2; k++) {
        assay__json_key(w, keys[k]);
        assay__json_array(w);
        for (size_t i = 0; i < r->layer_count; i++)
            put_rounded(w, k ? r->layers[i].utilization : r->layers[i].attainable);
        assay__json_array_end(w);
    }
    assay__json_key(w, "roof");
    assay__json_array(w);
    for (size_t i = 0; i < r->layer_count; i++) {
        const struct assay__roofline_layer *l = &r->layers[i];
        const struct assay__roof *roof = l->bound == ASSAY__BOUND_MEMORY ? l->level : l->peak;
        assay__json_string(w, roof ? roof->label : NULL);
    }
    assay__json_array_end(w);
}

/* What the table of layers as CSV needs beyond the JSON: the shares of its last two rows, by the
 * same formula (csv.c). */
static void put_shares(struct assay__json_writer *w, const struct assay__trial *trial)
{
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    const double rest_ns[] = {trial->layers.engine_ns, trial->layers.unattributed_ns};
    assay__json_key(w, "shares");
    assay__json_array(w);
    for (size_t i = 0; i < 2; i++)
        assay__json_number(w, isfinite(rest_ns[i]) && p50 && p50->value > 0
                                  ? rest_ns[i] / 1e9 / p50->value
                                  : (double)NAN);
    assay__json_array_end(w);
}

static int put_rooflines(struct assay__buf *out, const struct assay_profile *profile)
{
    struct assay__json_writer writer, *w = &writer;
    int code = 0;
    assay__json_start(w, out, false);
    assay__json_array(w);
    for (size_t i = 0; !code && i < profile->trial_count; i++) {
        struct assay__arena *arena = assay__arena_new();
        struct assay__roofline r;
        code = arena ? assay__roofline(profile, &profile->trials[i], arena, &r) : ASSAY_ENOMEM;
        if (!code) {
            assay__json_object(w);
            assay__json_put_integer(w, "trial", profile->trials[i].id);
            assay__json_put_text(w, "reason", r.reason);
            if (profile->trials[i].layers.count) put_shares(w, &profile->trials[i]);
            if (!r.reason[0]) put_places(w, &r);
            assay__json_object_end(w);
        }
        assay__arena_free(arena);
    }
    assay__json_array_end(w);
    return code;
}

int assay__html_embed(const struct assay_profile *profile,
                      const struct assay_report_options *options, struct assay__buf *out,
                      struct assay_error *error)
{
    struct assay__buf json = {0};
    int code = assay__report_json(profile, options, &json, error);
    if (!code) {
        assay__html_data(out, "assay-data", json.data ? json.data : "{}", json.length);
        assay__buf_clear(&json);
        put_samples(&json, profile);
        assay__html_data(out, "assay-samples", json.data ? json.data : "{}", json.length);
        assay__buf_clear(&json);
        code = put_rooflines(&json, profile);
        assay__html_data(out, "assay-roofline", json.data ? json.data : "[]", json.length);
        if (code) assay_error_set(error, code, "out of memory while writing the report");
    }
    if (json.failed) out->failed = true;
    assay__buf_free(&json);
    return code;
}

/* --- what is shown of it ---------------------------------------------------------------------- */

void assay__html_metrics(struct assay__html *page, const struct assay_profile *profile,
                         const struct assay__trial *trial)
{
    size_t count = trial->metrics ? assay_metrics_count(trial->metrics) : 0, gone = 0;
    struct assay__buf text = {0};
    if (!count) return;
    assay__html_section(page, "metrics", "All metrics", ASSAY__HTML_MACHINE);
    for (size_t i = 0; i < count; i++)
        gone += assay_metrics_at(trial->metrics, i)->state == ASSAY_UNAVAILABLE;
    assay__buf_printf(&text, "%zu metrics%s%s, %zu of them unavailable, each with its reason.",
                      count, profile->trial_count > 1 ? " of " : "",
                      profile->trial_count > 1 ? assay__html_trial_label(trial) : "", gone);
    assay__html_paragraph(page, "note", text.data);
    assay__html_table(page, "metric-table", "sortable",
                      "All metrics with state, source and formula",
                      "Metric|>Value|State|Source|Formula, remark or reason");
    for (size_t i = 0; i < count; i++) {
        const struct assay_metric *m = assay_metrics_at(trial->metrics, i);
        const struct assay_metric_info *info = assay_metric_lookup(m->name);
        bool known = m->state != ASSAY_UNAVAILABLE && isfinite(m->value);
        struct assay__buf value = {0};
        assay__buf_puts(&page->body, "<tr><th scope=\"row\" title=\"");
        assay__html_text(&page->body, info ? info->summary : "");
        assay__buf_puts(&page->body, "\">");
        assay__html_name(&page->body, m->name);
        assay__buf_puts(&page->body, "</th><td class=\"n\"");
        if (known) assay__buf_printf(&page->body, " data-v=\"%.9g\"", m->value);
        assay__buf_putc(&page->body, '>');
        assay__render_metric(&value, m);
        assay__html_text(&page->body, value.data);
        assay__buf_puts(&page->body, "</td>");
        assay__html_cell_text(page, assay_state_name(known ? m->state : ASSAY_UNAVAILABLE));
        assay__html_cell_text(page, known ? m->source : "");
        assay__buf_puts(&page->body, "<td class=\"words\">");
        assay__html_prose(&page->body, m->note);
        assay__buf_puts(&page->body, "</td></tr>\n");
        assay__buf_free(&value);
    }
    assay__html_table_end(page);
    assay__buf_free(&text);
    assay__html_section_end(page);
}

void assay__html_raw(struct assay__html *page, const struct assay_profile *profile,
                     const struct assay__trial *trial)
{
    (void)trial;
    assay__html_section(page, "data", "Data and command", ASSAY__HTML_MACHINE);
    if (profile->command_line && *profile->command_line) {
        assay__html_paragraph(page, NULL, "The command that made this profile:");
        assay__buf_puts(&page->body, "<pre class=\"command\" tabindex=\"0\"><code>");
        assay__html_text(&page->body, profile->command_line);
        assay__buf_puts(&page->body, "</code></pre>\n");
    } else {
        assay__html_paragraph(page, "note", "The profile does not say which command made it.");
    }
    assay__buf_puts(&page->body, "<p id=\"downloads\" class=\"downloads\" hidden></p>\n");
    assay__html_paragraph(
        page, "note",
        "The data behind this page is in it: the same JSON as assay report --json gives, and every "
        "sample of every "
        "launch. Pictures of many samples show a selection; nothing is left out of the data.");
    assay__html_section_end(page);
}
