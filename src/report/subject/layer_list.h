/* layer_list.h - layers as people read them: by time, with their title, their sum and how they were
 * timed. */
#ifndef ASSAY_REPORT_SUBJECT_LAYER_LIST_H
#define ASSAY_REPORT_SUBJECT_LAYER_LIST_H

#include "base/buf.h"
#include "judge/require_advice.h"
#include "report/doc/doc.h"

/** Layers in the order of the table: by time, longest first; without times by host enqueue time;
 *  then by index. The caller frees it. NULL when out of memory (or count 0). */
size_t *assay__layer_order(const struct assay__layers *layers);
/** Sum of the times of layers order[first] … order[count - 1] in ns; NaN when one of them is
 *  unknown. */
double assay__layer_sum(const struct assay__layers *layers, const size_t *order, size_t first,
                        size_t count);
/** The total of the layer table: latency.p50 if it is known, even if a layer has no time. */
double assay__layer_total(const struct assay__trial *trial);
/** A table whose first rows are the layers: people read these by time. */
void assay__layer_sort(struct assay__table *table, const struct assay__layers *layers);
/** The layers of one operator, summed up. Sums are over the `timed` layers; flops is NaN if one of
 * them is unknown. */
struct assay__operator {
    const char *op;
    size_t layers, timed;
    double time_ns, share, flops;
    enum assay_state state;
};
/** By time, longest first; then those without a time. The caller frees it. NULL: out of memory. */
struct assay__operator *assay__operators(const struct assay__layers *layers, size_t *count);
/** Their table; people see `limit` rows, 0: the report's limit. */
void assay__add_operators(struct assay__doc *doc, const struct assay__trial *trial, size_t limit);
/** "timed by markers", "timed alone, hot cache (isolated)". Unescaped. */
void assay__layer_method(struct assay__buf *out, const struct assay__layers *layers);

/** Whether layers are those of a GPU, timed by their kernels. */
bool assay__layers_on_gpu(const struct assay__layers *layers);
/** Where the time of a run went whose work on a GPU was recorded, and how much longer it took than
 *  one that was not; nothing if none was. */
void assay__add_gpu_parts(struct assay__doc *doc, const struct assay__trial *trial);

#endif
