#!/usr/bin/env python3
"""Writes tests/fixtures/ncp/wirings.txt: what the package ncps (1.0.1) draws for many wirings.

One wiring per line: kind units outputs inputs sparsity seed inter command motor sensory_fanout
inter_fanout recurrent_command motor_fanin, then the synapse counts and the FNV-1a hashes (64 bits,
over the matrix as signed bytes, row by row) of the adjacency and the sensory matrix.

    ncp_wirings.py [FILE] [--many]     --many: a few hundred more, for the live test
"""
import itertools
import os
import sys

import numpy as np
from ncps.wirings import NCP, AutoNCP, FullyConnected, Random


def fnv(matrix):
    value = 0xCBF29CE484222325
    for byte in np.ascontiguousarray(matrix.astype(np.int8)).tobytes():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def line(kind, wiring, inputs, sparsity, seed, shape=(0,) * 7):
    wiring.build(inputs)
    a, s = wiring.adjacency_matrix, wiring.sensory_adjacency_matrix
    words = [kind, wiring.units, wiring.output_dim, inputs, sparsity, seed, *shape]
    words += [np.count_nonzero(a), np.count_nonzero(s), f"{fnv(a):016x}", f"{fnv(s):016x}"]
    return " ".join(str(w) for w in words)


def auto(units, outputs, inputs, sparsity, seed):
    w = AutoNCP(units, outputs, sparsity_level=sparsity, seed=seed)
    shape = (len(w._inter_neurons), len(w._command_neurons), len(w._motor_neurons),
             w._sensory_fanout, w._inter_fanout, w._recurrent_command_synapses, w._motor_fanin)
    return line("autoncp", w, inputs, sparsity, seed, shape)


def ncp(shape, inputs, seed):
    return line("ncp", NCP(*shape, seed=seed), inputs, 0.0, seed, shape)


def random(units, outputs, inputs, sparsity, seed):
    return line("random", Random(units, outputs, sparsity, random_seed=seed), inputs, sparsity, seed)


def full(units, outputs, inputs, seed):
    return line("full", FullyConnected(units, outputs, erev_init_seed=seed), inputs, 0.0, seed)


def rows(many):
    yield auto(64, 16, 32, 0.5, 22222)
    sizes = [(4, 1, 1), (7, 2, 3), (28, 4, 2), (64, 16, 32), (100, 30, 5), (256, 64, 17)]
    for (units, outputs, inputs), sparsity, seed in itertools.product(
            sizes, (0.1, 0.5, 0.9, 1.0), (22222, 0)):
        yield auto(units, outputs, inputs, sparsity, seed)
    for seed in (1, 42, 2**31, 2**32 - 1):
        yield auto(19, 5, 8, 0.3, seed)
    for shape, inputs, seed in [((10, 10, 8, 6, 6, 4, 6), 20, 22222), ((3, 2, 1, 1, 1, 0, 1), 4, 7),
                                ((12, 1, 3, 4, 1, 5, 1), 2, 9), ((20, 12, 4, 1, 1, 6, 1), 1, 3),
                                ((5, 9, 2, 5, 9, 30, 9), 6, 11), ((40, 30, 20, 2, 2, 60, 2), 3, 5),
                                ((2, 20, 30, 1, 1, 4, 1), 30, 8)]:
        yield ncp(shape, inputs, seed)
    for units, outputs, inputs, sparsity, seed in [
            (1, 1, 1, 0.0, 1111), (5, 2, 3, 0.5, 1111), (16, 4, 8, 0.5, 22222), (64, 16, 32, 0.5, 1111),
            (64, 16, 32, 0.0, 0), (50, 5, 7, 0.99, 12), (101, 3, 2, 0.5, 1111), (128, 8, 100, 0.98, 2),
            (128, 8, 100, 0.979, 2), (150, 10, 80, 0.2, 2**40 + 17), (33, 33, 33, 0.25, 2**63 - 1)]:
        yield random(units, outputs, inputs, sparsity, seed)
    for units, outputs, inputs, seed in [(1, 1, 1, 1111), (3, 2, 5, 1111), (64, 16, 32, 1111),
                                         (20, 4, 6, 0), (41, 7, 9, 2**35 + 3)]:
        yield full(units, outputs, inputs, seed)
    if many:
        rng = np.random.default_rng(5)
        for _ in range(150):
            units, inputs = int(rng.integers(5, 200)), int(rng.integers(1, 60))
            outputs, seed = int(rng.integers(1, units - 2)), int(rng.integers(0, 2**32))
            sparsity = round(float(rng.uniform(0.1, 0.95)), 3)
            yield auto(units, outputs, inputs, sparsity, seed)
            yield random(units, outputs, inputs, sparsity, seed)
            yield full(units, outputs, inputs, seed)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--many"]
    here = os.path.dirname(os.path.abspath(__file__))
    path = arguments[0] if arguments else os.path.join(here, "../fixtures/ncp/wirings.txt")
    with open(path, "w") as file:
        file.writelines(row + "\n" for row in rows("--many" in sys.argv))


main()
