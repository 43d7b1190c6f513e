#!/usr/bin/env python3
"""coreml.py - Core ML models as coremltools sees them.

    coreml.py make FOLDER      writes the small packages and models that the tests read, each with its list
    coreml.py list MODEL...    prints the list of a package or .mlmodel: what our reader must agree with

A list has a line for every input and output, for every operation that is no constant (type, name, results with type and
shape, bytes of weights-file constants that it reads) and for every layer of a neural network. Needs coremltools 9."""

import json
import logging
import os
import shutil
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

from coremltools.proto import MIL_pb2, Model_pb2  # noqa: E402

TYPES = {v: k.lower() for k, v in MIL_pb2.DataType.items()}
ARRAY = {65568: "float32", 65600: "float64", 131104: "int32", 65552: "float16", 131080: "int8"}


def bits_of(name):
    return 8 if name == "bool" else int("".join(c for c in name.split("e")[0] if c.isdigit()) or 0)


def type_text(value):
    kind = value.WhichOneof("type")
    if kind == "stateType":
        return type_text(value.stateType.wrappedType)
    if kind != "tensorType":
        return "other"
    tensor = value.tensorType
    dims = [str(d.constant.size) if d.WhichOneof("dimension") == "constant" else "?" for d in tensor.dimensions]
    name = TYPES[tensor.dataType]
    if name in ("uint1", "uint3", "uint6"):  # ONNX has none: our reader says what they take
        count = 1
        for d in tensor.dimensions:
            count *= d.constant.size
        return f"uint8:{(count * bits_of(name) + 7) // 8}"
    return name + ":" + "x".join(dims)


def blob_bytes(value):
    """Bytes in the weights file."""
    if value.WhichOneof("value") != "blobFileValue":
        return 0
    tensor = value.type.tensorType
    count = 1
    for d in tensor.dimensions:
        count *= d.constant.size
    return (count * bits_of(TYPES[tensor.dataType]) + 7) // 8


class Lister:
    def __init__(self):
        self.lines = []

    def block(self, block, constants, prefix, indent):
        constants = dict(constants)
        for op in block.operations:
            if op.type == "const":
                constants[op.outputs[0].name] = op.attributes["val"]
                continue
            self.operation(op, constants, prefix, indent)

    def operation(self, op, constants, prefix, indent):
        kind = op.type.split(".")[-1]
        first = op.outputs[0].name if op.outputs else ""
        read = 0
        for argument in op.inputs.values():
            for binding in argument.arguments:
                if binding.WhichOneof("binding") == "value":
                    read += blob_bytes(binding.value)
                elif binding.name in constants:
                    read += blob_bytes(constants[binding.name])
        for key, value in op.attributes.items():
            if key not in ("name", "val"):
                read += blob_bytes(value)
        if kind == "while_loop":  # our reader writes the condition before the loop, and at the end of its body
            self.block(op.blocks[0], constants, f"{prefix}{first}.first/", indent)
        results = " ".join(f"{prefix}{o.name}:{type_text(o.type)}" for o in op.outputs)
        self.lines.append(f"{indent}{kind} {results} {read}")
        if kind == "cond":
            for block in op.blocks:
                self.block(block, constants, prefix, indent + "  ")
        if kind == "while_loop":
            self.block(op.blocks[1], constants, prefix, indent + "  ")
            self.block(op.blocks[0], constants, f"{prefix}{first}.again/", indent + "  ")


def list_program(spec, lister):
    program = spec.mlProgram
    name = spec.description.defaultFunctionName or "main"
    function = program.functions[name]
    for value in function.inputs:
        lister.lines.append(f"input {value.name}:{type_text(value.type)}")
    block = function.block_specializations[function.opset]
    lister.block(block, {}, "", "")
    for name in block.outputs:
        lister.lines.append(f"output {name}")
    lister.lines.append(f"opset {function.opset}")


def weight_bytes(message):
    """All numbers in the WeightParams of a layer."""
    total = 0
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for item in value if field.is_repeated else [value]:
            if field.message_type.name == "WeightParams":
                q = item.quantization
                total += 4 * len(item.floatValue) + len(item.float16Value) + len(item.rawValue) + len(item.int8RawValue)
                total += 4 * (len(q.linearQuantization.scale) + len(q.linearQuantization.bias))
                total += 4 * len(q.lookupTableQuantization.floatValue)
            else:
                total += weight_bytes(item)
    return total


