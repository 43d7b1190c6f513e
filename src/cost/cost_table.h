/* cost_table.h - one row per kind of operator: either a number of FLOPs per element, or a function.
 * To add an operator, add its name to a row, or a row to the table of its family. */
#ifndef ASSAY_COST_TABLE_H
#define ASSAY_COST_TABLE_H

#include "cost/cost.h"
#include "model/op_words.h"

struct assay__cost_row;
struct assay__cost_call {
    const struct assay__node *node;
    const struct assay__shapes *shapes;
    const struct assay__cost_row *row;
};

/** NaN unknown. */
struct assay__cost_work {
    double multiply_adds, bias_adds, other;
    const char *why; /* for a NaN that is not due to a missing shape; NULL otherwise */
};

enum assay__cost_per { ASSAY__PER_OUTPUT, ASSAY__PER_INPUT };

enum assay__cost_moves {
    ASSAY__MOVES_ALL,    /* every input is read and every output written, once */
    ASSAY__MOVES_NAME,   /* output 0 is input 0 under another name or shape: nothing moves */
    ASSAY__MOVES_SHAPE,  /* reads a shape or a handle, not contents: nothing moves */
    ASSAY__MOVES_INPUT,  /* input 0 is copied: a sequence is created, whose shape is unknown */
    ASSAY__MOVES_OUTPUT, /* output 0 is copied from such a sequence */
};

struct assay__cost_row {
    const char *ops;    /* one or several similar ones, separated by spaces */
    const char *domain; /* "" ai.onnx, "ms" com.microsoft, "nchwc", "nhwc", "coreml", "ml"
                           ai.onnx.ml, "*" any of the first four */
    double flops; /* per element of output 0 (or input 0); 0: only moves or compares integers */
    enum assay__cost_per per;
    bool variadic; /* times (inputs - 1) */
    enum assay__cost_moves moves;
    unsigned partial; /* bit i: only as much of input i is read as output 0 contains (look-ups) */
    void (*count)(const struct assay__cost_call *call,
                  struct assay__cost_work *work); /* instead of flops */
    size_t weights, bias; /* for a product: which inputs these are; bias 0: none */
    size_t optional;      /* input that costs one more per element if present; 0: none */
    bool any_type;        /* counts for integers too: quantised numbers represent real ones */
    bool unpacks;         /* unpacks stored weights: counted although all its inputs are constant */
    bool by_data;         /* the size of its outputs depends on data */
};

/* X(FAMILY): the rows at the end of cost_FAMILY.c; each table ends with a NULL op. */
#define ASSAY__COST_FAMILIES(X) \
    X(math)                     \
    X(nn)                       \
    X(move)                     \
    X(signal)                   \
    X(fused)                    \
    X(quantised)                \
    X(coreml)                   \
    X(ml)

#define ASSAY__COST_DECLARE(FAMILY) extern const struct assay__cost_row assay__cost_rows_##FAMILY[];
ASSAY__COST_FAMILIES(ASSAY__COST_DECLARE)

/* Short forms of the rows. */
/* clang-format off */
#define ASSAY__COST_EACH(name, where, each) {.ops = name, .domain = where, .flops = each}
#define ASSAY__COST_EACH_IN(name, where, each) \
    {.ops = name, .domain = where, .flops = each, .per = ASSAY__PER_INPUT}
#define ASSAY__COST_MOVE(name, where) {.ops = name, .domain = where}
#define ASSAY__COST_PICK(name, where, inputs) {.ops = name, .domain = where, .partial = inputs}
#define ASSAY__COST_NAME(name, where) {.ops = name, .domain = where, .moves = ASSAY__MOVES_NAME}
#define ASSAY__COST_SHAPE(name, where) {.ops = name, .domain = where, .moves = ASSAY__MOVES_SHAPE}
#define ASSAY__COST_WORK(name, where, function) {.ops = name, .domain = where, .count = function}
#define ASSAY__COST_PRODUCT(name, where, function, w, b) \
    {.ops = name, .domain = where, .count = function, .weights = w, .bias = b}
#define ASSAY__COST_EACH_AND(name, where, each, input) \
    {.ops = name, .domain = where, .flops = each, .optional = input}
#define ASSAY__COST_QUANT(name, where, each) \
    {.ops = name, .domain = where, .flops = each, .any_type = true}
