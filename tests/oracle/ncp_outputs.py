#!/usr/bin/env python3
"""Writes what PyTorch's ncps (1.0.1) says the outputs of CfC and LTC networks are.

    ncp_outputs.py [FOLDER] [--many]     (default: tests/fixtures/ncp; --many: every combination, for the live test)

cases.txt holds "name network" per line, the network as `assay make` takes it (without form). expected.safetensors holds
name/output, name/hn and, with mixed memory, name/cn. Weights and inputs are not stored: both sides compute them by the
formula below, in double precision, rounded to float32. One small network is also written as the package safetensors
writes it: real.safetensors (weights, from torch's own initialisation), real_io.safetensors (inputs and outputs).

dt is fed to the cells as [batch, 1]: CfC.forward and LTC.forward squeeze it to [batch], which then broadcasts along the
units and not along the batch.
"""
import itertools
import os
import sys

import numpy as np
import torch
from ncps.torch import LTC, CfC
from ncps.torch.cfc_cell import LeCun
from ncps.wirings import NCP, AutoNCP, FullyConnected, Random
from safetensors.numpy import save_file

# suffix of a parameter's name: middle, amplitude
RANGES = {"sigma": (5.5, 2.5), "mu": (0.55, 0.25), ".w": (0.5, 0.4), "_w": (0.5, 0.4), "cm": (0.5, 0.1),
          "gleak": (0.5, 0.4), "vleak": (0.0, 0.2), "put_w": (1.0, 0.1), "put_b": (0.0, 0.1), "erev": (0.0, 1.0)}


def formula(name, shape):
    middle, amplitude = 0.0, 0.3
    for suffix, (m, a) in RANGES.items():  # the last that fits
        if name.endswith(suffix):
            middle, amplitude = m, a
    if name == "dt":
        middle, amplitude = 0.9, 0.6
    if name in ("input", "h0", "c0"):
        amplitude = 0.9
    phase = sum(name.encode()) % 100 / 10
    i = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (middle + amplitude * np.sin((1.7 + phase / 50) * i + phase)).astype(np.float32).reshape(shape)


def wiring(p):
    kind, units, outputs = p.get("wiring", "autoncp"), p["units"], p["outputs"]
    sparsity = p.get("sparsity", 0.5)
    if kind == "autoncp":
        return AutoNCP(units, outputs, sparsity, p.get("seed", 22222))
    if kind == "ncp":
        return NCP(p["inter"], p["command"], outputs, p["sensory_fanout"], p["inter_fanout"],
                   p["recurrent_command"], p["motor_fanin"], p.get("seed", 22222))
    if kind == "random":
        return Random(units, outputs, sparsity, p.get("seed", 1111))
    return FullyConnected(units, outputs, p.get("seed", 1111))


def dense_cfc(p):
    widths = [int(w) for w in str(p.get("backbone_units", 128)).split("x")]
    layers = p.get("backbone_layers", len(widths))
    network = CfC(p["inputs"], p["units"], mixed_memory=p.get("mixed_memory", 0) == 1,
                  mode=p.get("mode", "default"), backbone_units=widths[-1], backbone_layers=layers)
    if len(widths) > 1:  # the package has one width for all layers
        parts, into = [], p["inputs"] + p["units"]
        for width in widths:
            parts += [torch.nn.Linear(into, width), LeCun()]
            into = width
        network.rnn_cell.backbone = torch.nn.Sequential(*parts)
    return network


def network(kind, p):
    mixed = p.get("mixed_memory", 0) == 1
    if kind == "cfc" and ("backbone_units" in p or "backbone_layers" in p):
        return dense_cfc(p)
    if kind == "cfc":
        return CfC(p["inputs"], wiring(p), mixed_memory=mixed, mode=p.get("mode", "default"))
    return LTC(p["inputs"], wiring(p), mixed_memory=mixed, ode_unfolds=p.get("unfolds", 6),
               implicit_param_constraints=p.get("implicit", 0) == 1)


def run(net, p, x, h, c, dt):
    """The loop of CfC.forward and LTC.forward, with dt [batch, 1]."""
    outputs = []
    for t in range(x.shape[1]):
        elapsed = p.get("dt", 1.0) if dt is None else dt[:, t:t + 1]
        if c is not None:
            h, c = net.lstm(x[:, t], (h, c))
        y, h = net.rnn_cell.forward(x[:, t], h, elapsed)
        outputs.append(y[:, :p["outputs"]])
    return torch.stack(outputs, 1) if p.get("return_sequences", 1) else outputs[-1], h, c


def check_forward(net, p, x, h, c, dt, y):
    """Where the package's own loop can do it (batch 1), it must say the same."""
    if x.shape[0] > 1 or "dt" in p and p["dt"] != "input":
        return
    own, _ = net(x, h if c is None else (h, c), timespans=dt)
    own = own[..., :p["outputs"]]
    assert torch.allclose(own if p.get("return_sequences", 1) else own[:, -1], y, atol=1e-6), p


def tensors(p, h_width):
    shapes = {"input": (p["batch"], p["seq"], p["inputs"]), "h0": (p["batch"], h_width)}
    if p.get("mixed_memory", 0):
        shapes["c0"] = shapes["h0"]
    if p.get("dt") == "input":
        shapes["dt"] = (p["batch"], p["seq"])
    return {name: torch.from_numpy(formula(name, shape)) for name, shape in shapes.items()}


