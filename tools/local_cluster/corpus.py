"""Public-domain English: what the Debian package bible-kjv prints."""

import os
import subprocess

# Smaller means that the package has changed.
_BYTES_MIN = 4_000_000


def write(path):
    """Writes the King James Bible as plain text, unless it is there."""
    if os.path.exists(path):
        return path
    # One verse a line, whatever the terminal's width.
    environment = {k: v for k, v in os.environ.items() if k != 'COLUMNS'}
    text = subprocess.run(['bible', '-f', 'gen1:1-rev22:21'], check=True,
                          stdout=subprocess.PIPE, env=environment).stdout
    if len(text) < _BYTES_MIN:
        raise RuntimeError(
            f'bible-kjv printed {len(text)} bytes; {_BYTES_MIN} expected')
    with open(path + '.new', 'wb') as file:
        file.write(text)
    os.replace(path + '.new', path)
    return path
