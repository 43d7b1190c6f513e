#!/usr/bin/env python3
"""Writes the models that `assay make --fuse-hardswish --fold-affine` is tested on: tests/fixtures/models/fold/*.onnx.

Needs numpy and onnx. Weights are seeded: the files are the same each time. Usage: make_fold_models.py [folder]
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "fixtures", "models", "fold")


def model(opset):
    random = np.random.RandomState(7)
    constants, nodes = [], []

    def constant(array):
        name = "c%d" % len(constants)
        constants.append(numpy_helper.from_array(np.asarray(array, dtype=np.float32), name))
        return name

    def weights(*shape):
        return constant(random.randn(*shape) * 0.4)

    def node(op, *inputs, **attributes):
        name = "%s_%d" % (op, len(nodes))
        nodes.append(h.make_node(op, list(inputs), [name], name, **attributes))
        return name

    a = node("Conv", "x", weights(8, 3, 3, 3), weights(8), pads=[1, 1, 1, 1])
    a = node("Mul", constant([0.9]), a)
    a = node("Add", a, constant([0.5]))
    gate = node("Clip", node("Add", a, constant(3)), constant(0), constant(6))
    a = node("Div", node("Mul", a, gate), constant(6))
    a = node("Mul", constant([0.4]), a)
    a = node("Add", a, constant([-0.3]))
    a = node("Conv", a, weights(8, 4, 1, 1), weights(8), group=2)
    a = node("Sub", a, weights(1, 8, 1, 1))
    a = node("Div", a, constant([1.7]))
    side = node("GlobalAveragePool", a)
    side = node("Conv", side, weights(8, 8, 1, 1))
    side = node("Relu", side)
    gate = node("Clip", node("Add", node("Mul", side, constant(0.2)), constant(0.5)), constant(0), constant(1))
    a = node("Mul", a, gate)
    a = node("ConvTranspose", a, weights(8, 3, 2, 2), group=2, strides=[2, 2])
    a = node("Mul", a, weights(6, 1, 1))
    a = node("Sub", constant([2]), a)
    a = node("Relu", a)
    a = node("Mul", a, weights(1, 6, 1, 1))
    a = node("Conv", a, weights(6, 1, 3, 3), group=6, pads=[1, 1, 1, 1])
    nodes[-1].output[0] = "y"
    value = h.make_tensor_value_info
    graph = h.make_graph(nodes, "fold", [value("x", T.FLOAT, [1, 3, 12, 12])], [value("y", T.FLOAT, [1, 6, 24, 24])],
                         constants)
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], producer_name="assay-tests")
    made.ir_version = 7
    onnx.checker.check_model(made)
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "opset%d.onnx" % opset), "wb") as file:
        file.write(made.SerializeToString())


model(12)
model(14)
