"""The table of suites that start real processes."""

import collections
import pathlib
import shlex

TABLE = pathlib.Path(__file__).parent / 'suites.txt'

Suite = collections.namedtuple('Suite', 'name what arguments')


def parse(text):
    """{name: Suite}, in the order of the table."""
    found = {}
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if len(words) < 2 or words[0] in found:
            raise ValueError(f'suites.txt: bad line: {line}')
        found[words[0]] = Suite(words[0], words[1], words[2:])
    return found


def at_turn(arguments, turn):
    """The arguments at `turn`: of `a|b` each word has a turn."""
    return [argument.split('|')[turn % len(argument.split('|'))]
            for argument in arguments]


def load():
    return parse(TABLE.read_text(encoding='utf-8'))
