/* inspect.h - what `assay inspect` says of a model, as one document that every format renders.
 *
 * Everything in it follows from the graph and its shapes: nothing is run, and no weight is read.
 * A renderer only reads the document and appends to the buffer. Names come from files and are
 * untrusted: each format escapes them its own way. */
#ifndef ASSAY_REPORT_INSPECT_H
#define ASSAY_REPORT_INSPECT_H

#include "base/buf.h"
#include "cost/analysis.h"
#include "cost/ncp.h"
#include "report/walk/text_page.h"

#include <assay/metric.h>

/* A node of the main graph, in execution order. */
struct assay__inspect_layer {
    const struct assay__node *node;
    const char *name; /* the node's, else its first output's */
    const struct assay__cost *cost;
    double bytes;        /* read and written; NaN unknown */
    double intensity;    /* FLOP per byte; NaN unknown */
    double memory_bytes; /* its own inputs, outputs and weights */
    double live_bytes;   /* all activations alive while it runs */
};

struct assay__inspect {
    struct assay__arena *arena;
    const char *name, *path; /* path "" when built */
    bool zoo;
    struct assay__model *model;       /* owned; its functions are inlined */
    struct assay__workload *workload; /* owned unless it lies in the arena */
    bool planned;                     /* the workload could be planned; else why not: */
    const char *unplanned;
    const char *version_note; /* versions of ONNX that are not known here; NULL: all are */
    const char *missing;      /* what running would need and is not there; NULL: nothing */
    struct assay__analysis *analysis;
    struct assay__shapes *symbolic; /* shapes with the file's symbols; NULL: it has none */
    struct assay_metrics *metrics;
    struct assay__map *weights; /* initializers of the main graph, sparse ones too */
    char fingerprint[17];       /* before inlining, as `run` has it */
    struct assay__inspect_layer *layers;
    size_t layer_count;
    size_t functions, subgraphs, inner_nodes;
    size_t external_tensors;
    double external_bytes;
    bool has_ncp;
    struct assay__ncp ncp;
    const char *ncp_fault; /* why the wiring's facts cannot be had; NULL: nothing is wrong */
};

enum assay__inspect_sort { ASSAY__SORT_FLOPS, ASSAY__SORT_BYTES, ASSAY__SORT_MEMORY };

struct assay__inspect_view {
    const char *format; /* "text", "json", "dot", "csv", "markdown" */
    const char *table;  /* csv */
    enum assay__inspect_sort sort;
    int columns, top; /* top: layers shown; -1 all */
    bool color, ascii;
};

/** Takes the model, also on failure. name is what the user wrote. */
int assay__inspect_new(struct assay__model *model, const char *name, bool zoo,
                       const struct assay__workload_options *options, struct assay__inspect **out,
                       struct assay_error *error);
void assay__inspect_free(struct assay__inspect *doc);
int assay__inspect_render(const struct assay__inspect *doc, const struct assay__inspect_view *view,
                          struct assay__buf *out, struct assay_error *error);
/** The difference of two models. Formats: text and json. */
int assay__inspect_compare(const struct assay__inspect *a, const struct assay__inspect *b,
                           const struct assay__inspect_view *view, struct assay__buf *out,
                           struct assay_error *error);

/* --- pieces the formats share ----------------------------------------------------------------- */

/** Layers by what they cost, largest first, unknown last. free() it; NULL when out of memory. */
size_t *assay__inspect_order(const struct assay__inspect *doc, enum assay__inspect_sort sort);
/** What the layer costs in that respect. */
double assay__inspect_weight(const struct assay__inspect_layer *layer,
                             enum assay__inspect_sort sort);
/** "com.microsoft.Gelu"; "Conv" for the standard domain. In the arena; "" when out of memory. */
void assay__inspect_op(struct assay__buf *out, const char *domain, const char *op);
/** "1×3×224×224", symbols by name, "?" unknown, "scalar", "unknown shape". Unescaped. */
void assay__inspect_shape(struct assay__buf *out, const struct assay__shapes *shapes,
                          const struct assay__shape_entry *entry);
/** The shape as the file has it: "batch×3×224×224". Unescaped. */
void assay__inspect_value_shape(struct assay__buf *out, const struct assay__value *value);
/** One sentence: what the model is and what dominates it. Unescaped. */
void assay__inspect_answer(struct assay__buf *out, const struct assay__inspect *doc);
enum assay__inspect_lack { ASSAY__LACK_ANY, ASSAY__LACK_FLOPS, ASSAY__LACK_BYTES };
/** Nodes whose FLOPs, bytes, or one of the two are not known. */
size_t assay__inspect_left(const struct assay__analysis *a, enum assay__inspect_lack lack);
/** "3 of 12 nodes have no known cost (Frob × 3: no cost row)", or FLOPs, or bytes, for totals that
 *  leave nodes out; nothing otherwise. */
void assay__inspect_left_out(struct assay__buf *out, const struct assay__inspect *doc,
                             enum assay__inspect_lack lack);
/** True when the value is one the caller feeds: not an initializer. */
bool assay__inspect_is_input(const struct assay__inspect *doc, const struct assay__value *value);

struct assay__json_writer;
void assay__inspect_json_metrics(struct assay__json_writer *w, const struct assay_metrics *set);
/** Opens the document. */
void assay__inspect_json_head(struct assay__json_writer *w);

/* --- the formats and the parts of the text ---------------------------------------------------- */

void assay__inspect_text(const struct assay__inspect *doc, const struct assay__inspect_view *view,
                         struct assay__buf *out);
/** A page with its title written. */
struct assay__page assay__inspect_page(const struct assay__inspect_view *view, const char *title,
                                       struct assay__buf *out);
void assay__inspect_page_operators(struct assay__page *page, const struct assay__inspect *doc);
void assay__inspect_page_parameters(struct assay__page *page, const struct assay__inspect *doc);
void assay__inspect_page_memory(struct assay__page *page, const struct assay__inspect *doc);
void assay__inspect_page_layers(struct assay__page *page, const struct assay__inspect *doc,
                                enum assay__inspect_sort sort);
void assay__inspect_page_ncp(struct assay__page *page, const struct assay__inspect *doc);
/** Compressed weights; nothing when there are none. */
void assay__inspect_page_stored(struct assay__page *page, const struct assay__inspect *doc);
void assay__inspect_json_stored(struct assay__json_writer *w, const struct assay__model *model);
void assay__inspect_json_ncp(struct assay__json_writer *w, const struct assay__inspect *doc);
void assay__inspect_json(const struct assay__inspect *doc, struct assay__buf *out);
void assay__inspect_dot(const struct assay__inspect *doc, struct assay__buf *out);
void assay__inspect_csv(const struct assay__inspect *doc, const struct assay__inspect_view *view,
                        struct assay__buf *out);
void assay__inspect_markdown(const struct assay__inspect *doc,
                             const struct assay__inspect_view *view, struct assay__buf *out);

#endif
