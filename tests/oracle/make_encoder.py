#!/usr/bin/env python3
"""Writes a transformer encoder as ONNX, with random weights, using the standard library only.

    make_encoder.py OUT.onnx [layers=2] [d=256] [heads=4] [ffn=1024] [seq=128] [seed=1]
    make_encoder.py --check        compares a small one with PyTorch (needs torch, numpy, onnxruntime)

For benchmarks: a file of megabytes that need not be kept. Input x and output y are float32, 1 x seq x d. A layer is the
one of "Attention Is All You Need" with GELU: y = N(x + A(x)), z = N(y + F(y)), N a layer normalisation (epsilon 1e-5),
A(x) = softmax(Q K^T / sqrt(d / heads)) V W_o + b_o per head, F(y) = gelu(y W_1 + b_1) W_2 + b_2. Weights are uniform in
+-sqrt(3 / fan-in), so that the variance of activations stays near 1. Operators are those of opset 17.
"""
import array
import math
import random
import struct
import sys

FLOAT, INT64 = 1, 7


# --- protobuf, as far as ONNX needs it: varints and length-delimited fields ---------------------------------------------

def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def little(values):
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def tensor(name, shape, values, kind=FLOAT):
    """TensorProto: dims 1, data_type 2, name 8, raw_data 9."""
    raw = little(array.array("f" if kind == FLOAT else "q", values))
    return b"".join(number(1, d) for d in shape) + number(2, kind) + block(8, name) + block(9, raw)


def value_info(name, shape):
    """ValueInfoProto: name 1, type 2 { tensor_type 1 { elem_type 1, shape 2 { dim 1 { dim_value 1 } } } }."""
    dims = b"".join(block(1, number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, FLOAT) + block(2, dims)))


def attribute(name, value):
    """AttributeProto: name 1, f 2, i 3, ints 8, type 20 (1 float, 2 int, 7 ints)."""
    if isinstance(value, float):
        return block(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, int):
        return block(1, name) + number(3, value % (1 << 64)) + number(20, 2)
    return block(1, name) + b"".join(number(8, v) for v in value) + number(20, 7)


class Graph:
    """Nodes and weights in the order they are added; every node has one output, named after it."""

    def __init__(self, seed):
        self.nodes, self.weights, self.random = [], [], random.Random(seed)
        self.values = {}  # kept for --check

    def node(self, op, inputs, name, **attributes):
        body = b"".join(block(1, i) for i in inputs) + block(2, name) + block(3, name) + block(4, op)
        body += b"".join(block(5, attribute(k, v)) for k, v in attributes.items())
        self.nodes.append(block(1, body))
        return name

    def weight(self, name, shape, fan_in=None, fill=None):
        n = math.prod(shape)
        if fill is None:
            limit = math.sqrt(3 / fan_in)
            values = [self.random.uniform(-limit, limit) for _ in range(n)]
        else:
            values = [fill] * n
        self.values[name] = (shape, values)
        self.weights.append(block(5, tensor(name, shape, values)))
        return name

    def integers(self, name, values):
        self.weights.append(block(5, tensor(name, [len(values)], values, INT64)))
        return name

    def model(self, inputs, outputs):
        """ModelProto: ir_version 1, producer_name 2, graph 7, opset_import 8 { domain 1, version 2 }."""
        graph = b"".join(self.nodes) + block(2, "encoder") + b"".join(self.weights)
        graph += b"".join(block(11, i) for i in inputs) + b"".join(block(12, o) for o in outputs)
        return number(1, 8) + block(2, "assay make_encoder") + block(7, graph) + block(8, block(1, "") + number(2, 17))


# --- the encoder ----------------------------------------------------------------------------------------------------

def linear(g, x, name, fan_in, fan_out):
    product = g.node("MatMul", [x, g.weight(name + ".w", [fan_in, fan_out], fan_in)], name + "/matmul")
    return g.node("Add", [product, g.weight(name + ".b", [fan_out], fan_in)], name)


