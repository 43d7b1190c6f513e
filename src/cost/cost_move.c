/* cost_move.c - operators that move, pick, name or compare without floating-point arithmetic: known
 * zero, and their bytes. */
#include "cost/cost_table.h"

#define MOVE ASSAY__COST_MOVE
#define PICK(name) ASSAY__COST_PICK(name, "", 1) /* reads what it takes of input 0 */
#define NAME ASSAY__COST_NAME
#define SHAPE ASSAY__COST_SHAPE

const struct assay__cost_row assay__cost_rows_move[] = {
    MOVE("And", ""),
    MOVE("BitShift", ""),
    MOVE("BitwiseAnd", ""),
    MOVE("BitwiseNot", ""),
    MOVE("BitwiseOr", ""),
    MOVE("BitwiseXor", ""),
    MOVE("Cast", ""),
    MOVE("CastLike", ""),
    PICK("CenterCropPad"),
    {.op = "Compress", .domain = "", .partial = 1, .by_data = true},
    MOVE("Concat", ""),
    MOVE("ConstantOfShape", ""),
    MOVE("DepthToSpace", "*"),
    MOVE("Expand", ""),
    MOVE("EyeLike", ""),
    PICK("Gather"),
    PICK("GatherElements"),
    PICK("GatherND"),
    {.op = "NonZero", .domain = "", .by_data = true},
    MOVE("Not", ""),
    MOVE("OneHot", ""),
    MOVE("Or", ""),
    MOVE("Pad", "*"),
    MOVE("RegexFullMatch", ""),
    MOVE("ReverseSequence", ""),
    MOVE("Scatter", ""), /* a reduction (opset 16) adds once per update: not counted */
    MOVE("ScatterElements", ""),
    MOVE("ScatterND", ""),
    PICK("Slice"),
    MOVE("SpaceToDepth", "*"),
    MOVE("Split", ""),
    MOVE("StringConcat", ""),
    MOVE("StringNormalizer", ""),
    MOVE("StringSplit", ""),
    MOVE("TensorScatter", ""),
    MOVE("Tile", ""),
    MOVE("Transpose", ""),
    MOVE("Trilu", "*"),
    MOVE("Where", ""),
    MOVE("Xor", ""),
    /* relabelling: not even bytes */
    NAME("BitCast", ""),
    NAME("Dropout", ""), /* in inference */
    NAME("Flatten", ""),
    NAME("Identity", ""),
    NAME("Optional", ""),
    NAME("OptionalGetElement", ""),
    NAME("Reshape", ""),
    NAME("Squeeze", ""),
    NAME("Unsqueeze", ""),
    /* a shape, a handle, or what the file holds already */
    SHAPE("Constant", ""),
    SHAPE("OptionalHasElement", ""),
    SHAPE("SequenceAt", ""), /* sequences hold tensors by reference */
    SHAPE("SequenceConstruct", ""),
    SHAPE("SequenceEmpty", ""),
    SHAPE("SequenceErase", ""),
    SHAPE("SequenceInsert", ""),
    SHAPE("SequenceLength", ""),
    SHAPE("Shape", ""),
    SHAPE("Size", ""),
    /* sequences, whose shape nobody knows: the tensor that is cut up or put together is copied */
    {.op = "ConcatFromSequence", .domain = "", .moves = ASSAY__MOVES_OUTPUT},
    {.op = "SplitToSequence", .domain = "", .moves = ASSAY__MOVES_INPUT},
    {.op = NULL},
};
