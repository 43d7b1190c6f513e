/* inspect_json.h - members that the JSON of one model and that of two have alike. */
#ifndef ASSAY_REPORT_JSON_INSPECT_JSON_H
#define ASSAY_REPORT_JSON_INSPECT_JSON_H

#include "base/json.h"
#include "inspect/inspect.h"

/** Opens the document. */
void assay__inspect_json_head(struct assay__json_writer *w);
/** Member "metrics". */
void assay__inspect_json_metrics(struct assay__json_writer *w, const struct assay_metrics *set);
/** Member "ncp", and "ncp_fault" where the metadata contradicts itself. */
void assay__inspect_json_ncp(struct assay__json_writer *w, const struct assay__inspect *inspect);

#endif
