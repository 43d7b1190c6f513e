#!/usr/bin/env python3
"""Writes the input that the onnx package's backend test runner gives its light models, as .npy.

    light_inputs.py 1x3x224x224 OUT.npy

For a float input of n elements the runner's generate_dummy_data(random=False) makes x[i] = i / n, in row-major order,
divided in double precision and rounded to float32; a dimension without a fixed value counts as 1. All nine light models
have one such input of 1x3x224x224. The reference output lies beside each model as <name>_output_0.pb, a serialized
TensorProto; the runner compares with rtol 1e-3 and atol 1e-7. Standard library only.
"""
import array
import struct
import sys


def npy_header(shape):
    """Version 1.0 header of a C-ordered little-endian float32 array, padded to 64 bytes."""
    dims = ", ".join(str(d) for d in shape) + ("," if len(shape) == 1 else "")
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % dims
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("ascii")


def ramp(shape):
    n = 1
    for d in shape:
        n *= d
    values = array.array("f", (i / n for i in range(n)))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def main(argv):
    if len(argv) != 3:
        sys.exit(__doc__)
    shape = [int(d) for d in argv[1].split("x")]
    with open(argv[2], "wb") as out:
        out.write(npy_header(shape) + ramp(shape))


if __name__ == "__main__":
    main(sys.argv)