def attention(g, x, name, d, heads):
    split = g.integers(name + ".split", [1, -1, heads, d // heads])
    join = g.integers(name + ".join", [1, -1, d])
    scale = g.weight(name + ".scale", [1], fill=1 / math.sqrt(d / heads))
    parts = {}
    for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        flat = linear(g, x, f"{name}.{part}", d, d)
        shaped = g.node("Reshape", [flat, split], f"{name}.{part}/heads")
        parts[part] = g.node("Transpose", [shaped], f"{name}.{part}/order", perm=order)
    scores = g.node("MatMul", [parts["q"], parts["k"]], name + "/scores")
    scaled = g.node("Mul", [scores, scale], name + "/scaled")
    shares = g.node("Softmax", [scaled], name + "/softmax", axis=-1)
    mixed = g.node("MatMul", [shares, parts["v"]], name + "/mixed")
    back = g.node("Transpose", [mixed], name + "/back", perm=[0, 2, 1, 3])
    return linear(g, g.node("Reshape", [back, join], name + "/joined"), name + ".o", d, d)


def gelu(g, x, name, constants):
    half, one, root = constants
    inner = g.node("Erf", [g.node("Div", [x, root], name + "/div")], name + "/erf")
    gate = g.node("Add", [inner, one], name + "/gate")
    return g.node("Mul", [g.node("Mul", [x, gate], name + "/product"), half], name)


def normalise(g, x, branch, name, d, output=None):
    total = g.node("Add", [x, branch], name + "/sum")
    scale, bias = g.weight(name + ".scale", [d], fill=1.0), g.weight(name + ".bias", [d], fill=0.0)
    return g.node("LayerNormalization", [total, scale, bias], output or name, axis=-1, epsilon=1e-5)


def encoder(layers, d, heads, ffn, seq, seed):
    if d % heads:
        sys.exit("d must be a multiple of heads")
    g = Graph(seed)
    constants = [g.weight("half", [1], fill=0.5), g.weight("one", [1], fill=1.0),
                 g.weight("root2", [1], fill=math.sqrt(2))]
    x = "x"
    for i in range(layers):
        p = f"layer{i}"
        x = normalise(g, x, attention(g, x, p + ".attention", d, heads), p + ".norm1", d)
        hidden = gelu(g, linear(g, x, p + ".up", d, ffn), p + ".gelu", constants)
        branch = linear(g, hidden, p + ".down", ffn, d)
        x = normalise(g, x, branch, p + ".norm2", d, "y" if i == layers - 1 else None)
    return g, g.model([value_info("x", [1, seq, d])], [value_info("y", [1, seq, d])])


# --- the check: the same weights in torch's own TransformerEncoderLayer --------------------------------------------------

def check():
    import numpy as np
    import onnxruntime
    import torch

    layers, d, heads, ffn, seq = 2, 32, 4, 48, 10
    g, model = encoder(layers, d, heads, ffn, seq, 3)
    w = {k: torch.tensor(v, dtype=torch.float32).reshape(s) for k, (s, v) in g.values.items()}
    x = torch.randn(1, seq, d, generator=torch.Generator().manual_seed(5))
    y = x
    for i in range(layers):
        p = f"layer{i}"
        layer = torch.nn.TransformerEncoderLayer(d, heads, ffn, 0.0, "gelu", batch_first=True).eval()
        q, k, v = (p + ".attention." + c for c in "qkv")
        layer.load_state_dict({
            "self_attn.in_proj_weight": torch.cat([w[n + ".w"].T for n in (q, k, v)]),
            "self_attn.in_proj_bias": torch.cat([w[n + ".b"] for n in (q, k, v)]),
            "self_attn.out_proj.weight": w[p + ".attention.o.w"].T, "self_attn.out_proj.bias": w[p + ".attention.o.b"],
            "linear1.weight": w[p + ".up.w"].T, "linear1.bias": w[p + ".up.b"],
            "linear2.weight": w[p + ".down.w"].T, "linear2.bias": w[p + ".down.b"],
            "norm1.weight": w[p + ".norm1.scale"], "norm1.bias": w[p + ".norm1.bias"],
            "norm2.weight": w[p + ".norm2.scale"], "norm2.bias": w[p + ".norm2.bias"],
        })
        with torch.no_grad():
            y = layer(y)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    error = float(np.abs(session.run(["y"], {"x": x.numpy()})[0] - y.numpy()).max())
    print(f"largest difference to torch: {error:.2g}")
    return 0 if error <= 1e-5 else 1


def main(argv):
    if argv[1:] == ["--check"]:
        return check()
    sizes = {"layers": 2, "d": 256, "heads": 4, "ffn": 1024, "seq": 128, "seed": 1}
    for argument in argv[2:]:
        key, _, value = argument.partition("=")
        if key not in sizes:
            sys.exit(__doc__)
        sizes[key] = int(value)
    if len(argv) < 2:
        sys.exit(__doc__)
    with open(argv[1], "wb") as out:
        out.write(encoder(**sizes)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
