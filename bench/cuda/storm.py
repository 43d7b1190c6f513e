#!/usr/bin/env python3
"""storm.py - launches an empty kernel N times as fast as it can, by CUDA's driver alone, and waits once.

    python3 bench/cuda/storm.py [N]

Prints one line of JSON: how many launches there were. Under `assay trace --calls none` every launch is a record, of a kernel or a
dropped one; the one other record is that of the wait.
"""
import ctypes
import json
import sys

PTX = b""".version 6.0
.target sm_50
.address_size 64
.visible .entry nothing() { ret; }
"""

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    result = getattr(driver, name)(*arguments)
    if result:
        sys.exit(f"{name}: error {result}")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
    device, context = ctypes.c_int(), ctypes.c_void_p()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(function), module, b"nothing")
    launch, none = driver.cuLaunchKernel, ctypes.c_void_p()
    launch.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    launched = sum(not launch(function, 1, 1, 1, 1, 1, 1, 0, none, none, none) for _ in range(count))
    call("cuCtxSynchronize")
    print(json.dumps({"launched": launched}), flush=True)


if __name__ == "__main__":
    main()