def expected(kind, p, by_formula=True):
    torch.manual_seed(0)
    net = network(kind, p)
    with torch.no_grad():
        for name, value in net.state_dict().items() if by_formula else ():
            if not name.endswith("sparsity_mask"):
                value.copy_(torch.from_numpy(formula(name, tuple(value.shape))))
        given = tensors(p, net.state_size)
        x, h, c, dt = (given.get(k) for k in ("input", "h0", "c0", "dt"))
        y, hn, cn = run(net, p, x, h, c, dt)
        check_forward(net, p, x, h, c, dt, y)
    made = {"output": y, "hn": hn} | ({"cn": cn} if cn is not None else {})
    return net, given, {k: np.ascontiguousarray(v.numpy()) for k, v in made.items()}


SMALL = {"units": 19, "outputs": 3, "inputs": 5, "seq": 16}
CIRCUIT = {"wiring": "ncp", "inter": 8, "command": 6, "sensory_fanout": 4, "inter_fanout": 3,
           "recurrent_command": 7, "motor_fanin": 4, "seed": 77}
FULL = {"units": 64, "outputs": 16, "inputs": 32, "seq": 16}


def cfc_cases():
    for mode in ("default", "no_gate", "pure"):
        yield "cfc", SMALL | {"mode": mode, "dt": "input", "batch": 32}
        yield "cfc", SMALL | {"mode": mode, "dt": "input", "batch": 1, "sparsity": 0.3, "seed": 5}
        yield "cfc", SMALL | {"mode": mode, "dt": "input", "batch": 1, "backbone_units": 12}
        yield "cfc", FULL | {"mode": mode, "dt": "input", "batch": 1}
        yield "cfc", SMALL | {"mode": mode, "dt": "input", "batch": 3, "seq": 5, "mixed_memory": 1}
        yield "cfc", SMALL | {"mode": mode, "dt": 0.25, "batch": 2, "return_sequences": 0}
    small = SMALL | {"dt": "input", "seq": 6, "batch": 4}
    units = CIRCUIT["inter"] + CIRCUIT["command"] + 3
    yield "cfc", small | CIRCUIT | {"units": units}
    yield "cfc", small | {"wiring": "random", "sparsity": 0.6}
    yield "cfc", small | {"wiring": "full"}
    yield "cfc", small | {"backbone_units": 10, "backbone_layers": 2, "batch": 32}
    yield "cfc", small | {"backbone_units": "12x9"}
    yield "cfc", small | {"backbone_layers": 0}
    yield "cfc", small | {"backbone_units": 12, "mixed_memory": 1, "outputs": 19}
    yield "cfc", SMALL | {"batch": 2}
    yield "cfc", SMALL | {"batch": 2, "return_sequences": 0, "dt": "input", "wiring": "random"}


def ltc_cases():
    yield "ltc", SMALL | {"dt": "input", "batch": 32}
    yield "ltc", SMALL | {"dt": "input", "batch": 1}
    yield "ltc", FULL | {"dt": "input", "batch": 1}
    units = CIRCUIT["inter"] + CIRCUIT["command"] + 3
    small = SMALL | {"dt": "input", "batch": 4}
    yield "ltc", small | CIRCUIT | {"units": units}
    yield "ltc", small | {"wiring": "random", "sparsity": 0.6}
    yield "ltc", small | {"wiring": "full"}
    yield "ltc", small | {"mixed_memory": 1}
    yield "ltc", small | {"implicit": 1}
    yield "ltc", small | {"unfolds": 3, "dt": 0.5}
    yield "ltc", SMALL | {"batch": 2, "return_sequences": 0}
    yield "ltc", small | {"wiring": "full", "outputs": 19, "seq": 3}


def many_cases():
    for size, batch, mixed, last in itertools.product((SMALL, FULL), (1, 32), (0, 1), (0, 1)):
        common = size | {"batch": batch, "mixed_memory": mixed, "return_sequences": last, "dt": "input"}
        extra = [{}, {"wiring": "random"}, {"wiring": "full"}, CIRCUIT | {"units": 14 + size["outputs"]}]
        for wired in extra:
            yield "ltc", common | wired
        for mode, rest in itertools.product(("default", "no_gate", "pure"), extra + [
                {"backbone_units": 24}, {"backbone_units": 24, "backbone_layers": 2}, {"backbone_layers": 0}]):
            yield "cfc", common | rest | {"mode": mode}


def text(kind, p):
    words = {k: v for k, v in p.items() if not (k == "units" and p.get("wiring") == "ncp")}
    return kind + ":" + ",".join(f"{k}={v}" for k, v in words.items())


def write_real(folder):
    """As a user's program would: torch's own weights, saved by the package safetensors."""
    p = {"units": 12, "outputs": 3, "inputs": 4, "seq": 4, "batch": 2, "dt": "input", "mixed_memory": 1}
    net, given, made = expected("cfc", p, by_formula=False)
    save_file({k: np.ascontiguousarray(v.numpy()) for k, v in net.state_dict().items()},
              os.path.join(folder, "real.safetensors"), metadata={"network": text("cfc", p)})
    save_file({k: v.numpy() for k, v in given.items()} | made, os.path.join(folder, "real_io.safetensors"))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--many"]
    here = os.path.dirname(os.path.abspath(__file__))
    folder = arguments[0] if arguments else os.path.join(here, "../fixtures/ncp")
    cases = [*cfc_cases(), *ltc_cases()] if "--many" not in sys.argv else [*many_cases()]
    stored = {}
    with open(os.path.join(folder, "cases.txt"), "w") as file:
        for number, (kind, p) in enumerate(cases):
            file.write(f"{number:03d} {text(kind, p)}\n")
            for name, value in expected(kind, p)[2].items():
                stored[f"{number:03d}/{name}"] = value
    save_file(stored, os.path.join(folder, "expected.safetensors"))
    write_real(folder)


main()
