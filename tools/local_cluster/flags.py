"""How our scripts read their command lines: known words and bounded numbers.

A wrong line ends the script with one line on standard error and code 2.
"""

import argparse
import re
import sys

# As much as a seed or a count may be.
WHOLE_MAX = 2**63 - 1


class Parser(argparse.ArgumentParser):
    """Takes no abbreviations, and says what is wrong in one line."""

    def __init__(self, **settings):
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message):
        line = ' '.join(message.split())
        print(f'{self.prog}: {line} (see {self.prog} --help)', file=sys.stderr)
        sys.exit(2)


def whole(low=0, high=WHOLE_MAX):
    """The type of an argument that is a whole number from low to high."""
    def read(text):
        # int() would also take 1_000, +1 and digits of other scripts.
        if re.fullmatch(r'-?[0-9]{1,20}', text) and low <= int(text) <= high:
            return int(text)
        raise argparse.ArgumentTypeError(
            f'has to be a whole number from {low} to {high}, not {text!r}')
    return read


def real(low, high):
    """The type of an argument that is a number from low to high."""
    def read(text):
        if (re.fullmatch(r'-?[0-9]+(\.[0-9]+)?(e-?[0-9]{1,3})?', text)
                and low <= float(text) <= high):
            return float(text)
        raise argparse.ArgumentTypeError(
            f'has to be a number from {low} to {high}, not {text!r}')
    return read
