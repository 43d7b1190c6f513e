#!/usr/bin/env python3
"""Multiply-adds per operator as onnx-tool counts them, for test_cost_oracle.

    cost.py fixture DIR LIGHT     writes DIR/macs.txt and the small exported transformers beside it
    cost.py live PROGRAM LIGHT    the same for transformers of real size, through PROGRAM (the
                                  test_cost_oracle binary); nothing is kept

LIGHT is the folder of the onnx package's light models. The listing: a line "model light NAME" or
"model file NAME", then "first output<TAB>operator<TAB>MACs" for each Conv, Gemm and MatMul.
onnx-tool 1.0.1 counts a bias addition as one MAC, as assay does: both must be equal, node by node. Its
other operators are not compared: it counts element-wise operations as MACs, where assay has FLOPs.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx_tool

OPERATORS = ("Conv", "Gemm", "MatMul")
LIGHT = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
         "squeezenet", "vgg19", "zfnet512")


def counts(path, fixed=None):
    model = onnx_tool.Model(path, {"constant_folding": False, "verbose": False})
    model.graph.shape_infer(fixed)
    model.graph.profile()
    for name, node in model.graph.nodemap.items():
        if node.op_type in OPERATORS:
            yield node.output[0], node.op_type, int(round(node.macs[0]))


def light_inputs(path):
    """The inputs that are not initializers: old files list both."""
    graph = onnx.load(path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    return {value.name: np.zeros([dim.dim_value for dim in value.type.tensor_type.shape.dim],
                                 np.float32)
            for value in graph.input if value.name not in weights}


def export(name, folder, real):
    """A transformer as PyTorch exports it. Small ones have every part, and few numbers."""
    import torch
    import transformers

    torch.manual_seed(0)
    width, layers, heads, words, length = (768, 12, 12, 30522, 128) if real else (16, 2, 2, 24, 6)
    if name == "bert":
        config = transformers.BertConfig(hidden_size=width, num_hidden_layers=layers,
                                         num_attention_heads=heads, intermediate_size=4 * width,
                                         vocab_size=words, max_position_embeddings=max(length, 8))
        model = transformers.BertModel._from_config(config, attn_implementation="eager")
    else:
        config = transformers.GPT2Config(n_embd=width, n_layer=layers, n_head=heads,
                                         vocab_size=words, n_positions=max(length, 8),
                                         use_cache=False)
        model = transformers.GPT2LMHeadModel._from_config(config, attn_implementation="eager")
    ids = torch.zeros((2, length), dtype=torch.int64)
    path = os.path.join(folder, f"{name}.onnx")
    program = torch.onnx.export(model.eval(), (ids,), dynamo=True, optimize=True, verbose=False)
    program.save(path)
    loaded = onnx.load(path)
    for node in loaded.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in list(loaded.graph.value_info) + list(loaded.graph.input) + list(loaded.graph.output):
        del value.metadata_props[:]
    del loaded.metadata_props[:]
    del loaded.graph.metadata_props[:]
    onnx.save(loaded, path)
    return path


def write(folder, light, real):
    with open(os.path.join(folder, "macs.txt"), "w", encoding="utf-8") as out:
        for name in LIGHT:
            path = os.path.join(light, f"light_{name}.onnx")
            out.write(f"model light {name}\n")
            for row in counts(path, light_inputs(path)):
                out.write("{}\t{}\t{}\n".format(*row))
        for name in ("bert", "gpt2"):
            path = export(name, folder, real)
            out.write(f"model file {name}.onnx\n")
            for row in counts(path):
                out.write("{}\t{}\t{}\n".format(*row))


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("fixture", "live"):
        sys.exit(__doc__)
    if sys.argv[1] == "fixture":
        write(sys.argv[2], sys.argv[3], real=False)
        return
    with tempfile.TemporaryDirectory() as folder:
        write(folder, sys.argv[3], real=True)
        subprocess.run([sys.argv[2], "oracle"], check=True,
                       env=dict(os.environ, ASSAY_TEST_COST=folder))


if __name__ == "__main__":
    main()
