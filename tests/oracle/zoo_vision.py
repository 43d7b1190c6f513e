#!/usr/bin/env python3
"""The image models of the zoo against torchvision: same parameter names, same count, and with the
zoo's weights loaded by name the same outputs.

    zoo_vision.py ASSAY          exit status 1 when one differs
"""
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
import torch
import torchvision
from onnx import numpy_helper

MODELS = {
    "resnet18": torchvision.models.resnet18,
    "resnet50": torchvision.models.resnet50,
    "mobilenetv2": torchvision.models.mobilenet_v2,
    "mobilenetv3-small": torchvision.models.mobilenet_v3_small,
    "squeezenet:version=1.0": torchvision.models.squeezenet1_0,
    "squeezenet:version=1.1": torchvision.models.squeezenet1_1,
    "efficientnet-b0": torchvision.models.efficientnet_b0,
}


def compare(assay, name, build, folder):
    path = f"{folder}/model.onnx"
    subprocess.run([assay, "make", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
    ours = onnx.load(path)
    onnx.checker.check_model(ours, full_check=True)
    weights = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in ours.graph.initializer}
    theirs = build(weights=None).eval()
    state = {k: weights[k] for k in theirs.state_dict() if not k.endswith("num_batches_tracked")}
    theirs.load_state_dict(state, strict=False)
    x = np.random.default_rng(0).uniform(-1, 1, (2, 3, 224, 224)).astype(np.float32)
    got = ort.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"input": x})[0]
    with torch.no_grad():
        want = theirs(torch.from_numpy(x)).numpy()
    error = np.abs(got - want).max() / np.abs(want).max()
    print(f"{name}: {sum(p.numel() for p in theirs.parameters())} parameters, relative error {error:.2e}")
    return error < 1e-4


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = [compare(sys.argv[1], name, build, folder) for name, build in MODELS.items()]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
