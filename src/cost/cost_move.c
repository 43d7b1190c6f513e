/* cost_move.c - operators that move, select, rename or compare without floating-point arithmetic:
 * zero FLOPs, and their bytes. */
#include "cost/cost_table.h"

#define MOVE ASSAY__COST_MOVE
#define PICK(name) ASSAY__COST_PICK(name, "", 1) /* reads only what it selects of input 0 */
#define NAME ASSAY__COST_NAME
#define SHAPE ASSAY__COST_SHAPE

const struct assay__cost_row assay__cost_rows_move[] = {
    MOVE("And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Concat "
         "ConstantOfShape Expand EyeLike Not OneHot Or RegexFullMatch ReverseSequence "
         "ScatterElements ScatterND Split StringConcat StringNormalizer StringSplit TensorScatter "
         "Tile Transpose Where Xor",
         ""),
    PICK("CenterCropPad Gather GatherElements GatherND Slice"),
    {.ops = "Compress", .domain = "", .partial = 1, .by_data = true},
    MOVE("DepthToSpace Pad SpaceToDepth Trilu", "*"),
    {.ops = "NonZero", .domain = "", .by_data = true},
    MOVE("Scatter", ""), /* a reduction (opset 16) adds once per update: not counted */
    /* relabelling: not even bytes */
    NAME("BitCast Flatten Identity Optional OptionalGetElement Reshape Squeeze Unsqueeze", ""),
    NAME("Dropout", ""), /* in inference */
    /* a shape, a handle, or what is already in the file */
    SHAPE("Constant OptionalHasElement SequenceConstruct SequenceEmpty SequenceErase "
          "SequenceInsert SequenceLength Shape Size",
          ""),
    SHAPE("SequenceAt", ""), /* sequences hold tensors by reference */
    /* sequences, whose shape is unknown: the tensor that is split or concatenated is copied */
    {.ops = "ConcatFromSequence", .domain = "", .moves = ASSAY__MOVES_OUTPUT},
    {.ops = "SplitToSequence", .domain = "", .moves = ASSAY__MOVES_INPUT},
    {.ops = NULL},
};
