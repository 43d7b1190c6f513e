"""Neural Circuit Policies on MLX: CfC, CfCCell, AutoNCP, with the outputs of assay's own models of that name (doc/ncp.md).

A wiring together with a backbone is the dense cell of `units` neurons, whose output is the first `output_size` units. Without a backbone
the wiring's three groups follow each other, masked by its synapses, which come from `assay make`. Parameters have the names of the
PyTorch package, so that one .safetensors file serves all three.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
from typing import Any, Sequence

import mlx.core as core
import mlx.nn as nn

_INPUTS = 32  # of assay's own cfc, where nothing says how many features there are


class AutoNCP:
    """A wiring of `units` neurons with `output_size` motor neurons; drawn from the seed as the PyTorch package draws it."""

    def __init__(self, units: int, output_size: int, sparsity_level: float = 0.5, seed: int = 22222) -> None:
        if output_size >= units - 2:
            raise ValueError(f"AutoNCP: output_size={output_size} must be smaller than units - 2 = {units - 2}")
        self.units, self.output_size, self.sparsity_level, self.seed = units, output_size, sparsity_level, seed
        self.input_dim: int | None = None

    def build(self, input_dim: int) -> None:
        """Says how many inputs there are."""
        if self.input_dim not in (None, input_dim):
            raise ValueError(f"the wiring was built for {self.input_dim} inputs, not {input_dim}")
        self.input_dim = input_dim

    @property
    def output_dim(self) -> int:
        """The name that it has in the PyTorch package."""
        return self.output_size

    def zoo_name(self, inputs: int) -> str:
        """The model of this wiring in assay's zoo."""
        return f"cfc:units={self.units},outputs={self.output_size},inputs={inputs},sparsity={self.sparsity_level},seed={self.seed}"


@functools.lru_cache(maxsize=32)
def _synapses(zoo_name: str) -> dict[str, Any]:
    """What the metadata of the model says of its wiring."""
    from .._explain import program

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wiring.onnx")
        program("make", zoo_name, "-o", path)
        with open(path, "rb") as file:
            content = file.read()
    at = content.index(b"assay.ncp") + len(b"assay.ncp") + 1  # behind the tag of the value, whose length follows
    length = shift = 0
    while True:
        byte = content[at]
        length |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            break
    facts: dict[str, Any] = json.loads(content[at : at + length])
    return facts


class _Lecun(nn.Module):
    def __call__(self, x: Any) -> Any:
        return 1.7159 * core.tanh(0.666 * x)


class _Gates(nn.Module):
    """ff1, ff2, time_a, time_b and what becomes of them; `mask` [width, hidden] of the first two."""

    def __init__(self, width: int, hidden: int, mask: Any = None) -> None:
        super().__init__()
        self.ff1, self.ff2 = nn.Linear(width, hidden), nn.Linear(width, hidden)
        self.time_a, self.time_b = nn.Linear(width, hidden), nn.Linear(width, hidden)
        self._mask = mask

    def _masked(self, linear: Any, x: Any) -> Any:
        return linear(x) if self._mask is None else core.addmm(linear.bias, x, linear.weight.T * self._mask)

    def __call__(self, x: Any, time: Any = None) -> Any:
        ff1, ff2 = core.tanh(self._masked(self.ff1, x)), core.tanh(self._masked(self.ff2, x))
        passed = self.time_a(x) if time is None else self.time_a(x) * time
        gate = core.sigmoid(passed + self.time_b(x))
        return ff1 * (1.0 - gate) + gate * ff2


