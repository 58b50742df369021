#!/usr/bin/env python3
"""Writes data/tokenizer/character_ranges.cc.

Asks the `tokenizers` package which code points its regular expressions take
for letters, numbers and spaces, so that the classes are those of its own
version of Unicode. Run tools/tidy/format --fix afterwards.

    python3 tools/gen/character_ranges.py
"""

import pathlib
import sys

import tokenizers
from tokenizers import Regex, pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / 'data' / 'tokenizer' / 'character_ranges.cc'
CLASSES = (('Letter', r'\p{L}'), ('Number', r'\p{N}'), ('Space', r'\s'))
CODES = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]


def members(expression):
    """The code points that match, ascending."""
    removed = pre_tokenizers.Split(Regex(expression), 'removed')
    found = []
    for start in range(0, len(CODES), 4096):
        codes = CODES[start:start + 4096]
        pieces = removed.pre_tokenize_str(''.join(map(chr, codes)))
        left = set(''.join(piece for piece, _ in pieces))
        found += [code for code in codes if chr(code) not in left]
    return found


def ranges(codes):
    """Closed ranges of neighbours."""
    out = []
    for code in codes:
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def main():
    if sys.argv[1:] in (['-h'], ['--help']):
        print(__doc__)
        return
    if sys.argv[1:]:
        print('usage: character_ranges.py', file=sys.stderr)
        sys.exit(2)
    lines = [
        '// Written by tools/gen/character_ranges.py, out of tokenizers '
        f'{tokenizers.__version__}.',
        '#include "data/tokenizer/character_ranges.h"', '',
        'namespace skerry::data {', 'namespace {', ''
    ]
    for name, expression in CLASSES:
        lines.append(f'constexpr CodeRange k{name}Ranges[] = {{')
        lines += [
            f'    {{0x{first:x}, 0x{last:x}}},'
            for first, last in ranges(members(expression))
        ]
        lines += ['};', '']
    lines += ['}  // namespace', '']
    for name, _ in CLASSES:
        lines += [
            f'std::span<const CodeRange> {name}Ranges() '
            f'{{ return k{name}Ranges; }}', ''
        ]
    lines.append('}  // namespace skerry::data')
    TARGET.write_text('\n'.join(lines) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