def list_layers(layers, lister, indent):
    """Layers of inner networks stand under the layer that holds them; a condition is there twice, as in while_loop."""
    for layer in layers:
        kind = layer.WhichOneof("layer")
        if kind == "loop":
            list_layers(layer.loop.conditionNetwork.layers, lister, indent)
        lister.lines.append(indent + " ".join([kind, *layer.output, str(weight_bytes(layer))]))
        if kind == "branch":
            list_layers(layer.branch.ifBranch.layers, lister, indent + "  ")
            list_layers(layer.branch.elseBranch.layers, lister, indent + "  ")
        if kind == "loop":
            list_layers(layer.loop.bodyNetwork.layers, lister, indent + "  ")
            list_layers(layer.loop.conditionNetwork.layers, lister, indent + "  ")


def list_network(spec, lister):
    network = getattr(spec, spec.WhichOneof("Type"))
    for feature in spec.description.input:
        lister.lines.append(f"input {feature.name}")
    list_layers(network.layers, lister, "")
    for feature in spec.description.output:
        lister.lines.append(f"output {feature.name}")


def list_model(path):
    file = path
    if os.path.isdir(path):
        manifest = json.load(open(os.path.join(path, "Manifest.json")))
        root = manifest["itemInfoEntries"][manifest["rootModelIdentifier"]]
        file = os.path.join(path, "Data", root["path"])
    spec = Model_pb2.Model()
    with open(file, "rb") as stream:
        spec.ParseFromString(stream.read())
    lister = Lister()
    lister.lines.append(f"specification {spec.specificationVersion}")
    if spec.WhichOneof("Type") == "mlProgram":
        list_program(spec, lister)
    else:
        list_network(spec, lister)
    return "\n".join(lister.lines) + "\n"


# --- the models ---------------------------------------------------------------------------------


