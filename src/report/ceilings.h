/* ceilings.h - measured ceilings as a table for people and as members of a JSON object. */
#ifndef ASSAY_REPORT_CEILINGS_H
#define ASSAY_REPORT_CEILINGS_H

#include "ceiling/ceiling.h"
#include "report/walk/text_page.h"

struct assay__json_writer;

/** Where, when and how they were measured, a table of one core beside all cores (a device's: best
 *  and median beside the published peak), then the notes. */
void assay__ceilings_text(struct assay__page *page, const struct assay__ceilings *set);
/** The same of a device's set, under the name that the reader knows it by ("gpu/cuda:0"); NULL: the
 *  engine's own. */
void assay__ceilings_device_text(struct assay__page *page, const struct assay__ceilings *set,
                                 const char *name);
/** Members of the object that is open: "ceilings" (an object by name), "ceilings_state",
 *  "ceilings_note", "ceilings_measurement". set NULL: none, and `why`. */
void assay__ceilings_json(struct assay__json_writer *json, const struct assay__ceilings *set,
                          const char *why);
/** (high - low) / value: how far the repeats lie apart, of the value that is kept. NaN when
 *  unavailable. */
double assay__ceiling_spread(const struct assay__ceiling *row);

#endif
