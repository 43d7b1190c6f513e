/* check_ane.c - the rules of the Neural Engine: one row each, with its source and the fix. Adding
 * one means a row here and a function in the file of its family.
 *
 * Severity follows the source (check.h). If sources conflict, Apple takes precedence, then several
 * that agree: so rows have 64 bytes as Apple says, although a single source has 16, and a dilated
 * convolution, which an old source rules out and a newer one measured, is only a note. */
#include "check/check.h"

#include "base/no_memory.h"

#define APPLE_TRANSFORMERS "Apple: machinelearning.apple.com/research/neural-engine-transformers"
#define APPLE_VISION \
    "Apple, Deploying Attention-Based Vision Transformers (machinelearning.apple.com)"
#define COREMLTOOLS "Apple: coremltools guide"
#define ANE_GUIDE "ane-guide (arXiv 2606.22283)"
#define HOLLANCE "hollance/neural-engine, docs/unsupported-layers.md (old)"

#define ON ASSAY__PLACE_ON
#define OFF ASSAY__PLACE_OFF
#define UNSURE ASSAY__PLACE_UNKNOWN
#define ERROR ASSAY__CHECK_ERROR
#define WARNING ASSAY__CHECK_WARNING
#define NOTE ASSAY__CHECK_NOTE
#define VENDOR ASSAY__BASIS_VENDOR
#define SEVERAL ASSAY__BASIS_SEVERAL
#define SINGLE ASSAY__BASIS_SINGLE
#define GRAPH ASSAY__BASIS_GRAPH

