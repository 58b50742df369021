#!/usr/bin/env python3
"""The style of this house as a program. Prints one line a finding.

    tools/tidy/tidy.py            checks every file that git tracks
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.tidy import rules  # noqa: E402

ALLOW = 'tools/tidy/allow.txt'


def read_tree(root):
    """Tracked files, and new ones that git does not ignore, as a Tree."""
    listed = subprocess.run(
        # A checkout may belong to another user than the one who tests it.
        ['git', '-c', f'safe.directory={root}', 'ls-files', '-z', '--cached',
         '--others', '--exclude-standard'],
        cwd=root, check=True, capture_output=True).stdout
    files, data = {}, []
    for name in listed.decode().split('\0'):
        path = root / name
        if not name or not path.is_file() or path.is_symlink():
            continue
        try:
            files[name] = path.read_text(encoding='utf-8')
        except UnicodeDecodeError:
            data.append(name)
    return rules.Tree(files, data)


def apply_allow_list(findings, text):
    """Drops what the list excuses; adds a finding for an idle entry."""
    entries = {}
    for number, line in enumerate(text.split('\n'), 1):
        words = line.split(None, 2)
        if not words or line.startswith('#'):
            continue
        if len(words) < 3:
            findings = findings + [rules.Finding(
                ALLOW, number, 'allow-list', 'write PATH RULE REASON')]
            continue
        entries[(words[0], words[1])] = number
    used = {(f.path, f.rule) for f in findings} & set(entries)
    kept = [f for f in findings if (f.path, f.rule) not in used]
    for key, number in entries.items():
        if key not in used:
            kept.append(rules.Finding(ALLOW, number, 'allow-list',
                                      'excuses nothing; delete it'))
    return sorted(kept)


def main():
    if sys.argv[1:]:
        asked = sys.argv[1:] in (['--help'], ['-h'])
        print('usage: tools/tidy/tidy.py',
              file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    tree = read_tree(ROOT)
    findings = apply_allow_list(rules.check(tree), tree.files.get(ALLOW, ''))
    for f in findings:
        print(f'{f.path}:{f.line}: {f.rule}: {f.advice}')
    if findings:
        print(f'tidy: {len(findings)} findings', file=sys.stderr)
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
