/* render.h - what the report formats share. A format is one file with one function of the type
 * below and one row in formats.h. A renderer only reads the profile and appends to the buffer, so
 * the same profile gives the same bytes on every machine. Strings in a profile are untrusted: each
 * format escapes them its own way. */
#ifndef ASSAY_REPORT_RENDER_H
#define ASSAY_REPORT_RENDER_H

#include "base/buf.h"
#include "profile/trial_values.h"

#include <assay/report.h>

struct assay__json_writer;

typedef int assay__report_fn(const struct assay_profile *profile,
                             const struct assay_report_options *options, struct assay__buf *out,
                             struct assay_error *error);

assay__report_fn assay__report_text, assay__report_json, assay__report_csv, assay__report_markdown,
    assay__report_junit, assay__report_model_explorer, assay__report_html;

/** The shortest decimal form that reads back as the same number; nothing for a non-finite value. */
void assay__render_number(struct assay__buf *out, double value);
/** "1,234,567" */
void assay__render_count(struct assay__buf *out, int64_t value);
/** "25.6 M", three digits; exact below 10,000. */
void assay__render_short_count(struct assay__buf *out, int64_t value);
/** "1x3x224x224", symbols by name, "?" where unknown, "scalar" for rank 0, "unknown shape".
 *  Unescaped. */
void assay__render_shape(struct assay__buf *out, const struct assay__tensor_info *tensor);
/** A metric as people read it, with its mark: "39.1 ms", "=210 GFLOP/s", "~3.20 ms", "68.0 GB/s
 *  (published)", "—". */
void assay__render_metric(struct assay__buf *out, const struct assay_metric *metric);
/** The mark that stands before a value of that state: "", "=", "~". */
const char *assay__render_mark(enum assay_state state);
/** A duration in ns as people read it; "—" when NaN. */
void assay__render_ns(struct assay__buf *out, double time_ns);
/** "cfc", "cfc and lora", "cfc and 3 more models". Unescaped. */
void assay__render_model_names(struct assay__buf *out, const struct assay_profile *profile);
/** What people know the layer by: the first node of the model it came from, else its name, else its
 *  operator. */
const char *assay__render_layer_title(const struct assay__layer *layer);
/** Layers in the order of the table: by time, longest first; without times by host enqueue time;
 *  then by index. The caller frees it. NULL when out of memory (or count 0). */
size_t *assay__render_layer_order(const struct assay__layers *layers);
/** Sum of the times of layers order[first] … order[count - 1] in ns; NaN when one of them is
 *  unknown. */
double assay__render_layer_sum(const struct assay__layers *layers, const size_t *order,
                               size_t first, size_t count);
/** The total of the layer table: latency.p50 where it is known, also when a layer has no time.
 *  *mark is its state's. */
double assay__render_layer_total(const struct assay__trial *trial, const char **mark);
/** "timed by markers", "timed alone, hot cache (isolated)". Unescaped. */
void assay__render_layer_method(struct assay__buf *out, const struct assay__layers *layers);
/** One sentence: where the time of one inference goes. Unescaped. */
void assay__render_answer(struct assay__buf *out, const struct assay__trial *trial);
/** Lines that stand above everything else ("INCOMPLETE: …"), one per call; 0 when there is no such
 *  line. Trials that failed for the same reason are one line. One that lost a launch and is judged
 *  by the others is a "NOTE: …", no failure. */
int assay__render_alert(struct assay__buf *out, const struct assay_profile *profile, size_t index);
/** The trial lost a launch and stands all the same: what its command concludes rests on the
 *  launches that are left. */
bool assay__render_stands(const struct assay_profile *profile, const struct assay__trial *trial);

/** Unavailable metrics with the same root reason, joined; the reason is borrowed from the set. */
struct assay__reason_group {
    const char *reason;
    struct assay__buf names; /* "latency.transfer_in, .execute" */
};
/** Fills a fresh array (free each names with assay__buf_free, then free() the array). 0 or
 *  ASSAY_ENOMEM. */
int assay__render_unavailable(const struct assay_metrics *metrics,
                              struct assay__reason_group **groups, size_t *count);

/** Opens the object that every JSON document of ours is, with its first member: "assay":
 *  {"version", "schema"}. */
void assay__render_json_head(struct assay__json_writer *w, const char *version, int schema);
/** A cell of CSV: made safe, quoted where it must be, and guarded against spreadsheet formulas. */
void assay__csv_text(struct assay__buf *out, const char *text);
/** A comma and the row's next cell; a number that is not known leaves it empty. */
void assay__csv_next_text(struct assay__buf *out, const char *text);
void assay__csv_next_number(struct assay__buf *out, double value);
/** "9.6 MB of activations are alive while 'Conv_3' (Conv) runs, in 3 tensors." of a peak that is
 *  known. */
void assay__render_peak(struct assay__buf *out, const struct assay__peak *peak);
/** Text escaped for Markdown. */
void assay__markdown_text(struct assay__buf *out, const char *text);
/** The mark before a value of that state, in Markdown: "", "=", "\\~". */
const char *assay__markdown_mark(enum assay_state state);
/** How the expected gain of a finding is known: estimated where its evidence says that a cost was
 *  assumed, else derived from shares of the profile. */
enum assay_state assay__render_gain_state(const struct assay__finding *finding);

/** What a launch did, told apart: inferences before measuring began (not kept; NaN unknown),
 *  samples that are kept, of these the first that were found to be warm-up, and the rest, which the
 *  statistics stand on. */
struct assay__launch_counts {
    double prerun;
    size_t kept, found, counted;
};
struct assay__launch_counts assay__render_launch_counts(const struct assay__launch *launch);

#endif
