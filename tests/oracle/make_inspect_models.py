"""make_inspect_models.py - writes the models of tests/fixtures/models/inspect with the onnx package.

    python3 tests/oracle/make_inspect_models.py

Small graphs that `assay inspect` is tested with: a symbolic batch, a variant of it for the difference, an operator nobody
knows with hostile names, shapes that contradict each other, external data that is not there, and a sequence input.
"""
import pathlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures/models/inspect"


def save(name, nodes, inputs, outputs, weights=(), opsets=(("", 17),)):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    model = helper.make_model(graph, producer_name="fixture", ir_version=8,
                              opset_imports=[helper.make_opsetid(*o) for o in opsets])
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())


def tensor(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def weight(name, *dims):
    values = numpy.random.default_rng(len(name)).standard_normal(dims, dtype=numpy.float32) * 0.1
    return numpy_helper.from_array(values, name)


def mlp(name, hidden, extra):
    """x[batch,16] -> Gemm -> Relu -> Gemm -> Softmax; `extra` adds a Tanh before the last Gemm and renames the first."""
    nodes = [helper.make_node("Gemm", ["x", "w1", "b1"], ["h1"], "fc1b" if extra else "fc1", transB=1),
             helper.make_node("Relu", ["h1"], ["h2"], "act")]
    if extra:
        nodes.append(helper.make_node("Tanh", ["h2"], ["h3"], "squash"))
    nodes += [helper.make_node("Gemm", ["h3" if extra else "h2", "w2", "b2"], ["h4"], "fc2", transB=1),
              helper.make_node("Softmax", ["h4"], ["y"], "probabilities", axis=-1)]
    save(name, nodes, [tensor("x", "batch", 16)], [tensor("y", "batch", 10)],
         [weight("w1", hidden, 16), weight("b1", hidden), weight("w2", 10, hidden), weight("b2", 10)])


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    mlp("mlp", 32, False)
    mlp("mlp_more", 32, True)
    mlp("mlp_wide", 64, False)
    hostile = 'a\x1b[31m"b\\c\n<b>|`\u202e'
    save("unknown", [helper.make_node("Relu", ["x"], ["h"], hostile),
                     helper.make_node("Frobnicate", ["h"], ["k"], "f1", domain="org.example"),
                     helper.make_node("Frobnicate", ["k"], ["l"], "f2", domain="org.example"),
                     helper.make_node("Relu", ["l"], ["y"], "=cmd()")],
         [tensor("x", 2, 8)], [tensor("y", 2, 8)], opsets=(("", 17), ("org.example", 1)))
    save("conflict", [helper.make_node("Relu", ["a"], ["ra"], "left"),
                      helper.make_node("Relu", ["b"], ["rb"], "right"),
                      helper.make_node("MatMul", ["ra", "rb"], ["y"], "product")],
         [tensor("a", 2, 3), tensor("b", 4, 5)], [tensor("y", 2, 5)])
    external = weight("w", 8, 8)
    external.ClearField("raw_data")
    external.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "not_there.bin"), ("offset", "0"), ("length", "256")):
        entry = external.external_data.add()
        entry.key, entry.value = key, value
    save("external", [helper.make_node("MatMul", ["x", "w"], ["y"], "m")], [tensor("x", 2, 8)], [tensor("y", 2, 8)],
         [external])
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    save("sequence_input", [helper.make_node("SequenceLength", ["s"], ["n"], "count")], [sequence],
         [helper.make_tensor_value_info("n", TensorProto.INT64, [])])


if __name__ == "__main__":
    main()
