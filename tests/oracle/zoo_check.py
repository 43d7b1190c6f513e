#!/usr/bin/env python3
"""Every model of the zoo: accepted by onnx.checker, shapes inferred without contradiction, run by ONNX Runtime plain
and optimised with the same result, and no number on the way infinite, not a number or denormal.

    zoo_check.py ASSAY [--large] [NAME…]     small variants, or with --large the published sizes; status 1: one failed

Needs onnx, onnxruntime, numpy.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

TEXT = "layers=2,width=32,heads=4,ffn=64,vocab=50"
SMALL = [
    "gpt2:layers=2,width=32,heads=4,vocab=50,context=32",
    "gpt2:layers=2,width=32,heads=4,vocab=50,context=32,phase=prefill,logits=last",
    "gpt2:layers=2,width=32,heads=4,vocab=50,context=32,phase=decode,past=7,batch=1",
    f"llama:{TEXT},kv_heads=2",
    f"llama:{TEXT},kv_heads=4,tied=0,phase=prefill,batch=2,seq=5",
    f"llama:{TEXT},kv_heads=1,head_dim=16,tied=0,phase=decode",
    f"bert:{TEXT}", f"bert:{TEXT},pooler=0,batch=2,seq=6", f"distilbert:{TEXT}",
    "vit:layers=2,width=32,heads=4,image=64,classes=10", "vit:layers=2,width=32,heads=4,image=32,patch=8,batch=3",
    "lora:d=64,rank=4", "lora:d=64,rank=4,merged=1", "softmax:rows=8,width=33", "layernorm:rows=8,width=33",
    "rmsnorm:rows=8,width=33", "matmul:m=7,n=5,k=9", "matmul:m=7,n=5,k=9,batch=3,b=input", "gelu:rows=8,width=33",
    "gelu:rows=8,width=33,form=tanh", "attention:heads=2,seq=9,dim=8", "attention:heads=2,seq=9,keys=20,dim=8,causal=1",
    "mlp", "mlp:layers=0", "mlp:layers=6,activation=tanh", "mlp:activation=sigmoid", "mlp:activation=gelu",
    "mlp:activation=silu,batch=4", "lstm:inputs=5,hidden=6", "lstm:inputs=5,hidden=6,layers=3,bidirectional=1,state=1",
    "gru:inputs=5,hidden=6,bidirectional=1,state=1", "gru:inputs=5,hidden=6,layers=2,seq=4,batch=2",
    "cfc:seq=3", "cfc:form=scan", "ltc:seq=3", "ltc:form=scan",
    "resnet18:image=64", "resnet50:image=64,batch=1", "mobilenetv2:image=64", "mobilenetv3-small:image=64",
    "squeezenet:image=64", "squeezenet:version=1.1,image=64", "efficientnet-b0:image=64", "unet:image=32",
]
LARGE = [
    "gpt2:batch=1,seq=32,past=0", "gpt2:phase=decode,past=64,batch=1",
    "llama:size=15m,batch=1,seq=32,past=5", "llama:batch=1,seq=32,past=5", "bert:batch=1,seq=64",
    "distilbert:batch=1,seq=64", "vit:size=tiny,batch=1", "vit:batch=1", "lora", "lora:size=medium", "lora:size=large",
    "softmax", "layernorm", "rmsnorm", "matmul", "gelu", "attention", "lstm", "gru", "cfc", "ltc", "resnet18",
    "resnet50", "mobilenetv2", "mobilenetv3-small", "squeezenet", "efficientnet-b0", "unet",
]
SYMBOLS = {"batch": 2, "seq": 6, "past": 3}
random = np.random.default_rng(5)


def feeds(session):
    result = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else SYMBOLS.get(d, 2) for d in value.shape]
        if value.type == "tensor(int64)":
            result[value.name] = random.integers(0, 50 if value.name == "input_ids" else 2, shape)
        else:
            result[value.name] = random.uniform(-1, 1, shape).astype(np.float32)
        if value.name == "attention_mask":
            result[value.name][..., 0] = 1  # a row that is all padding has nothing to look at
    return result


def session_of(model, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def exposed(path, folder):
    """The model with every float output of a node of the main graph made an output."""
    model = onnx.load(path, load_external_data=False)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    known = {value.name: value for value in inferred.graph.value_info}
    stated = {value.name for value in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name in known and name not in stated and known[name].type.tensor_type.elem_type == 1:
                model.graph.output.append(known[name])
    target = os.path.join(folder, "exposed.onnx")  # beside the original: external data is found there
    onnx.save(model, target)
    return target


def check_numbers(names, values):
    for name, value in zip(names, values):
        if value.dtype != np.float32:
            continue
        assert np.isfinite(value).all(), f"{name} is not finite"
        tiny = (value != 0) & (np.abs(value) < np.finfo(np.float32).tiny)
        assert not tiny.any(), f"{name} has {int(tiny.sum())} denormal numbers"


def check(assay, name, folder):
    path = os.path.join(folder, "model.onnx")
    subprocess.run([assay, "make", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
    onnx.checker.check_model(path, full_check=True)
    levels = onnxruntime.GraphOptimizationLevel
    plain = session_of(exposed(path, folder), levels.ORT_DISABLE_ALL)
    inputs = feeds(plain)
    names = [output.name for output in plain.get_outputs()]
    values = plain.run(None, inputs)
    check_numbers(names, values)
    seen = dict(zip(names, values))
    del plain
    fast = session_of(path, levels.ORT_ENABLE_ALL)
    worst = 0.0
    for output, value in zip(fast.get_outputs(), fast.run(None, inputs)):
        expected = seen[output.name]
        assert value.shape == expected.shape, (output.name, value.shape, expected.shape)
        for stated, real in zip(output.shape, value.shape):
            assert not isinstance(stated, int) or stated == real, (output.name, output.shape, value.shape)
        if value.dtype == np.float32 and value.size:
            worst = max(worst, float(np.abs(value - expected).max()))
            assert value.size == 1 or value.std() > 1e-6, f"{output.name} is constant"
    assert worst < 2e-3, f"optimised differs by {worst}"
    return len(names), worst


def unchecked(assay):
    """Names of the zoo that have no variant above."""
    listed = json.loads(subprocess.run([assay, "make", "--list", "--json"], check=True, capture_output=True).stdout)
    return {entry["name"] for entry in listed["zoo"]} - {name.split(":")[0] for name in SMALL}


def main():
    assay, large = sys.argv[1], "--large" in sys.argv
    wanted = [argument for argument in sys.argv[2:] if argument != "--large"]
    names = wanted or (LARGE if large else SMALL)
    failed = 0
    for name in sorted(unchecked(assay)) if not wanted else ():
        failed += 1
        print(f"BAD {name}: no variant here")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                count, worst = check(assay, name, folder)
                print(f"ok  {name}: {count} tensors, optimised differs by {worst:.1e}", flush=True)
            except Exception as problem:  # any failure is the model's: said, and the others still checked
                failed += 1
                print(f"BAD {name}: {str(problem)[:300]}", flush=True)
    print(f"{len(names)} models, {failed} bad")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
