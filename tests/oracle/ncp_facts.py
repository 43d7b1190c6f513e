#!/usr/bin/env python3
"""Writes tests/fixtures/ncp/facts.txt: facts of wirings, from ncps' matrices by networkx.

Per line: network synapses sensory_synapses excitatory components largest cyclic longest_path missing, then for each of
sensory, inter, command, motor that has neurons: name neurons in_min in_mean in_max out_min out_mean out_max.
missing: pairs that a CfC's ff1 (or ff2) multiplies by although there is no synapse, over its cells. The longest path
counts synapses through the condensation (each strongly connected component one place), from an input on.
"""
import os
import sys

import networkx as nx
import numpy as np
from ncps.wirings import AutoNCP, FullyConnected, Random


def longest(a, s):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(a)))
    graph.add_edges_from(zip(*np.nonzero(a)))
    components = list(nx.strongly_connected_components(graph))
    graph.add_edges_from((("in", i), j) for i, j in zip(*np.nonzero(s)))
    cyclic = sum(len(c) > 1 or any(graph.has_edge(n, n) for n in c) for c in components)
    return len(components), max(map(len, components)), cyclic, nx.dag_longest_path_length(nx.condensation(graph))


def missing_pairs(w):
    a, s = w.adjacency_matrix, w.sensory_adjacency_matrix
    if w.num_layers == 1:
        return np.count_nonzero(s == 0)
    layers = [w.get_neurons_of_layer(i) for i in range(3)]
    total = np.count_nonzero(s[:, layers[0]] == 0)
    for before, here in zip(layers, layers[1:]):
        total += np.count_nonzero(a[np.ix_(before, here)] == 0)
    return total


def degrees(values):
    return f"{min(values)} {np.mean(values):.12g} {max(values)}"


def line(spec, w, inputs):
    w.build(inputs)
    a, s = w.adjacency_matrix, w.sensory_adjacency_matrix
    words = [spec, np.count_nonzero(a), np.count_nonzero(s), np.sum(a > 0) + np.sum(s > 0)]
    words += [*longest(a, s), missing_pairs(w), "sensory", inputs, "0 nan 0",
              degrees(np.count_nonzero(s, axis=1))]
    into = np.count_nonzero(a, axis=0) + np.count_nonzero(s, axis=0)
    out = np.count_nonzero(a, axis=1)
    for name in ("inter", "command", "motor"):
        ids = [n for n in range(w.units) if w.get_type_of_neuron(n) == name]
        if ids:
            words += [name, len(ids), degrees(into[ids]), degrees(out[ids])]
    return " ".join(map(str, words))


def rows():
    for units, outputs, inputs, sparsity, seed in [(64, 16, 32, 0.5, 22222), (19, 3, 5, 0.5, 22222),
                                                   (40, 8, 10, 0.9, 3), (128, 20, 16, 0.8, 1)]:
        yield line(f"units={units},outputs={outputs},inputs={inputs},sparsity={sparsity},seed={seed}",
                   AutoNCP(units, outputs, sparsity, seed), inputs)
    for units, outputs, inputs, sparsity, seed in [(20, 4, 6, 0.95, 7), (30, 3, 3, 0.97, 8), (16, 4, 4, 0.5, 9)]:
        yield line(f"wiring=random,units={units},outputs={outputs},inputs={inputs},sparsity={sparsity},seed={seed}",
                   Random(units, outputs, sparsity, seed), inputs)
    yield line("wiring=full,units=12,outputs=3,inputs=4", FullyConnected(12, 3), 4)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../fixtures/ncp/facts.txt")
    with open(path, "w") as file:
        file.writelines(row + "\n" for row in rows())


main()
