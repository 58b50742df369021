"""Works planted bugs into copies of sources.

plant.py PLANTS OUT_DIRECTORY SOURCE...  writes OUT_DIRECTORY/SOURCE's path with
slashes as underscores; plant.py PLANTS --names prints the names of the bugs.
"""

import collections
import pathlib
import sys

Part = collections.namedtuple('Part', 'name file before after')


def parse(text):
    """The parts of all bugs, in order."""
    parts = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith(('#', 'within ')):
            continue
        if line.startswith('plant '):
            _, name, file = line.split()
            parts.append(Part(name, file, [], []))
        elif line[0] == '-' and parts and not parts[-1].after:
            parts[-1].before.append(line[1:])
        elif line[0] == '+' and parts:
            parts[-1].after.append(line[1:])
        else:
            raise ValueError(f'line {number}: {line}')
    return parts


def plant(source, file, parts):
    """`source` with every bug of `file` in it, each behind its switch."""
    for part in parts:
        if part.file != file:
            continue
        before = '\n'.join(part.before) + '\n'
        if not part.before or source.count(before) != 1:
            raise ValueError(f'{part.name}: its lines stand '
                             f'{source.count(before)} times in {file}, '
                             'not once; bring plants.txt up to date')
        after = '\n'.join(part.after) + '\n'
        switch = f'::skerry::sim::IsPlanted("{part.name}")'
        source = source.replace(before, after.replace('PLANTED', switch))
    return '#include "tests/sim/planted/planted.h"\n' + source


def names(parts):
    return list(dict.fromkeys(part.name for part in parts))


def main(arguments):
    parts = parse(pathlib.Path(arguments[0]).read_text(encoding='utf-8'))
    if arguments[1] == '--names':
        print('\n'.join(names(parts)))
        return
    for file in arguments[2:]:
        source = pathlib.Path(file).read_text(encoding='utf-8')
        out = pathlib.Path(arguments[1]) / file.replace('/', '_')
        out.write_text(plant(source, file, parts), encoding='utf-8')


if __name__ == '__main__':
    main(sys.argv[1:])
