/* topology.h - the layout of the processors, and the GPUs and NPUs that the operating system shows,
 * as text for people and as JSON. */
#ifndef ASSAY_REPORT_TOPOLOGY_H
#define ASSAY_REPORT_TOPOLOGY_H

#include "platform/topology.h"
#include "probe/hardware.h"
#include "report/walk/text_page.h"

struct assay__json_writer;

/** A heading, then one row each for processors, kinds of cores, caches, memory. Unknown: the
 *  reason. memory_bytes: of the machine (0 unknown); nodes that do not add up to it are remarked
 *  on. */
void assay__topology_text(struct assay__page *page, const struct assay__topology *topology,
                          uint64_t memory_bytes);
/** The member "topology" of the object that is open: an object. */
void assay__topology_json(struct assay__json_writer *w, const struct assay__topology *topology);
/** A heading, then one row per item; without any, a line that says so. */
void assay__hardware_text(struct assay__page *page, const struct assay__hardware *items,
                          size_t count);
/** The member "hardware" of the object that is open: an array. */
void assay__hardware_json(struct assay__json_writer *w, const struct assay__hardware *items,
                          size_t count);

#endif