def make(folder):
    import coremltools as ct
    import coremltools.optimize.coreml as optimize
    import numpy as np
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import get_new_symbol, types
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder

    rng = np.random.default_rng(7)
    numbers = lambda *shape: rng.standard_normal(shape).astype(np.float32) * 0.1

    def convert(program, target, **more):
        return ct.convert(program, minimum_deployment_target=target, compute_precision=ct.precision.FLOAT16, **more)

    def save(model, name):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        if name.endswith(".mlmodel"):
            with open(path, "wb") as stream:
                stream.write(model.SerializeToString())
        else:
            model.save(path)
            # fixed identifiers, so that a package written again is the same
            manifest = json.load(open(os.path.join(path, "Manifest.json")))
            entries = sorted(manifest["itemInfoEntries"].values(), key=lambda item: item["path"])
            ids = [f"00000000-0000-4000-8000-{i:012d}" for i in range(len(entries))]
            manifest["itemInfoEntries"] = dict(zip(ids, entries))
            manifest["rootModelIdentifier"] = next(i for i, e in zip(ids, entries) if e["name"] == "model.mlmodel")
            with open(os.path.join(path, "Manifest.json"), "w") as stream:
                json.dump(manifest, stream, indent=1)
        with open(path.rsplit(".", 1)[0] + ".txt", "w") as stream:
            stream.write(list_model(path))

    def dense(target):
        weight, bias = numbers(64, 64), numbers(64)

        @mb.program(input_specs=[mb.TensorSpec(shape=(1, 64))], opset_version=target)
        def program(x):
            return mb.relu(x=mb.linear(x=x, weight=weight, bias=bias, name="dense"), name="y")

        return convert(program, target)

    old, new = dense(ct.target.iOS16), dense(ct.target.iOS18)
    config = lambda op: optimize.OptimizationConfig(op)
    palettise = lambda **k: config(optimize.OpPalettizerConfig(mode="kmeans", weight_threshold=0, **k))
    quantise = lambda **k: config(optimize.OpLinearQuantizerConfig(mode="linear_symmetric", weight_threshold=0, **k))
    prune = config(optimize.OpThresholdPrunerConfig(threshold=0.08, minimum_sparsity_percentile=0.1, weight_threshold=0))
    save(optimize.palettize_weights(old, palettise(nbits=4)), "palettised16.mlpackage")
    save(optimize.palettize_weights(new, palettise(nbits=2, granularity="per_grouped_channel", group_size=16)), "palettised18.mlpackage")
    save(optimize.palettize_weights(new, palettise(nbits=6)), "palettised6.mlpackage")
    save(optimize.linear_quantize_weights(old, quantise(dtype="int8")), "quantised16.mlpackage")
    save(optimize.linear_quantize_weights(new, quantise(dtype="int4", granularity="per_block", block_size=16)), "quantised18.mlpackage")
    save(optimize.prune_weights(old, prune), "sparse16.mlpackage")
    sparse = optimize.prune_weights(new, prune)
    save(sparse, "sparse18.mlpackage")
    save(optimize.palettize_weights(sparse, palettise(nbits=4), joint_compression=True), "joint.mlpackage")

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 4, 8, 8)), mb.TensorSpec(shape=(5, 1, 6))], opset_version=ct.target.iOS17)
    def operators(x, s):
        y = mb.conv(x=x, weight=numbers(8, 2, 3, 3), bias=numbers(8), strides=(2, 1), pad_type="custom", pad=(1, 2, 0, 1), groups=2, name="conv")
        y = mb.batch_norm(x=y, mean=numbers(8), variance=numbers(8) ** 2 + 1, gamma=numbers(8), beta=numbers(8), name="bn")
        y = mb.relu6(x=y)
        y = mb.max_pool(x=y, kernel_sizes=[2, 2], strides=[1, 1], pad_type="same")
        y = mb.avg_pool(x=y, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid", exclude_padding_from_average=True)
        y = mb.conv_transpose(x=y, weight=numbers(8, 4, 2, 2), strides=(2, 2), pad_type="valid")
        y = mb.upsample_bilinear(x=y, scale_factor_height=2.0, scale_factor_width=2.0)
        y = mb.resize_nearest_neighbor(x=y, target_size_height=6, target_size_width=5)
        y = mb.gelu(x=y, mode="TANH_APPROXIMATION")
        y = mb.instance_norm(x=y, gamma=numbers(4) + 1, beta=numbers(4))
        y = mb.silu(x=y)
        y = mb.pad(x=y, pad=[1, 1, 2, 0], mode="constant", constant_val=0.0)
        y = mb.slice_by_index(x=y, begin=[0, 1, 0, 0], end=[1, 4, 0, 5], end_mask=[False, False, True, False])
        a, b, c = mb.split(x=y, num_splits=3, axis=1)
        y = mb.concat(values=[a, c], axis=1)
        y = mb.add(x=y, y=mb.square(x=b))
        y = mb.clip(x=y, alpha=-1.0, beta=2.0)
        y = mb.mul(x=y, y=0.5)
        y = mb.transpose(x=y, perm=[0, 2, 3, 1])
        y = mb.reshape(x=y, shape=[8, -1])
        y = mb.layer_norm(x=y, axes=[-1], gamma=numbers(10) + 1, beta=numbers(10))
        v, i = mb.topk(x=y, k=3, axis=-1)
        g = mb.gather(x=y, indices=[0, 2], axis=0)
        t = mb.tile(x=mb.expand_dims(x=v, axes=[0]), reps=[2, 1, 1])
        r = mb.reduce_log_sum_exp(x=t, axes=[1, 2], keep_dims=True)
        m = mb.matmul(x=y, y=y, transpose_y=True)
        e = mb.einsum(values=(mb.expand_dims(x=m, axes=[0, 1]), mb.expand_dims(x=m, axes=[0, 3])), equation="nchw,nwhu->nchu")
        p = mb.pow(x=mb.rsqrt(x=mb.abs(x=e)), y=2.0)
        h, last, _ = mb.lstm(x=s, initial_h=np.zeros((1, 7), np.float32), initial_c=np.zeros((1, 7), np.float32), weight_ih=numbers(28, 6), weight_hh=numbers(28, 7), bias=numbers(28), output_sequence=True, name="cell")
        o = mb.one_hot(indices=i, one_hot_vector_size=10)
        n = mb.cumsum(x=mb.cast(x=o, dtype="fp32"), axis=1)
        w = mb.select(cond=mb.greater(x=m, y=0.0), a=m, b=mb.exp(x=m))
        return p, g, r, h, last, n, w

    save(convert(operators, ct.target.iOS17), "operators.mlpackage")

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 4)), mb.TensorSpec(shape=(1,))], opset_version=ct.target.iOS17)
    def flow(x, n):
        weight = numbers(16, 4)
        big = mb.greater(x=mb.reduce_sum(x=x, axes=[0, 1], keep_dims=False), y=1.0)
        y = mb.cond(pred=big, _true_fn=lambda: mb.linear(x=x, weight=weight, bias=np.ones(16, np.float32), name="wide"), _false_fn=lambda: mb.tile(x=x, reps=[1, 4], name="copies"))

        def test(i, z):
            return mb.less(x=i, y=10.0, name="below")

        def body(i, z):
            return mb.add(x=i, y=1.0, name="next"), mb.mul(x=z, y=1.5, name="grown")

        i, z = mb.while_loop(_cond=test, _body=body, loop_vars=(mb.squeeze(x=n), y), name="turns")
        return mb.identity(x=z, name="z")

    save(convert(flow, ct.target.iOS17), "flow.mlpackage")

    @mb.program(input_specs=[mb.TensorSpec(shape=(2, 8), dtype=types.fp16), mb.StateTensorSpec(shape=(2, 8), dtype=types.fp16)], opset_version=ct.target.iOS18)
    def state(x, memory):
        before = mb.read_state(input=memory)
        after = mb.coreml_update_state(state=memory, value=mb.add(x=x, y=before))
        q = mb.reshape(x=after, shape=[1, 2, 8])
        return mb.scaled_dot_product_attention(query=q, key=q, value=q, name="attention")

    save(convert(state, ct.target.iOS18), "state.mlpackage")

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 3, 32, 32))], opset_version=ct.target.iOS17)
    def pictures(x):
        return mb.reduce_mean(x=mb.conv(x=x, weight=numbers(8, 3, 3, 3), name="conv"), axes=[2, 3], keep_dims=False, name="y")

    save(convert(pictures, ct.target.iOS17, inputs=[ct.ImageType(name="x", shape=(1, 3, 32, 32), color_layout=ct.colorlayout.RGB)]), "image.mlpackage")

    batch = get_new_symbol()

    @mb.program(input_specs=[mb.TensorSpec(shape=(batch, 16))], opset_version=ct.target.iOS17)
    def flexible(x):
        return mb.softmax(x=mb.linear(x=x, weight=numbers(32, 16), bias=numbers(32), name="dense"), axis=-1, name="y")

    save(convert(flexible, ct.target.iOS17, inputs=[ct.TensorType(name="x", shape=(ct.RangeDim(1, 64, default=4), 16))]), "flexible.mlpackage")

    # two functions that share their weights
    paths = [os.path.join(folder, f"_{i}.mlpackage") for i in range(2)]
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
        new.save(path)
    several = ct.utils.MultiFunctionDescriptor()
    several.add_function(paths[0], "main", "first")
    several.add_function(paths[1], "main", "second")
    several.default_function_name = "second"
    target = os.path.join(folder, "functions.mlpackage")
    shutil.rmtree(target, ignore_errors=True)
    ct.utils.save_multifunction(several, target)
    for path in paths:
        shutil.rmtree(path)

    class Written:
        def save(self, path):
            os.rename(target + ".new", path)

    os.rename(target, target + ".new")
    save(Written(), "functions.mlpackage")

    # neural networks of layers
    builder = NeuralNetworkBuilder([("image", datatypes.Array(3, 16, 16))], [("probabilities", datatypes.Array(10))], disable_rank5_shape_mapping=False)
    builder.add_convolution("conv", 3, 8, 3, 3, 2, 2, "same", 1, numbers(3, 3, 3, 8), numbers(8), True, input_name="image", output_name="c")
    builder.add_batchnorm("norm", 8, numbers(8) + 1, numbers(8), numbers(8), numbers(8) ** 2 + 1, "c", "n")
    builder.add_activation("relu", "RELU", "n", "r")
    builder.add_pooling("pool", 2, 2, 2, 2, "MAX", "VALID", "r", "p")
    builder.add_activation("leaky", "LEAKYRELU", "p", "l", [0.1])
    builder.add_convolution("depth", 1, 8, 3, 3, 1, 1, "valid", 8, numbers(3, 3, 1, 8), None, False, input_name="l", output_name="d", padding_top=1, padding_bottom=1, padding_left=1, padding_right=1)
    builder.add_elementwise("sum", ["d", "l"], "s", "ADD")
    builder.add_scale("scale", numbers(8), numbers(8), True, "s", "t", [8], [8])
    builder.add_upsample("up", 2, 2, "t", "u")
    builder.add_flatten("flat", 0, "u", "f")
    builder.add_inner_product("dense", numbers(10, 512), numbers(10), 512, 10, True, "f", "h")
    builder.add_softmax("softmax", "h", "probabilities")
    save(builder.spec, "network.mlmodel")
    save(quantise_network(builder.spec, np), "network8.mlmodel")

    builder = NeuralNetworkBuilder([("x", datatypes.Array(6)), ("h0", datatypes.Array(5)), ("c0", datatypes.Array(5))], [("y", datatypes.Array(5)), ("h1", datatypes.Array(5)), ("c1", datatypes.Array(5))], disable_rank5_shape_mapping=False)
    gates = lambda rows, columns: [numbers(rows, columns) for _ in range(4)]
    builder.add_unilstm("cell", gates(5, 5), gates(5, 6), [numbers(5) for _ in range(4)], 5, 6, ["x", "h0", "c0"], ["y", "h1", "c1"], output_all=False)
    save(builder.spec, "recurrent.mlmodel")

    builder = NeuralNetworkBuilder([("a", datatypes.Array(2, 5, 8)), ("b", datatypes.Array(2, 8, 4))], [("y", None)], disable_rank5_shape_mapping=True)
    builder.add_batched_mat_mul("product", ["a", "b"], "m")
    builder.add_layer_normalization("norm", "m", "n", [4], numbers(4) + 1, numbers(4), eps=1e-5)
    builder.add_softmax_nd("softmax", "n", "w", -1)
    builder.add_reduce_mean("mean", "w", "r", axes=[1], keepdims=False)
    builder.add_expand_dims("grow", "r", "e", [0])
    builder.add_transpose("turn", [0, 2, 1], "e", "v")
    builder.add_slice_static("cut", "v", "y", [0, 1, 0], [1, 3, 2], [1, 1, 1], [False] * 3, [False] * 3)
    save(builder.spec, "exact.mlmodel")

    # networks in layers: branches, a loop of five turns, a loop with a condition and a branch in its body
    inner = lambda network: NeuralNetworkBuilder(nn_spec=network, disable_rank5_shape_mapping=True)
    dense = lambda target, name, source, made: target.add_inner_product(name, numbers(8, 8), numbers(8), 8, 8, True, source, made)
    builder = NeuralNetworkBuilder([("x", datatypes.Array(1, 8)), ("flag", datatypes.Array(1)), ("n", datatypes.Array(1))], [("z", None), ("memory", None)], disable_rank5_shape_mapping=True)
    builder.add_copy("start", "x", "memory")
    branch = builder.add_branch("pick", "flag").branch
    dense(inner(branch.ifBranch), "wide", "x", "w")
    inner(branch.ifBranch).add_activation("relu", "RELU", "w", "y")
    inner(branch.elseBranch).add_elementwise("twice", ["x"], "y", "MULTIPLY", 2.0)
    body = builder.add_loop("five", max_iterations=5).loop.bodyNetwork
    dense(inner(body), "step", "memory", "t")
    inner(body).add_activation("bend", "TANH", "t", "u")
    inner(body).add_copy("assign", "u", "memory")
    builder.add_load_constant_nd("zero", "none", np.zeros(1, np.float32), [1])
    builder.add_copy("count", "none", "i")
    loop = builder.add_loop("while", condition="below").loop
    inner(loop.conditionNetwork).add_less_than("compare", ["i", "n"], "below")
    inner(loop.bodyNetwork).add_elementwise("next", ["i"], "j", "ADD", 1.0)
    inner(loop.bodyNetwork).add_copy("counted", "j", "i")
    branch = inner(loop.bodyNetwork).add_branch("inside", "flag").branch
    dense(inner(branch.ifBranch), "deep", "memory", "v")
    inner(branch.ifBranch).add_copy("kept", "v", "memory")
    builder.add_add_broadcastable("sum", ["memory", "y"], "z")
    save(builder.spec, "control.mlmodel")


