#!/usr/bin/env python3
"""Whether transformers computes what Skerry computed from the same weights.

Usage: transformers_logits.py FOLDER ROWS COLUMNS

FOLDER is an exported model. Beside it lie FOLDER.inputs, ROWS * COLUMNS token
ids as little-endian int32, and FOLDER.logits, what Skerry's engine made of
them as little-endian float32. Opens every weight file with safetensors, loads
the folder with transformers, and fails unless all logits agree within 1e-4.
"""

import array
import pathlib
import sys

import safetensors
import torch
import transformers

TOLERANCE = 1e-4


def read(path, kind):
    values = array.array(kind, path.read_bytes())
    if sys.byteorder == "big":
        values.byteswap()
    return values


def count_elements(folder):
    elements = 0
    for path in sorted(folder.glob("*.safetensors")):
        with safetensors.safe_open(path, framework="pt") as file:
            for name in file.keys():
                elements += file.get_tensor(name).numel()
    return elements


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return
    if len(arguments) != 3:
        print(__doc__.splitlines()[2], file=sys.stderr)
        sys.exit(2)
    folder = pathlib.Path(arguments[0])
    rows, columns = map(int, arguments[1:])
    print("torch", torch.__version__, "transformers", transformers.__version__,
          "safetensors", safetensors.__version__)
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, output_loading_info=True)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if report[kind]:
            sys.exit(f"{kind}: {report[kind]}")
    # parameters() names a tied head once.
    held = sum(p.numel() for p in model.parameters())
    if count_elements(folder) != held:
        sys.exit(f"the files hold {count_elements(folder)} values, "
                 f"the model {held}")
    inputs = torch.tensor(read(pathlib.Path(f"{folder}.inputs"), "i"))
    with torch.no_grad():
        logits = model.eval()(inputs.reshape(rows, columns).long()).logits
    ours = torch.tensor(read(pathlib.Path(f"{folder}.logits"), "f"))
    worst = (logits.float().flatten() - ours).abs().max().item()
    print(f"largest difference {worst:.3g}, largest logit "
          f"{ours.abs().max().item():.3g}")
    if not worst <= TOLERANCE:
        sys.exit(f"logits differ by more than {TOLERANCE}")


if __name__ == "__main__":
    main(sys.argv[1:])
