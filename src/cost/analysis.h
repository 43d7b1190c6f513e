/* analysis.h - everything that can be said of a model without running it: shapes, cost, memory,
 * operators, parameters. What `inspect` prints, and what checks and advice use. */
#ifndef ASSAY_COST_ANALYSIS_H
#define ASSAY_COST_ANALYSIS_H

#include "cost/cost_walk.h"
#include "cost/liveness.h"
#include "model/inputs/inputs.h"

/* The sums include nodes inside bodies, times the trips of their loops: the sums of all operators
 * are the totals of the model. A Loop, Scan or If by itself does nothing; its body's nodes do. */
struct assay__op_total {
    const char *op, *domain;
    size_t count;   /* nodes, those of subgraphs and inlined functions included (each once, however
                       often it runs) */
    size_t skipped; /* of these, in a branch that is not taken, or a loop that does not run */
    size_t unknown; /* of these, without a known cost (FLOPs or bytes) */
    /* Sums over nodes whose cost is known; NaN when none is, and where what is known is nothing
       while others are unknown. */
    double flops, macs, bytes;
    size_t without_flops, without_bytes; /* of the unknown ones; one may lack both */
};

struct assay__unknown_op {
    const char *op, *domain;
    size_t count;
    size_t without_flops, without_bytes; /* of these; one may lack both */
    const char *why; /* "no cost row", "shape unknown", "trip count unknown", … */
};

struct assay__parameter_total {
    enum assay__dtype dtype;
    int64_t tensors, elements, bytes; /* bytes as stored (packed, sparse, palettised) */
    const char *storage; /* "dense", "sparse", "quantised", "palettised"; with ", external" after
                            when it lies in another file. "constant": made by ConstantOfShape,
                            nothing is stored. "attribute": held by an operator of ai.onnx.ml */
};

struct assay__analysis {
    struct assay__arena *arena;
    const struct assay__model *model; /* inlined by assay__analyse */
    const struct assay__workload *workload;
    struct assay__shapes *shapes;
    const size_t *order;       /* execution order of the main graph: the shapes' */
    struct assay__cost *costs; /* main graph, file order; a node with a body has its whole cost */
    struct assay__liveness live;
    /* totals over all nodes that run, bodies times their trips: the known part, and how many nodes
       it leaves out */
    double flops, macs, bytes_read, bytes_written, bytes_weights;
    size_t unknown_flops, unknown_bytes;
    size_t constant_nodes; /* that are made once, when the model is loaded */
    /* every node that runs or may run, bodies' included, in file order; what is made when the model
       is loaded is left out */
    struct assay__cost_visited *nodes;
    size_t node_count;
    struct assay__op_total *ops; /* by flops, then bytes, then name */
    size_t op_count;
    struct assay__unknown_op *unknown; /* by count, then name */
    size_t unknown_count;
    struct assay__parameter_total *parameters_by_type; /* by bytes; all graphs' initializers,
                                                          Constant nodes, and weights that
                                                          ConstantOfShape makes */
    size_t parameter_type_count;
    int64_t parameters, parameter_bytes; /* assay__model_parameters; -1: they overflow */
    const struct assay__shape_conflict *conflicts;
    size_t conflict_count;
};

/** Plans the inputs. A model whose inputs cannot be planned (a sequence, an unknown rank) is still
 *  analysed, with the shapes of its file: *unplanned then says why, and *workload lies in the
 *  arena; it is NULL where the workload is the caller's to free. Where the options ask for sizes,
 *  a failure to plan is an error. */
int assay__analysis_plan(const struct assay__model *model,
                         const struct assay__workload_options *options, struct assay__arena *arena,
                         struct assay__workload **workload, const char **unplanned,
                         struct assay_error *error);
/** Inlines the model's functions, fixes the inputs as the workload says (NULL: as the file has
 *  them), and fills the rest. Model and workload are borrowed and must outlive the analysis. */
int assay__analyse(struct assay__model *model, const struct assay__workload *workload,
                   struct assay__analysis **analysis, struct assay_error *error);
void assay__analysis_free(struct assay__analysis *analysis);

#endif
