#!/usr/bin/env python3
"""Exports the fixtures below tests/fixtures/models: what PyTorch says a model's outputs are.

    make_ncps.py [FOLDER]          (default: tests/fixtures/models beside this script)

Run by hand, with torch, ncps, onnx, onnxscript, numpy and onnxruntime installed; `make test` only reads the results.
Each model gets a folder with model.onnx, input_<n>_<name>.npy and output_<n>_<name>.npy (n is the position in the graph):

    cfc      one step of ncps' CfC, 64 units wired by AutoNCP, 16 outputs, 32 inputs, batch 1, state in and out
    ltc      one step of ncps' LTC, the same wiring
    encoder  torch's TransformerEncoder: 2 layers, d_model 64, 4 heads, feed-forward 32, sequence 32, batch 1, GELU

Weights come from ncps' own initialisation after manual_seed(0) (encoder: normal(0, 0.1)), inputs from normal(0, 1) with
seed 1. The script refuses to write a model whose outputs in ONNX Runtime differ from torch's by more than 1e-5, and prints the difference.
"""
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
from ncps.torch import CfC, LTC
from ncps.wirings import AutoNCP

UNITS, OUTPUTS, INPUTS = 64, 16, 32
TOLERANCE = 1e-5
OPSET = 18


class Step(torch.nn.Module):
    """One time step of a recurrent network: (x, state) -> (y, next state), without the time axis."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, state):
        y, next_state = self.network(x.unsqueeze(1), state)
        return y.squeeze(1), next_state


def wiring():
    return AutoNCP(UNITS, OUTPUTS, sparsity_level=0.5, seed=22222)


def encoder():
    layer = torch.nn.TransformerEncoderLayer(
        d_model=64, nhead=4, dim_feedforward=32, dropout=0.0, activation="gelu", batch_first=True
    )
    network = torch.nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
    for parameter in network.parameters():  # torch copies the first layer's weights into the second
        torch.nn.init.normal_(parameter, std=0.1)
    return network


def models():
    """Name, network, input names and shapes, output names."""
    recurrent = (["x", "state"], [(1, INPUTS), (1, UNITS)], ["y", "next_state"])
    torch.manual_seed(0)
    yield ("cfc", Step(CfC(INPUTS, wiring())), *recurrent)
    torch.manual_seed(0)
    yield ("ltc", Step(LTC(INPUTS, wiring())), *recurrent)
    torch.manual_seed(0)
    yield "encoder", encoder(), ["x"], [(1, 32, 64)], ["y"]


def share_weights(model):
    """The exporter writes a weight once for each use (LTC uses its own six times a step): keep one of equal tensors."""
    first, alias = {}, {}
    for tensor in model.graph.initializer:
        key = (tensor.data_type, tuple(tensor.dims), tensor.raw_data)
        alias[tensor.name] = first.setdefault(key, tensor.name)
    for node in model.graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = alias.get(name, name)
    kept = [t for t in model.graph.initializer if alias[t.name] == t.name]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)


def strip(path):
    """Drops what the exporter says about the machine it ran on: documentation, source positions, metadata."""
    model = onnx.load(path)
    model.doc_string = model.graph.doc_string = ""
    del model.metadata_props[:]
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]:
        value.doc_string = ""
        del value.metadata_props[:]
    for tensor in model.graph.initializer:
        tensor.doc_string = ""
        del tensor.metadata_props[:]
    del model.graph.metadata_props[:]
    share_weights(model)
    onnx.checker.check_model(model, full_check=True)
    return model


def export(network, inputs, input_names, output_names):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        torch.onnx.export(
            network, tuple(inputs), path, input_names=input_names, output_names=output_names,
            opset_version=OPSET, dynamo=True, external_data=False, verbose=False,
        )
        return strip(path)


def write(folder, name, network, input_names, shapes, output_names):
    network.eval()
    generator = torch.Generator().manual_seed(1)
    inputs = [torch.randn(shape, generator=generator) for shape in shapes]
    with torch.no_grad():
        expected = network(*inputs)
        model = export(network, inputs, input_names, output_names)
    expected = [t.numpy() for t in (expected if isinstance(expected, tuple) else (expected,))]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    got = session.run(output_names, dict(zip(input_names, (t.numpy() for t in inputs))))
    error = max(float(np.abs(a - b).max()) for a, b in zip(expected, got))
    if not error <= TOLERANCE:
        sys.exit(f"{name}: ONNX Runtime and torch differ by {error}")
    target = pathlib.Path(folder) / name
    target.mkdir(parents=True, exist_ok=True)
    (target / "model.onnx").write_bytes(model.SerializeToString())
    for i, (n, t) in enumerate(zip(input_names, inputs)):
        np.save(target / f"input_{i}_{n}.npy", t.numpy().astype("<f4"))
    for i, (n, a) in enumerate(zip(output_names, expected)):
        np.save(target / f"output_{i}_{n}.npy", a.astype("<f4"))
    size = (target / "model.onnx").stat().st_size
    print(f"{name}: {len(model.graph.node)} nodes, {size} bytes, largest difference {error:.2g}")


def main(argv):
    folder = argv[1] if len(argv) > 1 else pathlib.Path(__file__).parent.parent / "fixtures" / "models"
    for row in models():
        write(folder, *row)


if __name__ == "__main__":
    main(sys.argv)
