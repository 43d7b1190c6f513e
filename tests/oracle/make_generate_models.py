#!/usr/bin/env python3
"""Writes the counting decoders of test_generate.c: tests/fixtures/models/generate/*.onnx.

Not language models: each says a token that plain arithmetic foretells from everything a generation must hand over, so
that a wrong cache, mask or position gives another token. At position p, with m ones in the mask, the id i and the sum s
of all ids so far (which only the cache knows):

    token = (s + 3 p + 5 m + 7 i) mod 97        counter:  all four; ids int64, logits [batch, new, 97]
                                                counter32: the same with int32 ids and positions, a float mask, logits
                                                           [batch, 97] of the last position, and a cache with its growing
                                                           axis first but one, as past_0 / present_0

Needs numpy and onnx. Usage: make_generate_models.py [folder]
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "fixtures", "models", "generate")
VOCABULARY = 97


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def counter(name, kind, mask_kind, past, present, cache_shape, last):
    """cache_shape holds -1 where the cache grows; every other axis but the batch is 1."""
    axis = cache_shape.index(-1)
    named = ["batch" if d == "batch" else "past" if d == -1 else d for d in cache_shape]
    total = ["batch" if d == "batch" else "total" if d == -1 else d for d in cache_shape]
    nodes = [
        h.make_node("Cast", ["input_ids"], ["ids"], to=T.FLOAT),
        h.make_node("Cast", ["position_ids"], ["places"], to=T.FLOAT),
        h.make_node("Cast", ["attention_mask"], ["mask"], to=T.FLOAT),
        h.make_node("Reshape", ["ids", "cache_shape"], ["new"]),
        h.make_node("Concat", [past, "new"], [present], axis=axis),
        h.make_node("Reshape", [present, "flat"], ["all"]),
        h.make_node("ReduceSum", ["all", "one"], ["sum"], keepdims=1),
        h.make_node("ReduceSum", ["mask", "one"], ["ones"], keepdims=1),
        h.make_node("Mul", ["places", "three"], ["a"]),
        h.make_node("Mul", ["ones", "five"], ["b"]),
        h.make_node("Mul", ["ids", "seven"], ["c"]),
        h.make_node("Sum", ["sum", "a", "b", "c"], ["score"]),
        h.make_node("Mod", ["score", "modulus"], ["token"], fmod=1),
        h.make_node("Cast", ["token"], ["index"], to=T.INT64),
        h.make_node("OneHot", ["index", "depth", "values"], ["every"], axis=-1),
    ]
    nodes += [h.make_node("Gather", ["every", "end"], ["logits"], axis=1)] if last else \
             [h.make_node("Identity", ["every"], ["logits"])]
    fixed = [0 if d == "batch" else d for d in cache_shape]
    initializers = [
        constant("cache_shape", np.array(fixed, np.int64)), constant("flat", np.array([0, -1], np.int64)),
        constant("one", np.array([1], np.int64)), constant("three", np.float32(3)), constant("five", np.float32(5)),
        constant("seven", np.float32(7)), constant("modulus", np.float32(VOCABULARY)),
        constant("depth", np.array(VOCABULARY, np.int64)), constant("values", np.array([-1, 1], np.float32)),
    ] + ([constant("end", np.array(-1, np.int64))] if last else [])
    inputs = [
        h.make_tensor_value_info("input_ids", kind, ["batch", "seq"]),
        h.make_tensor_value_info("attention_mask", mask_kind, ["batch", "total"]),
        h.make_tensor_value_info("position_ids", kind, ["batch", "seq"]),
        h.make_tensor_value_info(past, T.FLOAT, named),
    ]
    outputs = [
        h.make_tensor_value_info("logits", T.FLOAT, ["batch", VOCABULARY] if last else ["batch", "seq", VOCABULARY]),
        h.make_tensor_value_info(present, T.FLOAT, total),
    ]
    graph = h.make_graph(nodes, name, inputs, outputs, initializers)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], producer_name="assay-tests")
    model.ir_version = 8
    onnx.checker.check_model(model)
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


counter("counter", T.INT64, T.INT64, "past_key_values.0.key", "present.0.key", ["batch", 1, -1, 1], False)
counter("counter32", T.INT32, T.FLOAT, "past_0", "present_0", ["batch", -1, 1], True)
