"""Has clang look at the C++ that a change reaches, and at a share of the rest.

One run of clang-tidy a file is both: clang's front end with -Wthread-safety,
and the checks of .clang-tidy. A file takes 2 to 15 s on one core, and the tree
an hour. So the files stand in three rows, each with a bound, and the files of
a row take turns, commit after commit.
"""

import collections
import concurrent.futures
import os
import re
import subprocess

from tools.ci import reach
from tools.ci import tally
from tools.ci.bazel import ROOT

PROGRAM = 'clang-tidy-14'
Row = collections.namedtuple('Row', 'changed includers others')
# Files of each row that one commit looks at: two minutes of two cores.
MOST = Row(20, 16, 8)

# Whose headers Bazel generates.
MESSAGES = ('//proto/skerry/v1:all', '//cli:simulation_cc')

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# The toolkit's headers are not everywhere, and nvcc compiles these. Code that
# no program uses has no turn.
_ELSEWHERE = re.compile(
    r'^(bazel-|research|third_party)|/cuda/|device_codec_bench')


def sources(root=ROOT):
    """{path: what it includes with quotes} of C++ files that have a turn."""
    found = {}
    for file in root.rglob('*.cc'):
        path = str(file.relative_to(root))
        if not _ELSEWHERE.search(path):
            found[path] = set(_INCLUDE.findall(
                file.read_text(encoding='utf-8')))
    return found


def rows(found, changed):
    """The Row of `found` after `changed` files: those themselves, those that
    include one, and the others."""
    changed = set(changed)
    itself = sorted(changed & set(found))
    includers = sorted(path for path, names in found.items()
                       if names & changed and path not in changed)
    others = sorted(set(found) - set(itself) - set(includers))
    return Row(itself, includers, others)


def command(path):
    """The arguments that have clang look at a file."""
    return [PROGRAM, '--quiet', f'--config-file={ROOT}/.clang-tidy', path, '--',
            '-std=c++20', '-DNDEBUG', '-Wthread-safety', f'-I{ROOT}',
            # Nobody here writes what is generated.
            '-isystem', f'{ROOT}/bazel-bin',
            '-isystem', f'{ROOT}/third_party/compat']


def look(path, root=ROOT):
    """(path, what clang finds in it): nothing when all is well."""
    done = subprocess.run(command(path), cwd=root,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False)
    return path, '' if done.returncode == 0 else done.stdout


def look_at(paths, say, root=ROOT):
    """The tally of the files, one case each; says what was found. A file that
    this clang cannot compile is skipped: gcc compiles it, and newer parts of
    the language are not all there."""
    result = tally.Tally()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in pool.map(lambda path: look(path, root), paths):
            if '[clang-diagnostic-error]' in found:
                say(f'clang: cannot compile {path}')
                result.add(tally.Tally(skipped=1))
            elif found:
                say(found)
                result.add(tally.Tally(failed=[f'clang: {path}']))
            else:
                result.add(tally.Tally(passed=1))
    return result


def chosen(say):
    """The files that this commit looks at, and says how many they are."""
    row = rows(sources(), reach.changed_files() or [])
    turn = reach.share(row, reach.commits(), MOST)
    say('clang: ' + ', '.join(
        f'{len(some)} of {len(files)} {what}' for some, files, what in zip(
            turn, row, ('files that changed', 'that include one',
                        'others have their turn'))))
    return [*turn.changed, *turn.includers, *turn.others]