#define ASSAY__COST_QUANT_IN(name, where, each) \
    {.ops = name, .domain = where, .flops = each, .per = ASSAY__PER_INPUT, .any_type = true}
#define ASSAY__COST_UNPACK(name, where, each) \
    {.ops = name, .domain = where, .flops = each, .unpacks = true}
/* clang-format on */

/* All rows by operator and domain. */
struct assay__cost_index;
/** Operators that are among the names (may be NULL) are found faster. NULL: out of memory. */
struct assay__cost_index *assay__cost_index_over(const struct assay__names *names);
void assay__cost_index_free(struct assay__cost_index *index);
/** domain as in a node ("com.microsoft"). NULL: no row. */
const struct assay__cost_row *assay__cost_find(const struct assay__cost_index *index,
                                               const char *op, const char *domain);
/** Operator i of all rows, copied to `op`, and its row; NULL past the end. */
const struct assay__cost_row *assay__cost_row_at(size_t i, char op[ASSAY__WORD]);

/* Building blocks for the rows' functions. */
double assay__cost_elements(const struct assay__shape_entry *entry); /* NaN unknown */
double assay__cost_bytes(const struct assay__shape_entry *entry);    /* NaN unknown */
double assay__cost_dim(const struct assay__shape_entry *entry,
                       int axis); /* negative from the end; NaN unknown */
/** Product of the dims from axis `from` (negative from the end) on. */
double assay__cost_inner(const struct assay__shape_entry *entry, int from);
bool assay__cost_is_float(enum assay__dtype dtype); /* true for an unknown type */
bool assay__cost_has(const struct assay__cost_call *call, size_t i);
const struct assay__shape_entry *assay__cost_in(const struct assay__cost_call *call, size_t i);
const struct assay__shape_entry *assay__cost_out(const struct assay__cost_call *call, size_t i);
double assay__cost_in_elements(const struct assay__cost_call *call, size_t i);
double assay__cost_in_dim(const struct assay__cost_call *call, size_t i, int axis);
double assay__cost_out_elements(const struct assay__cost_call *call); /* of output 0 */
/** The attribute as a number; NaN if it is absent or negative. */
double assay__cost_attr(const struct assay__cost_call *call, const char *name);
/** An axis attribute, as for assay__cost_dim; an axis that no shape has if it is absurd. */
int assay__cost_axis(const struct assay__cost_call *call, int64_t otherwise);
/** Product of an integer list attribute; NaN when it is absent. */
double assay__cost_attr_product(const struct assay__cost_call *call, const char *name);
bool assay__cost_attr_is(const struct assay__cost_call *call, const char *name, const char *text);
/** First element of input i when it is a known small integer; NaN otherwise. */
double assay__cost_value(const struct assay__cost_call *call, size_t i);

/** Comparisons per number when sorting n (or keeping the n largest in a heap): ⌈log₂ n⌉, at least
 *  1. */
double assay__cost_sort_depth(double n);

/* Counts that more than one family uses. */
#define ASSAY__COST_BY_DATA "depends on the data" /* why a number is unknown */
/** The number of operations depends on the data. */
void assay__cost_by_data(const struct assay__cost_call *call, struct assay__cost_work *work);
/** LRN: `size` + 5 per output element. */
void assay__cost_lrn(const struct assay__cost_call *call, struct assay__cost_work *work);
/** Products of input 0 and the weights, with the row's inputs. */
void assay__cost_conv(const struct assay__cost_call *call, struct assay__cost_work *work);
void assay__cost_conv_transpose(const struct assay__cost_call *call, struct assay__cost_work *work);
/** Output 0's elements × the inner axis of input 0. */
void assay__cost_matmul(const struct assay__cost_call *call, struct assay__cost_work *work);
void assay__cost_pool(const struct assay__cost_call *call, struct assay__cost_work *work);
/** softmax(Q Kᵀ) V: queries × keys × (width of q and of v) multiply-adds per head, softmax 5 and
 *  `extra` per score. */
void assay__cost_attend(double batch_heads, double queries, double keys, double width,
                        double value_width, double extra, struct assay__cost_work *work);
/** RotaryEmbedding of input 0, whatever its tables are. */
void assay__cost_rotary(const struct assay__cost_call *call, struct assay__cost_work *work);
void assay__cost_recurrent(const struct assay__cost_call *call, struct assay__cost_work *work);
void assay__cost_resize(const struct assay__cost_call *call, const char *mode,
                        struct assay__cost_work *work);

#endif
