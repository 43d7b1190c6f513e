#!/usr/bin/env python3
"""Writes the small models that test_layers.c times: tests/fixtures/models/layers/*.onnx.

Each has something that markers must get right. Needs numpy and onnx. Weights are seeded: the files are the same each time.
Usage: make_layer_models.py [folder]
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "fixtures", "models", "layers")
RANDOM = np.random.RandomState(7)


def value(name, kind, shape):
    return h.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def weights(name, *shape):
    return constant(name, RANDOM.randn(*shape).astype(np.float32) * 0.3)


def save(name, nodes, inputs, outputs, initializers=(), opset=17):
    graph = h.make_graph(nodes, name, inputs, outputs, list(initializers))
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], producer_name="assay-tests")
    model.ir_version = 8
    onnx.checker.check_model(model)
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


def control_if():
    """An outer value that only a branch reads; the If is one node."""
    then = h.make_graph(
        [h.make_node("MatMul", ["hidden", "w1"], ["t0"]), h.make_node("Tanh", ["t0"], ["t"])],
        "then", [], [value("t", T.FLOAT, [1, 8])])
    other = h.make_graph([h.make_node("Neg", ["side"], ["e"])], "else", [], [value("e", T.FLOAT, [1, 8])])
    save("if", [
        h.make_node("MatMul", ["x", "w0"], ["pre"], "first"),
        h.make_node("Relu", ["pre"], ["hidden"], "hidden_only_in_branch"),
        h.make_node("Exp", ["pre"], ["side"], "side_only_in_other_branch"),
        h.make_node("If", ["flag"], ["chosen"], "choose", then_branch=then, else_branch=other),
        h.make_node("Abs", ["chosen"], ["y"], "last"),
    ], [value("x", T.FLOAT, [1, 8]), value("flag", T.BOOL, [])], [value("y", T.FLOAT, [1, 8])],
        [weights("w0", 8, 8), weights("w1", 8, 8)])


def control_loop():
    body = h.make_graph([
        h.make_node("Mul", ["state", "scale"], ["scaled"]),
        h.make_node("Add", ["scaled", "x"], ["next"]),
        h.make_node("Identity", ["go"], ["go_on"]),
        h.make_node("Identity", ["next"], ["seen"]),
    ], "body", [value("i", T.INT64, []), value("go", T.BOOL, []), value("state", T.FLOAT, [1, 4])],
        [value("go_on", T.BOOL, []), value("next", T.FLOAT, [1, 4]), value("seen", T.FLOAT, [1, 4])])
    save("loop", [
        h.make_node("Sigmoid", ["x"], ["start"], "start"),
        h.make_node("ReduceMean", ["x"], ["scale"], "scale_only_in_body", keepdims=0),
        h.make_node("Loop", ["trips", "yes", "start"], ["final", "all"], "repeat", body=body),
        h.make_node("Relu", ["final"], ["y"], "last"),
    ], [value("x", T.FLOAT, [1, 4])], [value("y", T.FLOAT, [1, 4]), value("all", T.FLOAT, [None, 1, 4])],
        [constant("trips", np.int64(5)), constant("yes", np.bool_(True))])


def control_scan():
    body = h.make_graph([
        h.make_node("MatMul", ["step", "w"], ["m"]),
        h.make_node("Add", ["m", "state"], ["sum"]),
        h.make_node("Tanh", ["sum"], ["next"]),
        h.make_node("Identity", ["next"], ["out"]),
    ], "body", [value("state", T.FLOAT, [1, 4]), value("step", T.FLOAT, [1, 4])],
        [value("next", T.FLOAT, [1, 4]), value("out", T.FLOAT, [1, 4])])
    save("scan", [
        h.make_node("Relu", ["x"], ["steps"], "steps"),
        h.make_node("Scan", ["zero", "steps"], ["final", "all"], "recur", body=body, num_scan_inputs=1),
        h.make_node("Neg", ["final"], ["y"], "last"),
    ], [value("x", T.FLOAT, [6, 1, 4])], [value("y", T.FLOAT, [1, 4]), value("all", T.FLOAT, [6, 1, 4])],
        [weights("w", 4, 4), constant("zero", np.zeros((1, 4), np.float32))])


def sequences():
    """Sequence values cannot carry a marker; Optional likewise."""
    save("sequence", [
        h.make_node("Relu", ["x"], ["r"], "before"),
        h.make_node("SplitToSequence", ["r"], ["parts"], "split_to_sequence", axis=1, keepdims=1),
        h.make_node("SequenceAt", ["parts", "one"], ["part"], "take"),
        h.make_node("SequenceInsert", ["parts", "part"], ["more"], "insert"),
        h.make_node("ConcatFromSequence", ["more"], ["joined"], "join", axis=1),
        h.make_node("Abs", ["joined"], ["y"], "last"),
    ], [value("x", T.FLOAT, [1, 6])], [value("y", T.FLOAT, [1, 7])], [constant("one", np.int64(1))])


def strings():
    save("strings", [
        h.make_node("Equal", ["n", "two"], ["same"], "compare"),
        h.make_node("Where", ["same", "a", "b"], ["picked"], "pick"),
        h.make_node("Concat", ["picked", "a"], ["joined"], "join", axis=0),
        h.make_node("Identity", ["joined"], ["y"], "last"),
        h.make_node("Shape", ["joined"], ["size"], "size"),
    ], [value("n", T.INT64, [3])], [value("y", T.STRING, [6]), value("size", T.INT64, [1])],
        [constant("two", np.int64(1)), h.make_tensor("a", T.STRING, [3], [b"ab", b"", b"long text \xc3\xa9"]),
         h.make_tensor("b", T.STRING, [3], [b"x", b"y", b"z"])])


def empties():
    """Zero-size tensors, scalars, and shapes that depend on data."""
    save("empty", [
        h.make_node("Less", ["x", "low"], ["none"], "none"),
        h.make_node("NonZero", ["none"], ["where"], "where"),
        h.make_node("Cast", ["where"], ["where_f"], "cast", to=T.FLOAT),
        h.make_node("Mul", ["where_f", "half"], ["scaled"], "mul"),
        h.make_node("ReduceSum", ["x"], ["total"], "total", keepdims=0),
        h.make_node("Add", ["total", "half"], ["shifted"], "scalar"),
        h.make_node("Mul", ["x", "shifted"], ["spread"], "spread"),
        h.make_node("Greater", ["spread", "half"], ["some"], "some"),
        h.make_node("NonZero", ["some"], ["picked"], "picked"),
        h.make_node("Transpose", ["picked"], ["rows"], "rows"),
    ], [value("x", T.FLOAT, [3, 5])],
        [value("scaled", T.FLOAT, [2, None]), value("rows", T.INT64, [None, 2]), value("spread", T.FLOAT, [3, 5])],
        [constant("low", np.float32(-1e30)), constant("half", np.float32(0.5))])


def randoms():
    save("random", [
        h.make_node("RandomNormal", [], ["noise"], "no_inputs", shape=[64, 64], dtype=T.FLOAT),
        h.make_node("RandomUniformLike", ["x"], ["more"], "like"),
        h.make_node("Add", ["x", "noise"], ["a"], "add"),
        h.make_node("Add", ["a", "more"], ["b"], "add_more"),
        h.make_node("Softmax", ["b"], ["y"], "last"),
    ], [value("x", T.FLOAT, [64, 64])], [value("y", T.FLOAT, [64, 64])])


def split():
    """Several outputs, one of them unused, one a graph output that is also consumed."""
    save("split", [
        h.make_node("Split", ["x"], ["a", "b", "c", "unused"], "split", axis=1),
        h.make_node("Relu", ["a"], ["ra"], "relu"),
        h.make_node("Exp", ["b"], ["eb"], "exp"),
        h.make_node("Add", ["ra", "eb"], ["mid"], "mid_is_output_and_used"),
        h.make_node("Mul", ["mid", "c"], ["y"], "last"),
    ], [value("x", T.FLOAT, [2, 16])], [value("mid", T.FLOAT, [2, 4]), value("y", T.FLOAT, [2, 4])])


def lstm():
    """Absent optional inputs, absent outputs."""
    save("lstm", [
        h.make_node("LSTM", ["x", "w", "r", "", "", "h0"], ["", "last"], "cell", hidden_size=4),
        h.make_node("Squeeze", ["last", "axis"], ["flat"], "squeeze"),
        h.make_node("Clip", ["flat", "", "top"], ["y"], "clip"),
    ], [value("x", T.FLOAT, [3, 1, 5]), value("h0", T.FLOAT, [1, 1, 4])], [value("y", T.FLOAT, [1, 4])],
        [weights("w", 1, 16, 5), weights("r", 1, 16, 4), constant("axis", np.array([0])),
         constant("top", np.float32(0.25))])


def dynamic():
    """Dimensions with a name, without one, and of unknown rank."""
    save("dynamic", [
        h.make_node("MatMul", ["x", "w"], ["m"], "matmul"),
        h.make_node("Shape", ["m"], ["s"], "shape"),
        h.make_node("Gather", ["s", "zero"], ["n"], "rows"),
        h.make_node("Range", ["zero", "n", "one"], ["r"], "range"),
        h.make_node("Cast", ["r"], ["rf"], "cast", to=T.FLOAT),
        h.make_node("Unsqueeze", ["rf", "axis"], ["col"], "column"),
        h.make_node("Add", ["m", "col"], ["sum"], "add"),
        h.make_node("Reshape", ["sum", "shape_in"], ["re"], "reshape_of_unknown_rank"),
        h.make_node("Relu", ["re"], ["rr"], "relu"),
        h.make_node("ReduceSum", ["rr"], ["y"], "last", keepdims=0),
    ], [value("x", T.FLOAT, ["batch", 8]), value("shape_in", T.INT64, [None])], [value("y", T.FLOAT, [])],
        [weights("w", 8, 4), constant("zero", np.int64(0)), constant("one", np.int64(1)),
         constant("axis", np.array([1]))])


def fusions():
    """What the optimiser changes: folded constants, merged twins, Conv + BatchNormalization + Relu, MatMul + Add, Gelu, layer norm."""
    one = np.ones(8, np.float32)
    save("fusions", [
        h.make_node("Conv", ["x", "cw"], ["c"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        h.make_node("BatchNormalization", ["c", "one", "bn_b", "bn_b", "one"], ["bn"], "bn"),
        h.make_node("Relu", ["bn"], ["relu"], "relu"),
        h.make_node("GlobalAveragePool", ["relu"], ["pool"], "pool"),
        h.make_node("Flatten", ["pool"], ["flat"], "flatten"),
        h.make_node("Add", ["half_a", "half_b"], ["folded"], "folded"),
        h.make_node("MatMul", ["flat", "w"], ["mm"], "matmul"),
        h.make_node("Add", ["mm", "bias"], ["lin"], "bias_add"),
        h.make_node("Div", ["lin", "root2"], ["g0"], "gelu_div"),
        h.make_node("Erf", ["g0"], ["g1"], "gelu_erf"),
        h.make_node("Add", ["g1", "unit"], ["g2"], "gelu_add"),
        h.make_node("Mul", ["lin", "g2"], ["g3"], "gelu_mul"),
        h.make_node("Mul", ["g3", "half_s"], ["gelu"], "gelu_half"),
        h.make_node("Sigmoid", ["gelu"], ["s1"], "twin_1"),
        h.make_node("Sigmoid", ["gelu"], ["s2"], "twin_2"),
        h.make_node("Mul", ["s1", "folded"], ["m1"], "times_folded"),
        h.make_node("Sub", ["m1", "s2"], ["y"], "last"),
    ], [value("x", T.FLOAT, [1, 3, 8, 8])], [value("y", T.FLOAT, [1, 8])],
        [weights("cw", 8, 3, 3, 3), constant("one", one), weights("bn_b", 8), weights("w", 8, 8), weights("bias", 8),
         constant("half_a", one * 0.25), constant("half_b", one * 0.5), constant("root2", np.float32(np.sqrt(2))),
         constant("unit", np.float32(1)), constant("half_s", np.float32(0.5))])


def types():
    """One cast chain through the element types the CPU provider moves."""
    nodes, last = [], "x"
    for kind in ["DOUBLE", "FLOAT16", "BFLOAT16", "FLOAT", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64",
                 "BOOL", "FLOAT"]:
        name = "to_%s_%d" % (kind.lower(), len(nodes))
        nodes.append(h.make_node("Cast", [last], [name], name, to=getattr(T, kind)))
        last = name
    nodes.append(h.make_node("Neg", [last], ["y"], "last"))
    save("types", nodes, [value("x", T.FLOAT, [2, 3])], [value("y", T.FLOAT, [2, 3])])


def constants():
    """Weights in Constant nodes inside a branch, as some exporters write them; a lone number there is no weight."""
    def branch(name, shape):
        return h.make_graph([
            h.make_node("Constant", [], [name + "_w"], value=weights("", *shape)),
            h.make_node("Constant", [], [name + "_half"], value=constant("", np.float32(0.5))),
            h.make_node("MatMul", ["x", name + "_w"], [name + "_m"]),
            h.make_node("Mul", [name + "_m", name + "_half"], [name]),
        ], name, [], [value(name, T.FLOAT, [1, 8])])
    save("constants", [h.make_node("If", ["flag"], ["y"], "choose", then_branch=branch("then", (4, 8)), else_branch=branch("else", (4, 8)))],
         [value("x", T.FLOAT, [1, 4]), value("flag", T.BOOL, [])], [value("y", T.FLOAT, [1, 8])])


for make in (control_if, control_loop, control_scan, sequences, strings, empties, randoms, split, lstm, dynamic, fusions, types,
             constants):
    make()
