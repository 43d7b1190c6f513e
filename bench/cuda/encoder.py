#!/usr/bin/env python3
"""encoder.py - a launch-bound program to trace: a 12-layer encoder on small inputs, so that the host
enqueues more slowly than the GPU works.

    python3 bench/cuda/encoder.py [--steps N] [--oracle]

--oracle: PyTorch's profiler counts kernels (it must not be traced at the same time: one profiler a
process). Prints one line of JSON: what a trace of the same steps must show.
"""
import argparse
import json
import time

import torch


def model(layers=12, width=256, heads=4):
    layer = torch.nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).half().cuda().train()


def steps(net, data, count):
    with torch.no_grad():
        for number in range(count):
            torch.cuda.nvtx.range_push(f"step {number}")
            out = net(data)
            torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    return out


def oracle(net, data, count):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        steps(net, data, count)
    kernels = copies = memsets = 0
    for event in profiler.events():
        if event.device_type != torch.autograd.DeviceType.CUDA:
            continue
        if event.name.startswith("Memcpy"):
            copies += 1
        elif event.name.startswith("Memset"):
            memsets += 1
        elif not event.name.startswith("step "):
            kernels += 1
    return {"kernels": kernels, "copies": copies, "memsets": memsets}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=400, help="enough that they take longer than loading the kernels")
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--oracle", action="store_true")
    options = parser.parse_args()
    net = model()
    data = torch.randn(1, 64, 256, dtype=torch.half, device="cuda")
    steps(net, data, options.warmup)
    begin = time.perf_counter()
    steps(net, data, options.steps)
    seconds = time.perf_counter() - begin
    result = {"steps": options.steps, "warmup": options.warmup, "ms_per_step": 1e3 * seconds / options.steps}
    if options.oracle:
        result["oracle"] = oracle(net, data, options.steps)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
