/* html_sections.h - the sections of the HTML report, one function each. A section that a profile
 * has nothing of says why in one sentence, or is left out where nobody would look for it (a sweep's
 * charts in a run). */
#ifndef ASSAY_REPORT_HTML_SECTIONS_H
#define ASSAY_REPORT_HTML_SECTIONS_H

#include "report/html.h"

typedef void assay__html_section_fn(struct assay__html *page, const struct assay_profile *profile,
                                    const struct assay__trial *trial);

assay__html_section_fn assay__html_summary, assay__html_findings, assay__html_requirements,
    assay__html_environment, assay__html_latency, assay__html_layers, assay__html_roofline,
    assay__html_placement, assay__html_memory, assay__html_power, assay__html_comparison,
    assay__html_sweep, assay__html_tune, assay__html_trials, assay__html_metrics, assay__html_raw;

#define ASSAY__HTML_ROWS \
    1000 /* layers that stand in the page as rows; the script makes the others */

/** The trial that the page is about: the one a comparison or a sweep recommends, else the first
 *  that ran, else the first; NULL: there is none. */
const struct assay__trial *assay__html_main_trial(const struct assay_profile *profile);
/** "resnet50 on cpu": the trial's label, else its device. Unescaped. */
const char *assay__html_trial_label(const struct assay__trial *trial);
/** The 95 % interval of the median in words ("38.9 ms to 39.4 ms, 95 % between launches"); ""
 *  unknown. */
void assay__html_p50_interval(struct assay__buf *out, const struct assay__trial *trial);
/** The table of a trial's layers, at most `rows` of them, longest first; prefix: of the rows' ids
 *  ("", "t2-"). */
void assay__html_layer_table(struct assay__html *page, const struct assay__trial *trial,
                             size_t rows, const char *prefix);
/** The percentiles of a trial. */
void assay__html_percentiles(struct assay__html *page, const struct assay__trial *trial);
/** What the page's script and its downloads need: the JSON of the report, the samples, the places
 *  under the roofs. */
int assay__html_embed(const struct assay_profile *profile,
                      const struct assay_report_options *options, struct assay__buf *out,
                      struct assay_error *error);

#endif
