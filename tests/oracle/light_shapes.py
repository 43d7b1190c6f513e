#!/usr/bin/env python3
"""Writes tests/unit/light_shapes.inc: a digest of the shapes that onnx.shape_inference finds in each light model.

Listing: "name dtype dim dim …" of every node's first output, in file order; the first 16 hex digits of its SHA-256.
Needs the onnx package. Usage: light_shapes.py > ../unit/light_shapes.inc
"""
import glob
import hashlib
import os

import onnx

folder = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light")
for path in sorted(glob.glob(os.path.join(folder, "light_*.onnx"))):
    model = onnx.shape_inference.infer_shapes(onnx.load(path), strict_mode=True, data_prop=True)
    types = {v.name: v.type.tensor_type for v in list(model.graph.value_info) + list(model.graph.output)}
    digest = hashlib.sha256()
    for node in model.graph.node:
        name = node.output[0]
        dims = [str(d.dim_value if d.HasField("dim_value") else -1) for d in types[name].shape.dim]
        digest.update((" ".join([name, str(types[name].elem_type)] + dims) + "\n").encode())
    print('        "%s", /* %s */' % (digest.hexdigest()[:16], os.path.basename(path)))
