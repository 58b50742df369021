"""The table of suites that start real processes."""

import collections
import pathlib
import shlex

TABLE = pathlib.Path(__file__).parent / 'suites.txt'

Suite = collections.namedtuple('Suite', 'name commits what arguments')


def parse(text):
    """{name: Suite}, in the order of the table."""
    found = {}
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if len(words) < 3 or words[0] in found or not words[1].isdigit():
            raise ValueError(f'suites.txt: bad line: {line}')
        found[words[0]] = Suite(words[0], int(words[1]), words[2], words[3:])
    return found


def with_turn(table, turn, changed):
    """Names of those that a full run has at `turn`, where the newest work
    changed the files `changed`; all when it is None."""
    if changed is None:
        return list(table)
    alike = collections.defaultdict(list)
    for entry in table.values():
        alike[entry.commits].append(entry.name)
    return [entry.name for entry in table.values()
            if entry.what in changed
            or alike[entry.commits].index(entry.name) % entry.commits
            == turn % entry.commits]


def at_turn(arguments, turn):
    """The arguments at `turn`: of `a|b` each word has a turn."""
    return [argument.split('|')[turn % len(argument.split('|'))]
            for argument in arguments]


def load():
    return parse(TABLE.read_text(encoding='utf-8'))
