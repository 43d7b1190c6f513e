#!/usr/bin/env python3
"""Sets our float16 and int8 rewrites against those of the onnxruntime package: the same operators converted, and drift of the
outputs no more than 1.5 times theirs. Also: rewritten models of every operator set from 7 to 24 pass onnx.checker and run.
Usage: rewrite.py ASSAY. Needs onnx, onnxruntime, numpy."""
import collections
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.float16 import convert_float_to_float16

ort.set_default_logger_severity(4)
assay = sys.argv[1]
folder = tempfile.mkdtemp()
failed = 0


def path(name):
    return os.path.join(folder, name)


def make(*words):
    done = subprocess.run([assay, "make", *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)


def inputs_of(model):
    random = np.random.default_rng(1)
    known = {i.name for i in model.graph.initializer}
    values = {}
    for item in model.graph.input:
        if item.name in known:
            continue
        tensor = item.type.tensor_type
        shape = [d.dim_value or 2 for d in tensor.shape.dim]
        if tensor.elem_type == TensorProto.FLOAT:
            values[item.name] = random.standard_normal(shape).astype(np.float32)
        else:
            values[item.name] = random.integers(0, 2, shape).astype(np.int64)
    return values


def run(name, values):
    session = ort.InferenceSession(path(name), providers=["CPUExecutionProvider"])
    return session.run(None, values)


def drift(reference, candidate):
    return max(
        float(np.linalg.norm(c.astype(np.float64) - r) / max(np.linalg.norm(r), 1e-30))
        for r, c in zip(reference, candidate)
        if r.dtype == np.float32
    )


def judge(what, ours, limit, why):
    global failed
    good = ours <= limit
    failed += not good
    print(f"{'ok  ' if good else 'FAIL'} {what}: relative L2 {ours:.3g}, at most {limit:.3g} ({why})")


def compare(name, zoo):
    global failed
    make(zoo, "-o", path("full.onnx"))
    model = onnx.load(path("full.onnx"))
    values = inputs_of(model)
    reference = run("full.onnx", values)
    for step in (["--float16"], ["--int8", "weights"], ["--int8", "dynamic"]):
        make("--from", path("full.onnx"), *step, "--no-drift", "-o", path("ours.onnx"))
        onnx.checker.check_model(path("ours.onnx"), full_check=True)
        ours = drift(reference, run("ours.onnx", values))
        if step == ["--float16"]:
            theirs = convert_float_to_float16(onnx.load(path("full.onnx")), keep_io_types=True)
            onnx.save(theirs, path("theirs.onnx"))
            count = collections.Counter(n.op_type for n in onnx.load(path("ours.onnx")).graph.node)
            wanted = collections.Counter(n.op_type for n in theirs.graph.node)
            for op in set(count) | set(wanted):
                if op not in ("Cast", "Constant") and count[op] != wanted[op]:
                    failed += 1
                    print(f"FAIL {name}: {count[op]} {op}, theirs has {wanted[op]}")
        elif step == ["--int8", "dynamic"]:
            quantize_dynamic(path("full.onnx"), path("theirs.onnx"), per_channel=True,
                             weight_type=QuantType.QInt8,
                             op_types_to_quantize=["MatMul", "Gemm", "Conv"])
        label = f"{name} {' '.join(step)}"
        if step == ["--int8", "weights"]:
            judge(label, ours, 0.05, "the package has no weight-only form of its own")
        else:
            judge(label, ours, 1.5 * drift(reference, run("theirs.onnx", values)) + 1e-6, "1.5 times theirs")


def older(opset):
    """MatMul, Unsqueeze by attribute or input, Softmax, in each operator set."""
    random = np.random.default_rng(opset)
    weights = [numpy_helper.from_array((0.1 * random.standard_normal((64, 32))).astype(np.float32), "w")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Softmax", ["h"], ["s"], axis=1)]
    if opset < 13:
        nodes.append(helper.make_node("Unsqueeze", ["s"], ["y"], axes=[0]))
    else:
        weights.append(numpy_helper.from_array(np.array([0], dtype=np.int64), "axes"))
        nodes.append(helper.make_node("Unsqueeze", ["s", "axes"], ["y"]))
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, None, 32])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8 if opset < 21 else 10
    onnx.save(model, path("full.onnx"))
    values = inputs_of(model)
    reference = run("full.onnx", values)
    for step, limit in ((["--float16"], 2e-3), (["--int8", "weights"], 0.05), (["--int8", "dynamic"], 0.06),
                        (["--strip"], None), (["--repeat", "s=3"], 1e-6)):
        make("--from", path("full.onnx"), *step, "--no-drift", "-o", path("ours.onnx"))
        onnx.checker.check_model(path("ours.onnx"), full_check=True)
        result = run("ours.onnx", values)
        if limit is not None:
            judge(f"set {opset} {' '.join(step)}", drift(reference, result), limit, "of the original")


for label, zoo_name in (("squeezenet", "squeezenet"), ("mobilenetv2", "mobilenetv2"), ("mlp", "mlp"),
                        ("bert", "bert:layers=2,width=128,heads=4,ffn=512,vocab=1000,batch=1,seq=16"),
                        ("vit", "vit:size=tiny,batch=1")):
    compare(label, zoo_name)
for number in range(7, 25):
    older(number)
print(f"{failed} failed")
sys.exit(failed > 0)