def quantise_network(spec, np):
    """The weights of the dense layer as 8 bits with a scale and bias per channel, those of the first as a table of 16."""
    spec = type(spec).FromString(spec.SerializeToString())
    for layer in spec.neuralNetwork.layers:
        if layer.name == "dense":
            weights, rows = layer.innerProduct.weights, 10
            values = np.array(weights.floatValue, np.float32).reshape(rows, -1)
            low, step = values.min(1), (values.max(1) - values.min(1)) / 255
            raw = np.round((values - low[:, None]) / step[:, None]).astype(np.uint8)
            weights.ClearField("floatValue")
            weights.rawValue = raw.tobytes()
            weights.quantization.numberOfBits = 8
            weights.quantization.linearQuantization.scale.extend(step.tolist())
            weights.quantization.linearQuantization.bias.extend(low.tolist())
        if layer.name == "conv":
            weights = layer.convolution.weights
            values = np.array(weights.floatValue, np.float32)
            table = np.linspace(values.min(), values.max(), 16).astype(np.float32)
            index = np.abs(values[:, None] - table[None]).argmin(1).astype(np.uint8)
            weights.ClearField("floatValue")
            weights.rawValue = (index[0::2] << 4 | index[1::2]).astype(np.uint8).tobytes()
            weights.quantization.numberOfBits = 4
            weights.quantization.lookupTableQuantization.floatValue.extend(table.tolist())
    return spec


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        make(sys.argv[2])
    elif len(sys.argv) >= 3 and sys.argv[1] == "list":
        for model in sys.argv[2:]:
            sys.stdout.write(list_model(model))
    else:
        sys.exit(__doc__)
