#!/usr/bin/env python3
"""Writes small models with local functions, and what the onnx package's inliner makes of each.

    make_functions.py FOLDER

NAME.onnx is the model; NAME.ops lists the operators that onnx.inliner.inline_local_functions leaves, subgraphs included,
one "count domain:operator" a line, sorted. Needs the onnx package.
"""
import collections
import pathlib
import sys

import onnx
import onnx.inliner
import onnx.parser

MODELS = {
    # A function that calls a function, twice; a default and a given attribute; a subgraph that captures.
    "nested": """
<ir_version: 8, opset_import: ["":17, "local":1]>
g (float[N] x, bool c) => (float[N] y, float[N] z) {
  y = local.outer<k=3.0>(x, c)
  z = local.outer(y, c)
}
<opset_import: ["":17, "local":1], domain: "local">
outer<k: float = 2.0> (a, cond) => (r) {
  t = local.scale<s: float = @k>(a)
  u = If (cond) <
    then_branch = tb () => (q) {
      q0 = Constant<value_float: float = @k>()
      q1 = local.scale<s: float = @k>(t)
      q = Mul(q1, q0)
    },
    else_branch = eb () => (q) { q = Neg(a) }>
  r = Add(t, u)
}
<opset_import: ["":17], domain: "local">
scale<s> (a) => (r) {
  k = Constant<value_float: float = @s>()
  r = Mul(a, k)
}
""",
    # Optional inputs and outputs that the caller leaves out; an attribute that nobody gives.
    "optional": """
<ir_version: 8, opset_import: ["":17, "local":1]>
g (float[N] x) => (float[N] y) {
  d, y = local.clip(x)
  unused = local.clip(y)
}
<opset_import: ["":17], domain: "local">
clip<slope> (a, low, high) => (r, s) {
  r = Clip(a, low, high)
  t = Elu<alpha: float = @slope>(r)
  s = Add(t, r)
}
""",
    # Calls inside the model's own branches and inside a function's; the names are the same everywhere.
    "branches": """
<ir_version: 8, opset_import: ["":17, "local":1]>
g (float[N] a, bool c) => (float[N] r) {
  t = local.twice(a)
  r = If (c) <
    then_branch = tb () => (y) { y = local.twice(t) },
    else_branch = eb () => (z) {
      w = If (c) <then_branch = tc () => (v) { v = local.twice(a) }, else_branch = ec () => (u) { u = Abs(t) }>
      z = local.twice(w)
    }>
}
<opset_import: ["":17, "local":1], domain: "local">
twice (a) => (r) {
  t = local.once(a)
  r = local.once(t)
}
<opset_import: ["":17], domain: "local">
once (a) => (r) {
  t = Neg(a)
  r = Exp(t)
}
""",
}


def count(graph, found):
    for node in graph.node:
        domain = "" if node.domain == "ai.onnx" else node.domain
        found[domain + ":" + node.op_type] += 1
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                count(attribute.g, found)
    return found


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(argv[1])
    for name, text in MODELS.items():
        model = onnx.parser.parse_model(text)
        onnx.checker.check_model(model)
        onnx.save(model, folder / (name + ".onnx"))
        found = count(onnx.inliner.inline_local_functions(model).graph, collections.Counter())
        lines = sorted("%d %s\n" % (number, operator) for operator, number in found.items())
        (folder / (name + ".ops")).write_text("".join(lines))


main(sys.argv)
