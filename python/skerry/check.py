"""Checks a program against the rules of the trainer seam: `python -m skerry
check`. The rules are those of trainer_kit, which is a program of Skerry."""

import json
import os
import shutil
import subprocess
import sys
import tempfile


def kit(program, batch_samples, parameters, ranks, folder):
    """Runs trainer_kit on `program`, and returns its exit code.

    folder: where trainer_kit and skerry-attach are; None: on the PATH. Raises
        FileNotFoundError, with what to do, when one of them is not there.
    """
    checker, attach = (_found(name, folder)
                       for name in ('trainer_kit', 'skerry-attach'))
    with tempfile.TemporaryDirectory() as logs:
        return subprocess.run(
            [checker, f'--parameters={json.dumps(parameters)}',
             f'--batch-samples={batch_samples}', '--', attach,
             f'--program={os.path.abspath(program)}',
             f'--python={sys.executable}', f'--ranks={ranks}',
             f'--log-directory={logs}', '--log-level=error'],
            stdin=subprocess.DEVNULL, check=False).returncode


def _found(name, folder):
    path = shutil.which(name, path=folder)
    if path is None:
        raise FileNotFoundError(
            f'there is no {name} in {folder or "any folder of PATH"}: build it '
            'in a checkout of Skerry (docs/attach.md), and name its folder '
            'with --programs')
    return os.path.abspath(path)