class CfCCell(nn.Module):
    """One time step of a closed-form continuous-time network: (output, state) of (input, state, time); no time is 1.

    `wiring` is an AutoNCP, or the number of units. `backbone_units` (a number or a list of widths), `backbone_layers` and
    `backbone_dropout` make it the dense cell. It is built for the number of features of its first input, unless `input_size` says it."""

    def __init__(self, wiring: Any = None, backbone_units: int | Sequence[int] | None = None, backbone_layers: int | None = None,
                 backbone_dropout: float = 0.0, input_size: int | None = None, units: int | None = None) -> None:
        super().__init__()
        if wiring is None and units is None:
            raise TypeError("CfCCell needs a wiring, or units")
        self.wiring = wiring if isinstance(wiring, AutoNCP) else None
        self.units = self.wiring.units if self.wiring else int(wiring if units is None else units)
        self.output_size = self.wiring.output_size if self.wiring else self.units
        self.dense = self.wiring is None or backbone_units is not None or backbone_layers is not None
        self.widths = _widths(backbone_units, backbone_layers) if self.dense else []
        self.dropout = nn.Dropout(backbone_dropout) if backbone_dropout else None
        self.input_size: int | None = None
        known = input_size or (self.wiring.input_dim if self.wiring else None)
        if known:
            self.build(known)

    def build(self, input_size: int) -> None:
        """Makes the parameters."""
        if self.input_size is not None:
            if self.input_size != input_size:
                raise ValueError(f"the cell was built for {self.input_size} features, not {input_size}")
            return
        self.input_size = input_size
        if not self.dense:
            self._build_wired(input_size)
            return
        width = input_size + self.units
        self.backbone: list[nn.Module] = []
        for units in self.widths:
            self.backbone += [nn.Linear(width, units), _Lecun()]
            width = units
        gates = _Gates(width, self.units)
        self.ff1, self.ff2, self.time_a, self.time_b = gates.ff1, gates.ff2, gates.time_a, gates.time_b

    def _build_wired(self, input_size: int) -> None:
        assert self.wiring is not None
        facts = _synapses(self.wiring.zoo_name(input_size))
        groups = {group["name"]: (group["first"], group["count"]) for group in facts["groups"]}
        units, before = self.wiring.units, None
        for index, name in enumerate(("inter", "command", "motor")):
            first, count = groups[name]
            rows = [facts["sensory"][i * units : (i + 1) * units] for i in range(input_size)] if before is None else \
                [facts["adjacency"][i * units : (i + 1) * units] for i in range(before[0], sum(before))]
            mask = [[0.0 if row[first + k] == "." else 1.0 for k in range(count)] for row in rows]
            mask += [[1.0] * count for _ in range(count)]
            setattr(self, f"layer_{index}", _Gates(len(rows) + count, count, core.array(mask)))
            before = (first, count)

    def __call__(self, x: Any, state: Any = None, time: Any = None, training: bool = False) -> tuple[Any, Any]:
        if self.input_size is None:
            self.build(x.shape[-1])
        if state is None:
            state = core.zeros((*x.shape[:-1], self.units), x.dtype)
        if not self.dense:
            return self._wired_step(x, state, time)
        hidden = core.concatenate([x, state], axis=-1)
        for layer in self.backbone:
            hidden = layer(hidden)
            if self.dropout is not None and training and isinstance(layer, _Lecun):
                hidden = self.dropout(hidden)
        state = _Gates.__call__(self, hidden, time)
        return state[..., : self.output_size], state

    def _masked(self, linear: Any, x: Any) -> Any:
        return linear(x)

    def _wired_step(self, x: Any, state: Any, time: Any) -> tuple[Any, Any]:
        layers = [self.layer_0, self.layer_1, self.layer_2]
        parts, first = [], 0
        for layer in layers:
            count = layer.ff1.weight.shape[0]
            x = layer(core.concatenate([x, state[..., first : first + count]], axis=-1), time)
            parts.append(x)
            first += count
        return x, core.concatenate(parts, axis=-1)


def _widths(units: int | Sequence[int] | None, layers: int | None) -> list[int]:
    widths = [128] if units is None else [int(units)] if isinstance(units, int) else [int(width) for width in units]
    if layers is None or layers == len(widths):
        return widths
    if len(widths) != 1:
        raise ValueError(f"{layers} backbone_layers, but {len(widths)} widths in backbone_units")
    return widths * layers


class CfC(nn.Module):
    """A CfC over time: [batch, time, features] to [batch, time, outputs], or the last output without `return_sequences`.

    `return_state=True` of a call gives the state as well, with which the next call goes on."""

    def __init__(self, cell: CfCCell, return_sequences: bool = True) -> None:
        super().__init__()
        self.rnn_cell = cell
        self.return_sequences = return_sequences

    @property
    def input_size(self) -> int | None:
        """Features of an input; None: not known before the first one."""
        return self.rnn_cell.input_size

    def build(self, input_size: int | None = None) -> None:
        """Makes the parameters, for 32 features if nothing says how many."""
        self.rnn_cell.build(input_size or self.rnn_cell.input_size or _INPUTS)

    def zoo_name(self, sequence: int) -> str:
        """The same network in assay's zoo."""
        cell, inputs = self.rnn_cell, self.input_size or _INPUTS
        sequences = f"seq={sequence},return_sequences={int(self.return_sequences)}"
        if not cell.dense:
            assert cell.wiring is not None
            return f"{cell.wiring.zoo_name(inputs)},{sequences}"
        backbone = f"backbone_units={'x'.join(map(str, cell.widths))}" if cell.widths else "backbone_layers=0"
        return f"cfc:units={cell.units},outputs={cell.output_size},inputs={inputs},{backbone},{sequences}"

    def __call__(self, x: Any, state: Any = None, timespans: Any = None, training: bool = False, return_state: bool = False) -> Any:
        if x.ndim not in (2, 3):
            raise ValueError(f"CfC takes [time, features] or [batch, time, features], not {x.ndim} dimensions")
        outputs, output = [], None
        for step in range(x.shape[-2]):
            time = None if timespans is None else timespans[..., step, None]
            output, state = self.rnn_cell(x[..., step, :], state, time, training)
            if self.return_sequences:
                outputs.append(output)
        result = core.stack(outputs, axis=-2) if self.return_sequences else output
        return (result, state) if return_state else result
