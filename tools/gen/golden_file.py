"""Golden files: named arrays that a test compares the engine's results with.

A .golden file is a list of arrays, all little-endian: u32 count, then for each
u32 length of the name, the name, one byte 'f' (float32) or 'i' (int32),
u32 elements, the elements.
"""

import array
import json
import pathlib
import struct
import sys


def float32(values):
    return list(array.array("f", values))


def encode(arrays):
    out = struct.pack("<I", len(arrays))
    for name, (kind, values) in arrays.items():
        data = array.array(kind, values)
        if sys.byteorder == "big":
            data.byteswap()
        out += struct.pack("<I", len(name)) + name.encode() + kind.encode()
        out += struct.pack("<I", len(values)) + data.tobytes()
    return out


def decode(data):
    (count,), at, arrays = struct.unpack_from("<I", data), 4, {}
    for _ in range(count):
        (length,) = struct.unpack_from("<I", data, at)
        name = data[at + 4:at + 4 + length].decode()
        at += 4 + length
        kind = chr(data[at])
        (elements,) = struct.unpack_from("<I", data, at + 1)
        arrays[name] = (kind, list(struct.unpack_from(
            f"<{elements}{kind}", data, at + 5)))
        at += 5 + 4 * elements
    return arrays


def differences(made, stored):
    if made.keys() != stored.keys():
        yield "the lists of arrays differ"
        return
    for name, (kind, values) in made.items():
        old_kind, old = stored[name]
        if kind != old_kind or len(values) != len(old):
            yield f"{name}: type or size differs"
            continue
        largest = max(map(abs, values), default=0)
        worst = max((abs(a - b) for a, b in zip(values, old)), default=0)
        if not worst <= 1e-6 * largest:
            yield f"{name}: off by {worst:.3g}, largest value {largest:.3g}"


def read_line(arguments, about):
    """(DIRECTORY, whether to check) of a line `[--check] DIRECTORY`.

    Ends the program if the line is wrong or asks for help. `about` is the
    program's text, whose third line is its usage.
    """
    folders = [a for a in arguments if a != "--check"]
    if folders in (["-h"], ["--help"]):
        print(about)
        sys.exit(0)
    if len(folders) != 1 or folders[0].startswith("-"):
        print(about.splitlines()[2], file=sys.stderr)
        sys.exit(2)
    return pathlib.Path(folders[0]), "--check" in arguments


def write_or_check(folder, check, made, configs):
    """Writes FOLDER/NAME.golden for every case made and NAME.json for every
    config, or with `check` compares with what lies there. Returns the exit
    status."""
    failed = False
    for name, arrays in made.items():
        path = folder / (name + ".golden")
        if not check:
            path.write_bytes(encode(arrays))
            print(path, path.stat().st_size, "bytes")
            continue
        for line in differences(arrays, decode(path.read_bytes())):
            print(f"{path}: {line}")
            failed = True
    for name, config in configs.items():
        path = folder / (name + ".json")
        text = json.dumps(config, indent=2) + "\n"
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            print(f"{path}: differs")
            failed = True
    print("different" if failed else "the same" if check else "written")
    return 1 if failed else 0
