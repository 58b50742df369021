#!/usr/bin/env python3
"""Writes data/tokenizer/canonical_singletons.cc, canonical_pairs.cc and
combining_classes.cc.

Asks the `tokenizers` package how it normalizes every code point, so that the
tables are those of its own version of Unicode. Only the numbers of combining
classes come from Python's unicodedata; which characters have one is asked.
Prints what data/tokenizer/nfc_test.cc compares with: the SHA-256 of the normal
forms of a sample around every code point. Run tools/tidy/format --fix
afterwards.

    python3 tools/gen/nfc_tables.py
"""

import hashlib
import pathlib
import unicodedata

import tokenizers
from tokenizers import normalizers

FOLDER = (pathlib.Path(__file__).resolve().parents[2] / 'data' / 'tokenizer')
CODES = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]
SYLLABLES = range(0xac00, 0xac00 + 11172)
# The highest class, which one character alone has.
IOTA = '\u0345'

NFC = normalizers.NFC().normalize_str
NFD = normalizers.NFD().normalize_str


def combining_classes():
    """{code: class} of the characters that the package moves before a mark of
    the highest class, or that have that class."""
    classes = {ord(IOTA): unicodedata.combining(IOTA)}
    for code in CODES:
        if NFD('q' + IOTA + chr(code)) != 'q' + NFD(chr(code)) + IOTA:
            continue
        if len(NFD(chr(code))) == 1 and NFD(chr(code)) == chr(code):
            classes[code] = unicodedata.combining(chr(code))
    unknown = [hex(code) for code, number in classes.items() if number == 0]
    assert not unknown, f'unicodedata is older than the package: {unknown}'
    return classes


def decompositions():
    """({code: code}, {code: (code, code)}, [codes that do not compose])."""
    singletons, pairs, not_composed = {}, {}, []
    for code in CODES:
        char = chr(code)
        if code in SYLLABLES or NFD(char) == char:
            continue
        parts = unicodedata.decomposition(char).split()
        assert parts and not parts[0].startswith('<'), hex(code)
        parts = [int(part, 16) for part in parts]
        assert NFD(''.join(map(chr, parts))) == NFD(char), hex(code)
        if len(parts) == 1:
            singletons[code] = parts[0]
            continue
        pairs[code] = tuple(parts)
        if NFC(''.join(map(chr, parts))) != char:
            not_composed.append(code)
    return singletons, pairs, not_composed


def runs(codes):
    """[first, count] of neighbours."""
    out = []
    for code in codes:
        if out and sum(out[-1]) == code:
            out[-1][1] += 1
        else:
            out.append([code, 1])
    return out


def table(kind, name, rows):
    return [f'constexpr {kind} k{name}[] = {{', *rows, '};', '']


def accessor(kind, name):
    return [f'std::span<const {kind}> {name}() {{ return k{name}; }}', '']


def write(name, tables):
    lines = [
        '// Written by tools/gen/nfc_tables.py, out of tokenizers '
        f'{tokenizers.__version__}.', f'#include "data/tokenizer/{name}.h"', '',
        'namespace skerry::data {', 'namespace {', ''
    ]
    for one in tables:
        lines += table(*one)
    lines += ['}  // namespace', '']
    for kind, table_name, _ in tables:
        lines += accessor(kind, table_name)
    lines.append('}  // namespace skerry::data')
    (FOLDER / f'{name}.cc').write_text('\n'.join(lines) + '\n',
                                       encoding='utf-8')


def samples():
    """Strings around every code point, as nfc_test.cc makes them."""
    for code in CODES:
        char = chr(code)
        yield f'a{char}\u0323\u0301{char}'
        yield f'{char}\u0338\u3099{char}\u1161\u11a8'


def main():
    singletons, pairs, not_composed = decompositions()
    write('canonical_singletons', [
        ('CodeRun', 'SingletonRuns',
         [f'{{{first:#x}, {n}}},' for first, n in runs(singletons)]),
        ('int32_t', 'Singletons',
         [f'{to:#x},' for to in singletons.values()]),
    ])
    write('canonical_pairs', [
        ('CodeRun', 'PairRuns',
         [f'{{{first:#x}, {n}}},' for first, n in runs(pairs)]),
        ('CodePair', 'Pairs',
         [f'{{{a:#x}, {b:#x}}},' for a, b in pairs.values()]),
        ('int32_t', 'NotComposed', [f'{code:#x},' for code in not_composed]),
    ])
    ranges = []
    for code, number in sorted(combining_classes().items()):
        if ranges and ranges[-1][1:] == [code - 1, number]:
            ranges[-1][1] = code
        else:
            ranges.append([code, code, number])
    write('combining_classes', [
        ('CombiningRange', 'CombiningRanges',
         [f'{{{a:#x}, {b:#x}, {n}}},' for a, b, n in ranges]),
    ])
    digest = hashlib.sha256()
    for sample in samples():
        digest.update(NFC(sample).encode() + b'\n')
    print('SHA-256 of all samples', digest.hexdigest())


if __name__ == '__main__':
    main()
