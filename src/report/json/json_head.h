/* json_head.h - how every JSON document of ours begins. */
#ifndef ASSAY_REPORT_JSON_JSON_HEAD_H
#define ASSAY_REPORT_JSON_JSON_HEAD_H

#include "base/json.h"

/** Opens the object that every JSON document of ours is, with its first member: "assay":
 *  {"version", "schema"}. */
void assay__json_head(struct assay__json_writer *w, const char *version, int schema);

#endif
