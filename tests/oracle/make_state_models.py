#!/usr/bin/env python3
"""Writes the small models with a state that the tests of feedback run: tests/fixtures/models/state/*.onnx.

vad.onnx      sound of any length, a GRU whose state goes in and comes out, and the sampling rate: as streaming speech models are
vad.txt       what onnx's reference evaluator says of it: the output and the state after each of 8 inferences, each on the
              state of the one before; the first begins with zeros, every sample is 0.25
growing.onnx  a cache that is longer after every run
Needs numpy and onnx. Weights are seeded: the files are the same each time.
Usage: make_state_models.py [folder]
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "fixtures", "models", "state")
RANDOM = np.random.RandomState(11)
STEPS, SAMPLES, HIDDEN = 8, 512, 8


def value(name, kind, shape):
    return h.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def weights(name, *shape):
    return constant(name, RANDOM.randn(*shape).astype(np.float32) * 0.5)


def save(name, nodes, inputs, outputs, initializers):
    graph = h.make_graph(nodes, name, inputs, outputs, initializers)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], producer_name="assay-tests")
    model.ir_version = 8
    onnx.checker.check_model(model)
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())
    return model


vad = save("vad", [
    h.make_node("Unsqueeze", ["input", "one"], ["wave"], "unsqueeze"),
    h.make_node("Conv", ["wave", "kernel"], ["frames"], "conv", strides=[64]),
    h.make_node("Transpose", ["frames"], ["steps"], "transpose", perm=[2, 0, 1]),
    h.make_node("GRU", ["steps", "W", "R", "B", "", "state"], ["", "stateN"], "gru", hidden_size=HIDDEN),
    h.make_node("Squeeze", ["stateN", "zero"], ["last"], "squeeze"),
    h.make_node("MatMul", ["last", "head"], ["score"], "head"),
    h.make_node("Sigmoid", ["score"], ["probability"], "sigmoid"),
    h.make_node("Equal", ["sr", "rate"], ["right"], "equal"),
    h.make_node("Cast", ["right"], ["weight"], "cast", to=T.FLOAT),
    h.make_node("Mul", ["probability", "weight"], ["output"], "mul"),
], [value("input", T.FLOAT, ["batch", "samples"]), value("state", T.FLOAT, [1, "batch", HIDDEN]), value("sr", T.INT64, [])],
    [value("output", T.FLOAT, ["batch", 1]), value("stateN", T.FLOAT, [1, "batch", HIDDEN])],
    [constant("one", np.array([1], np.int64)), constant("zero", np.array([0], np.int64)), constant("rate", np.int64(16000)),
     weights("kernel", 4, 1, 64), weights("W", 1, 3 * HIDDEN, 4), weights("R", 1, 3 * HIDDEN, HIDDEN),
     weights("B", 1, 6 * HIDDEN), weights("head", HIDDEN, 1)])

run = ReferenceEvaluator(vad)
state = np.zeros((1, 1, HIDDEN), np.float32)
with open(os.path.join(FOLDER, "vad.txt"), "w", encoding="utf-8") as file:
    for _ in range(STEPS):
        output, state = run.run(None, {"input": np.full((1, SAMPLES), 0.25, np.float32), "state": state, "sr": np.int64(16000)})
        file.write(" ".join("%.9g" % number for number in [output.item(), *state.ravel()]) + "\n")

save("growing", [h.make_node("Concat", ["cache", "x"], ["new_cache"], "concat", axis=1)],
     [value("x", T.FLOAT, [1, 1, 4]), value("cache", T.FLOAT, [1, "past", 4])],
     [value("new_cache", T.FLOAT, [1, "total", 4])], [])