const struct assay__check_rule assay__ane_rules[] = {
    {"shape-conflict", "Contradictory shapes", ERROR, GRAPH, ON, "the model's own shapes",
     "Repair the model: no target can run it.", assay__ane_conflict, true},
    /* operators */
    {"recurrent", "A recurrent layer", ERROR, SEVERAL, OFF, ANE_GUIDE " and " HOLLANCE,
     "Unroll it into products and activations, or leave it to the CPU or GPU on purpose.",
     assay__ane_by_path, false},
    {"no-path", "An operator that the engine does not support", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Express it with supported operators, or move it to the start or end of the model.",
     assay__ane_by_path, false},
    {"custom-layer", "A custom layer", WARNING, SINGLE, OFF, HOLLANCE,
     "Express it with Core ML's own operators.", assay__ane_by_path, false},
    {"control-flow", "Control flow", WARNING, SINGLE, OFF,
     "ANEForge, capabilities (aneforge.readthedocs.io)",
     "Unroll the loop, or make the decision outside the model.", assay__ane_by_path, false},
    {"sampler", "Resampling", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Resize by a whole factor, or do it before the model.", assay__ane_sampler, false},
    {"gather", "A gather", WARNING, SINGLE, OFF, ANE_GUIDE "; " HOLLANCE " says unsupported on all",
     "Look up embeddings before the model, or multiply by a one-hot matrix.", assay__ane_by_path,
     false},
    {"sort", "Top-k or sorting", WARNING, SINGLE, OFF, ANE_GUIDE, "Do it after the model.",
     assay__ane_by_path, false},
    {"sine", "Sine or cosine", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Keep the values as a constant table (positions), or use a polynomial.", assay__ane_by_path,
     false},
    {"dynamic-slice", "A slice that moves at run time", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Give the slice constant bounds.", assay__ane_dynamic_slice, false},
    {"old-layer", "A broadcasting or any-axes layer of an old network", WARNING, SINGLE, OFF,
     HOLLANCE, "Convert the model to an ML program.", assay__ane_old_layer, false},
    {"data-type", "A type that the engine does not compute in", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Use float16 or float32.", assay__ane_data_type, false},
    /* sizes */
    {"rank", "More than five axes", ERROR, VENDOR, OFF,
     APPLE_VISION ", rank at most 5; " ANE_GUIDE " agrees", "Merge axes, to four where possible.",
     assay__ane_rank, false},
    {"dynamic-reshape", "A reshape that depends on data", ERROR, VENDOR, OFF, COREMLTOOLS ", FAQ",
     "Make the shape a constant; offer EnumeratedShapes for several sizes.",
     assay__ane_dynamic_reshape, false},
    {"data-shape", "A result whose size depends on data", WARNING, SINGLE, OFF, COREMLTOOLS ", FAQ",
     "Give it a fixed size, or move it after the model.", assay__ane_data_shape, false},
    {"dynamic-input", "An input without a fixed shape", ERROR, VENDOR, ON, COREMLTOOLS ", FAQ",
     "Give it a fixed shape, or list at most 128 shapes (EnumeratedShapes): with a range of shapes "
     "the model does "
     "not run on the engine.",
     assay__ane_dynamic_inputs, true},
    {"extent", "An axis that is too long", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Split the axis (a large vocabulary into several products) or fold it into two.",
     assay__ane_extent, false},
    {"conv-kernel", "A kernel that is too large", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Use several smaller kernels in a row.", assay__ane_kernel, false},
    {"conv-groups", "Groups that do not divide the channels", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Choose channels as a multiple of the groups.", assay__ane_groups, false},
    {"conv-3d", "A convolution over three axes", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Express it as a sum of convolutions over two axes.", assay__ane_conv3d, false},
    {"pool", "A pooling window or stride that is too large", WARNING, SINGLE, OFF, HOLLANCE,
     "Pool in several steps, or globally.", assay__ane_pool, false},
    {"upsample", "Upsampling by more than two", WARNING, SINGLE, OFF, HOLLANCE,
     "Upsample by two, several times.", assay__ane_upsample, false},
    {"arg-axis", "An arg-max over a long axis", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Return the values and take the arg-max after the model.", assay__ane_arg_axis, false},
    {"matmul-depth", "A product with depth", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Fold the depth into the batch.", assay__ane_matmul_depth, false},
    {"width-slice", "A slice far into the width", WARNING, SINGLE, OFF, ANE_GUIDE,
     "Slice along channels or height.", assay__ane_width_slice, false},
    /* memory */
    {"model-size", "A large model", WARNING, SINGLE, ON, "xhighhongo41/eeANE 1.6.1, release notes",
     "Compress the weights or split the model into several.", assay__ane_size, true},
    {"last-axis", "A last axis of 1", WARNING, VENDOR, ON, APPLE_TRANSFORMERS,
     "Put a long axis last: (batch, channels, 1, sequence).", assay__ane_last_axis_one, false},
    {"alignment", "Rows that are not a multiple of 64 bytes", WARNING, VENDOR, ON,
     APPLE_TRANSFORMERS "; " ANE_GUIDE " has 16 bytes for transfers",
     "Make the last axis a multiple of 32 in float16.", assay__ane_alignment, false},
    {"working-set", "An operand larger than the on-chip memory", WARNING, SINGLE, ON,
     ANE_GUIDE "; " APPLE_TRANSFORMERS " splits it for the same reason",
     "Split the tensor: heads one by one, the sequence in chunks.", assay__ane_working_set, false},
    {"live-set", "Live activations exceed the on-chip memory", NOTE, SINGLE, ON,
     ANE_GUIDE "; " APPLE_TRANSFORMERS " splits it for the same reason",
     "Split the model's widest part so that intermediate results stay on the chip.",
     assay__ane_live_set, true},
    {"working-set-unknown", "The on-chip memory is not known", NOTE, GRAPH, ON,
     "no source: only M1's and M5's are known",
     "Check for M1, which has the smallest known memory.", assay__ane_on_chip, true},
    {"weight-notch", "Weights of a whole number of MiB per core", WARNING, SINGLE, ON,
     "silicon-ledger, citing anemll", "Pad the weights a little.", assay__ane_weight_notch, false},
    {"per-block", "Weights quantised per block", WARNING, VENDOR, ON, COREMLTOOLS,
     "Use scales per channel, or palettise.", assay__ane_per_block, true},
    {"int8-activations", "Quantised activations", WARNING, VENDOR, ON, COREMLTOOLS,
     "For these chips quantise weights only.", assay__ane_int8, true},
    {"half-range", "A constant beyond float16", WARNING, SINGLE, ON,
     "hollance/neural-engine, docs/16-bit.md; IEEE 754 binary16",
     "Use a smaller number: -10000 in a mask does the same as -1e9.", assay__ane_range, true},
    /* notes */
    {"half-precision", "Everything becomes float16", NOTE, SEVERAL, ON,
     ANE_GUIDE " and hollance/neural-engine, docs/16-bit.md",
     "Compare the outputs with those of float32 before you ship.", assay__ane_half, true},
    {"linear-layout", "Linear layers that are not 1x1 convolutions", NOTE, VENDOR, ON,
     APPLE_TRANSFORMERS, "Make them 1x1 convolutions over (batch, channels, 1, sequence).",
     assay__ane_linear, false},
    {"copies", "Reshapes and transposes", NOTE, VENDOR, ON, APPLE_TRANSFORMERS,
     "Keep one layout throughout, so that fewer are needed.", assay__ane_copies, false},
    {"conv-dilated", "A dilated convolution", NOTE, SINGLE, UNSURE, ANE_GUIDE " against " HOLLANCE,
     "Check the compute plan on a Mac.", assay__ane_dilated, false},
    {"kernel-memory", "A large filter", NOTE, SINGLE, ON, ANE_GUIDE, "Fewer channels per group.",
     assay__ane_kernel_memory, false},
    {"integer-math", "Integer arithmetic", NOTE, SINGLE, UNSURE, ANE_GUIDE,
     "Compute positions and masks before the model.", assay__ane_integer_math, false},
    {"unknown-operator", "An operator that no source mentions", WARNING, GRAPH, UNSURE,
     "the table of operators here", "Check the compute plan on a Mac.", assay__ane_unknown_operator,
     false},
    {"palettise", "Low-bit weights", NOTE, VENDOR, ON, COREMLTOOLS,
     "Palettise them: that suits the engine best.", assay__ane_palettise, true},
    {"small-surface", "Small inputs and outputs", NOTE, SINGLE, ON, "Orion (arXiv 2603.06728)",
     "Join small inputs into one.", assay__ane_surface, true},
    {"batch-reuse", "Weights are read for one sample", NOTE, VENDOR, ON, APPLE_TRANSFORMERS,
     "A larger batch uses each weight more often.", assay__ane_batch, true},
    {.id = NULL},
};

/* Evaluated when all nodes have been placed. */
static const struct assay__check_rule map_rules[] = {
    {"ping-pong", "Back and forth", WARNING, SINGLE, ON, HOLLANCE,
     "Keep what does not run on the engine at the start or end of the model.", assay__ane_ping_pong,
     true},
    {.id = NULL},
};

int assay__check_ane(struct assay__check *check, const char *chip, struct assay_error *error)
{
    const struct assay__graph *graph = &check->model->graph;
    int code = assay__ane_choose(check, chip, error);
    if (code) return code;
    check->paths = assay__arena_array(check->arena, graph->node_count + 1, sizeof *check->paths);
    if (!check->paths) return assay__no_memory(error);
    for (size_t i = 0; i < graph->node_count; i++)
        check->paths[i] = assay__ane_path_of(&graph->nodes[i]);
    assay__check_rules(check, assay__ane_rules);
    code = assay__ane_by_chip(check, error);
    if (!code) code = assay__check_partition(check, "rules", true, error);
    if (!code) assay__check_rules(check, map_rules);
    return code;
}
