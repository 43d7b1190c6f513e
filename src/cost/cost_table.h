/* cost_table.h - a row per operator: either so many FLOPs per element, or a function. Adding an
 * operator is adding a row. */
#ifndef ASSAY_COST_TABLE_H
#define ASSAY_COST_TABLE_H

#include "cost/cost.h"

struct assay__cost_call {
    const struct assay__node *node;
    const struct assay__shapes *shapes;
};

/** NaN unknown. */
struct assay__cost_work {
    double multiply_adds, bias_adds, other;
};

enum assay__cost_per { ASSAY__PER_OUTPUT, ASSAY__PER_INPUT };

struct assay__cost_row {
    const char *op;
    const char *domain; /* as in the shape tables: "", "ms", "nchwc", "*" */
    double flops; /* per element of output 0 (or input 0); 0: moves or compares integers only */
    enum assay__cost_per per;
    bool variadic;    /* times (inputs - 1) */
    bool view;        /* moves no bytes: reads a shape or relabels */
    unsigned partial; /* bit i: of input i only as much is read as output 0 holds (look-ups) */
    void (*count)(const struct assay__cost_call *call,
                  struct assay__cost_work *work); /* instead of flops */
};

extern const struct assay__cost_row assay__cost_rows[]; /* ends with a NULL op */

double assay__cost_elements(const struct assay__shape_entry *entry); /* NaN unknown */
double assay__cost_dim(const struct assay__shape_entry *entry,
                       int axis); /* negative from the end; NaN unknown */
bool assay__cost_has(const struct assay__cost_call *call, size_t i);
const struct assay__shape_entry *assay__cost_in(const struct assay__cost_call *call, size_t i);
const struct assay__shape_entry *assay__cost_out(const struct assay__cost_call *call, size_t i);

#endif
