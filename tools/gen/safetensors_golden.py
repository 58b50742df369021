#!/usr/bin/env python3
"""A weight file made by Python's safetensors, for the reader's test.

Usage: safetensors_golden.py [--check] FILE

Writes FILE, or with --check makes it again and fails unless the bytes agree.
Prints the version of safetensors. Needs no other package: values are packed
here, from numbers that all three types hold exactly, and numbers that they
round.
"""

import ctypes
import pathlib
import struct
import sys

import safetensors

# 1/3 and 65519 have to be rounded in the shorter types.
VALUES = [0.0, -0.0, 1.0, -2.5, 1 / 3, 65519.0, 2.0**-24, float("inf")]


def float32(value):
    return struct.pack("<f", value)


def float16(value):
    # struct refuses what it would round to infinity.
    return struct.pack("<e", value)


def bfloat16(value):
    (bits,) = struct.unpack("<I", float32(value))
    bits += 0x7FFF + ((bits >> 16) & 1)
    return struct.pack("<H", bits >> 16)


def packed(dtype, pack, shape):
    return dtype, shape, b"".join(pack(value) for value in VALUES)


def serialize(tensors, metadata):
    if not hasattr(safetensors, "TensorSpec"):  # before 0.8
        return safetensors.serialize(
            {name: {"dtype": dtype, "shape": shape, "data": data}
             for name, (dtype, shape, data) in tensors.items()}, metadata)
    buffers = {name: ctypes.create_string_buffer(data, max(len(data), 1))
               for name, (_, _, data) in tensors.items()}
    return safetensors.serialize(
        {name: safetensors.TensorSpec(
            dtype=dtype, shape=shape,
            data_ptr=ctypes.addressof(buffers[name]), data_len=len(data))
         for name, (dtype, shape, data) in tensors.items()}, metadata)


def make():
    # One entry of metadata: their order is not fixed.
    return serialize({
        "block.weight": packed("float32", float32, [2, 4]),
        "block.half": packed("float16", float16, [8]),
        "block.brain": packed("bfloat16", bfloat16, [4, 1, 2]),
        "scalar": ("float32", [], float32(7.0)),
        "empty": ("float32", [0, 3], b""),
    }, {"note": "a \u201cquote\u201d"})


def main(arguments):
    check = "--check" in arguments
    paths = [pathlib.Path(a) for a in arguments if a != "--check"]
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return
    if len(paths) != 1 or str(paths[0]).startswith("-"):
        print(__doc__.splitlines()[2], file=sys.stderr)
        sys.exit(2)
    print("safetensors", safetensors.__version__)
    data = make()
    if not check:
        paths[0].write_bytes(data)
    elif paths[0].read_bytes() != data:
        sys.exit(f"{paths[0]} differs")


if __name__ == "__main__":
    main(sys.argv[1:])
