#!/usr/bin/env python3
"""make_ranks.py - four ranks of one job, with known communication, computation, overlap and one known straggler.

    make_ranks.py FOLDER [STRAGGLER]    writes FOLDER/rank0.json … rank3.json (Kineto's JSON) and FOLDER/truth.json

In every step a rank computes on stream 7 and starts an all-reduce on stream 20 after a part of it; the all-reduce ends on all
ranks at one time, after the last of them has entered it. The straggler computes longer, so that it enters last. Times are whole
microseconds; truth.json has each rank's sums in microseconds, computed interval by interval.
"""
import json
import os
import sys

STEPS, LAYERS, BUCKETS = 5, 8, 4
GEMM = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"
# as older versions of NCCL call it: HTA 0.5 looks for stragglers among kernels called "ncclKernel…" only, and stops where there are none
NCCL = "ncclKernel_AllReduce_RING_LL_Sum_bf16(ncclDevComm*, unsigned long, ncclWork*)"


def merged(intervals):
    out = []
    for start, end in sorted(intervals):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def total(intervals):
    return sum(end - start for start, end in intervals)


def common(a, b):
    return sum(max(0, min(x[1], y[1]) - max(x[0], y[0])) for x in a for y in b)


class Rank:
    def __init__(self, number, world):
        self.number, self.world, self.events, self.correlation = number, world, [], 0
        self.compute, self.talk = [], []

    def add(self, name, category, pid, tid, start, duration, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args})

    def launch(self, name, at, start, duration, stream):
        self.correlation += 1
        self.add("cudaLaunchKernel", "cuda_runtime", 1000 + self.number, 1, at, 4, correlation=self.correlation)
        self.add(name, "kernel", 0, stream, start, duration, device=self.number, stream=stream, correlation=self.correlation)
        (self.talk if name == NCCL else self.compute).append((start, start + duration))

    def write(self, path):
        trace = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": self.number, "world_size": self.world},
                 "deviceProperties": [{"id": self.number, "name": "NVIDIA H200"}],
                 "traceEvents": self.events, "traceName": os.path.basename(path)}
        with open(path, "w") as out:
            json.dump(trace, out)


def main():
    folder = sys.argv[1]
    straggler = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    os.makedirs(folder, exist_ok=True)
    ranks = [Rank(r, 4) for r in range(4)]
    now = 10000
    for step in range(STEPS):
        begin = now
        # compute: layers back to back; every LAYERS/BUCKETS layers a bucket of gradients is ready
        ready = []
        for rank in ranks:
            at, launch, mine = begin + 50, begin + 5, []
            layer_us = 200 + 10 * rank.number + (90 if rank.number == straggler else 0)
            for layer in range(LAYERS):
                rank.launch(GEMM, launch, at, layer_us, 7)
                launch, at = launch + 6, at + layer_us + 2
                if (layer + 1) % (LAYERS // BUCKETS) == 0:
                    mine.append(at)
            ready.append((mine, launch))
        last = begin
        free = begin
        for bucket in range(BUCKETS):
            entered = [max(mine[bucket] + 1, free) for mine, _ in ready]
            end = max(entered) + 120 + 30 * bucket
            for rank, start in zip(ranks, entered):
                rank.launch(NCCL, ready[rank.number][1] + 6 * bucket, start, end - start, 20)
            free = end + 3
            last = end
        now = last + 100
        for rank in ranks:
            rank.add("ProfilerStep#%d" % (step + 1), "user_annotation", 1000 + rank.number, 1, begin, now - begin - 1)
            rank.add("cudaDeviceSynchronize", "cuda_runtime", 1000 + rank.number, 1, now - 95, 90, correlation=10 ** 6 + step)
    truth = {"straggler": straggler, "steps": STEPS, "ranks": []}
    for rank in ranks:
        rank.write(os.path.join(folder, "rank%d.json" % rank.number))
        compute, talk = merged(rank.compute), merged(rank.talk)
        truth["ranks"].append({"compute_us": total(compute), "communication_us": total(talk), "overlap_us": common(compute, talk)})
    with open(os.path.join(folder, "truth.json"), "w") as out:
        json.dump(truth, out, indent=1)


if __name__ == "__main__":
    main()
