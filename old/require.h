/* require.h - requirements, score and review in the report formats. Each prints nothing when the
 * profile holds no requirement table, unless it says otherwise. */
#ifndef ASSAY_REPORT_REQUIRE_H
#define ASSAY_REPORT_REQUIRE_H

#include "base/json.h"
#include "report/walk/text_page.h"

/** Below the header: verdicts, score, three recommendations; `detailed` adds bottlenecks,
 *  opportunities, all recommendations and the environment. Also without a table: then there is no
 *  verdict. */
void assay__page_review(struct assay__page *page, const struct assay_profile *profile,
                        const struct assay__trial *trial, bool detailed);
/** Member of a trial: "requirements"; with `review` also "review" (also without a table). */
void assay__json_requirements(struct assay__json_writer *w, const struct assay_profile *profile,
                              const struct assay__trial *trial, bool review,
                              struct assay__buf *out);
void assay__markdown_requirements(struct assay__buf *out, const struct assay_profile *profile,
                                  const struct assay__trial *trial);
/** Only "" | "basic" | "detailed" are known. */
bool assay__detail_is_known(const char *detail);

#endif
