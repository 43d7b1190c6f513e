"""Shapes and types of every value as onnx.shape_inference says, for test_shapes_oracle.

    shapes.py fixture DIR EXPORTS     writes DIR/models.pack and DIR/expected.txt: a sample of the
                               onnx package's node tests and the small transformers in EXPORTS
                               (written by shapes_export.py)
    shapes.py live PROGRAM [MODEL…]   all node tests, the package's light models and the models
                               named, through PROGRAM (the test_shapes_oracle binary)

What the file states of values and outputs is taken away first, so that all of it is inferred.
The listing: a line "model NAME", then "value<TAB>type<TAB>dims" for each value whose type or rank
onnx knows; dims are numbers, symbols of the model or "?"; "*" is an unknown rank. Symbols that
onnx made up are "?". The pack: for each model a line "NAME SIZE" and the bytes of the file.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper, shape_inference
from onnx.backend.test.case.node import collect_testcases

SAMPLE = 300


def own_symbols(graph, found):
    """Symbols of the model's inputs; others are names that onnx made up in an earlier run."""
    for value in graph.input:
        if value.type.WhichOneof("value") == "tensor_type":
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param:
                    found.add(dim.dim_param)
    for node in graph.node:
        for attr in node.attribute:
            if attr.type == onnx.AttributeProto.GRAPH:
                own_symbols(attr.g, found)
    return found


def dims_text(tensor, symbols):
    if not tensor.HasField("shape"):
        return "*"
    texts = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            texts.append(str(dim.dim_value) if dim.dim_value >= 0 else "?")
        else:
            texts.append(dim.dim_param if dim.dim_param in symbols else "?")
    return ";".join(texts)


def contradicts(inferred, stated):
    """The tests state what comes out when they run; where inference says otherwise, it is wrong
    (STFT's `onesided`, whose default is 1)."""
    for a, b in zip(inferred.shape.dim, stated.shape.dim):
        if a.HasField("dim_value") and b.HasField("dim_value") and a.dim_value != b.dim_value:
            return True
    return False


def listing(name, model):
    symbols = own_symbols(model.graph, set())
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    del bare.graph.value_info[:]
    for value in bare.graph.output:
        value.ClearField("type")
    inferred = shape_inference.infer_shapes(bare, check_type=False, strict_mode=False,
                                            data_prop=True)
    lines, seen = ["model " + name], set()
    graph = inferred.graph
    stated = {value.name: value.type.tensor_type for value in model.graph.output}
    for value in list(graph.input) + list(graph.value_info) + list(graph.output):
        if value.type.WhichOneof("value") != "tensor_type":
            continue
        tensor = value.type.tensor_type
        if not value.name or value.name in seen or "\t" in value.name or "\n" in value.name:
            continue
        seen.add(value.name)
        if value.name in stated and contradicts(tensor, stated[value.name]):
            tensor = stated[value.name]
        lines.append("%s\t%d\t%s" % (value.name, tensor.elem_type, dims_text(tensor, symbols)))
    return lines


def with_constants(case):
    """The same test with its small inputs after the first as initializers: axes, sizes, scales."""
    if not case.data_sets or not case.data_sets[0]:
        return None
    arrays = case.data_sets[0][0]
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    chosen = []
    for i, (value, array) in enumerate(zip(case.model.graph.input, arrays)):
        alone = i == 0 and len(arrays) > 1
        if alone or not isinstance(array, (np.ndarray, np.generic)) or np.asarray(array).size > 16:
            continue
        if np.asarray(array).dtype not in (np.int64, np.int32, np.float32, np.bool_):
            continue
        chosen.append((value, np.asarray(array)))
    for value, array in chosen:
        model.graph.input.remove(value)
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))
    return model if chosen else None


def node_models():
    """(name, model) of every node test, which the package generates, and of its small models."""
    found = []
    for case in collect_testcases(None):
        if not case.model:
            continue
        found.append((case.name, case.model))
        fixed = with_constants(case)
        if fixed:
            found.append((case.name + "~constant", fixed))
    root = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    for path in sorted(glob.glob(os.path.join(root, "simple", "*", "model.onnx")) +
                       glob.glob(os.path.join(root, "pytorch-*", "*", "model.onnx"))):
        found.append((os.path.basename(os.path.dirname(path)), onnx.load(path)))
    return sorted(found, key=lambda pair: pair[0])


def without_weights(model):
    """Large weights as references to a file that is not there: shapes do not need them."""
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) > 65536:
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="weights")
    return model


def file_models(paths):
    return [(os.path.basename(path)[:-5],
             without_weights(onnx.load(path, load_external_data=False))) for path in paths]


def light_models():
    root = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    return file_models(sorted(glob.glob(os.path.join(root, "light", "*.onnx"))))


def sample(models):
    """One test of each kind of operator first, then every n-th."""
    kinds, rest = {}, []
    for name, model in models:
        if model.ByteSize() > 3000:
            continue
        key = tuple(sorted(set(node.op_type for node in model.graph.node)))
        if key in kinds:
            rest.append((name, model))
        else:
            kinds[key] = (name, model)
    chosen = list(kinds.values())[:SAMPLE]
    step = max(1, len(rest) // max(1, SAMPLE - len(chosen)))
    chosen += rest[::step][:max(0, SAMPLE - len(chosen))]
    return sorted(chosen, key=lambda pair: pair[0])


def write_pack(models, folder):
    listings = []
    with open(os.path.join(folder, "models.pack"), "wb") as pack:
        for name, model in models:
            data = model.SerializeToString(deterministic=True)
            pack.write(("%s %d\n" % (name, len(data))).encode())
            pack.write(data)
            listings += listing(name, model)
    with open(os.path.join(folder, "expected.txt"), "w") as file:
        file.write("\n".join(listings) + "\n")


def main():
    if sys.argv[1] == "fixture":
        folder = sys.argv[2]
        exports = sorted(glob.glob(os.path.join(sys.argv[3], "*.onnx")))
        write_pack(sample(node_models()) + file_models(exports), folder)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        write_pack(node_models() + light_models() + file_models(sys.argv[3:]), folder)
        environment = dict(os.environ, ASSAY_SHAPES_FOLDER=folder)
        return subprocess.call([sys.argv[2]], env=environment)


if __name__ == "__main__":
    sys.exit(main())
