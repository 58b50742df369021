"""What the newest commits changed, so that long stages run that and a share.

A stage that cannot run everything in its time puts its targets into three rows:

- near: at most two targets lie between it and a changed file.
- reached: it depends on a changed file.
- others: it depends on none.

Unit tests run row after row until their time is over. Another stage says how
many targets of each row it runs at most. Where a row has more, they take turns:
the turn moves on by one with every commit. Runs that are several commits apart
may meet the same turn again. A stage whose time is over before it has run them
all has run the same share of each row.
"""

import collections
import pathlib
import subprocess

from tools.ci.bazel import ROOT

Row = collections.namedtuple('Row', 'near reached others')
Changed = collections.namedtuple('Changed', 'labels packages everything')

# Commits so long before the newest one are of the same piece of work.
_WORK_H = 4
# A fuzzer of a codec has its full time in one of so many commits. The turns of
# a row share no factor with this number. If they did, the commits in which a
# fuzzer runs might never be those in which it has its full time.
FUZZ_TURNS = 5
# Where targets run in order, each commit begins so many places after the commit
# before it.
_STRIDE = 61
# Edges from a target to a file. A test depends on a library, which has the
# file; between a fuzzer and its library lies its entry.
_NEAR = 3
# Every target depends on these.
_EVERYWHERE = ('.bazelrc', 'WORKSPACE', 'tools/bazel/', 'third_party/')
# A fuzzer's seeds lie in a folder of its name, which no BUILD file mentions.
_CORPUS = 'tests/fuzz/corpus/'


def _git(*arguments):
    """The lines that git prints; none when it fails, as in an archive."""
    done = subprocess.run(
        ['git', '-c', f'safe.directory={ROOT}', *arguments], cwd=ROOT,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.split('\n') if done.returncode == 0 else []


def commits():
    """How many commits there are."""
    counted = [line for line in _git('rev-list', '--count', 'HEAD') if line]
    return int(counted[0]) if counted else 0


def changed_files():
    """Paths that the newest work changed; None when that is not known."""
    newest = [line for line in _git('log', '-1', '--format=%ct') if line]
    if not newest:
        return None
    before = int(newest[0]) - _WORK_H * 3600
    base = [line for line in _git('rev-list', '-1', f'--before={before}',
                                  'HEAD') if line]
    if not base:
        return None
    return [line for line in _git('diff', '--name-only', base[0], 'HEAD')
            if line]


def changed(files, root=ROOT):
    """Labels of the files, packages in which any target may have changed (their
    BUILD file did, or they lost a file), and whether a file is everybody's."""
    labels, packages, everything = set(), set(), False
    for file in files:
        everything = everything or file.startswith(_EVERYWHERE)
        if file.startswith(_CORPUS):
            name = file[len(_CORPUS):].split('/')[0]
            labels.add(f'//tests/fuzz:{name}')
            continue
        folder = pathlib.PurePosixPath(file).parent
        while str(folder) != '.' and not (root / folder / 'BUILD').exists():
            folder = folder.parent
        if str(folder) == '.':
            continue
        within = pathlib.PurePosixPath(file).relative_to(folder)
        if str(within) == 'BUILD' or not (root / file).exists():
            packages.add(f'//{folder}')
        else:
            labels.add(f'//{folder}:{within}')
    return Changed(labels, packages, everything)


def turn_of(targets, turn, turns):
    """The share of `targets` whose turn it is; all have one within `turns`."""
    return sorted(targets)[turn % turns::turns]


def rows(bazel, targets, what):
    """The Row of `targets` after `what` changed."""
    universe = f'set({" ".join(targets)})'
    near, reached = set(), set(targets) if what.everything else set()
    if what.labels:
        labels = f'set({" ".join(sorted(what.labels))})'
        near |= set(bazel.query(f'rdeps({universe}, {labels}, {_NEAR})'))
        reached |= set(bazel.query(f'rdeps({universe}, {labels})'))
    if what.packages:
        all_of = ' '.join(f'{name}:all' for name in sorted(what.packages))
        reached |= set(bazel.query(f'rdeps({universe}, set({all_of}), 1)'))
    near &= set(targets)
    reached = reached & set(targets) - near
    return Row(sorted(near), sorted(reached),
               sorted(set(targets) - near - reached))


def turns(count, most):
    """In so many commits `count` targets have a turn, at most `most` in one."""
    least = -(-count // most) or 1
    return least + 1 if least % FUZZ_TURNS == 0 else least


def share(row, turn, most):
    """The Row of those that run at `turn`, at most so many of each."""
    return type(row)(*(turn_of(targets, turn, turns(len(targets), bound))
                       for targets, bound in zip(row, most)))


def in_order(bazel, targets):
    """All `targets`: those near a change first and those that depend on none
    last. Each commit begins elsewhere in each row, so that what comes last at
    one comes earlier at another."""
    files = changed_files()
    if files is None or not targets:
        return sorted(targets)
    turn = commits()
    return sum((_turned(row, turn) for row in
                rows(bazel, targets, changed(files))), [])


def _turned(row, turn):
    begin = turn * _STRIDE % len(row) if row else 0
    return row[begin:] + row[:begin]


def chosen(bazel, targets, most, say):
    """What a full run tries of `targets`, mixed, and says how much that is."""
    files = changed_files()
    if files is None or not targets:
        return targets
    row = rows(bazel, targets, changed(files))
    turn = share(row, commits(), most)
    say(f'{sum(map(len, turn))} of {len(targets)} targets: ' + ', '.join(
        f'{len(mine)} of {len(all_of)} {what}' for mine, all_of, what in zip(
            turn, row, ('near a changed file', 'more that depend on one',
                        'others'))))
    return mixed(turn)


def mixed(lists):
    """All that `lists` have, each list in its order. Every beginning has about
    the same share of each."""
    placed = [((i + 0.5) / len(some), target) for some in lists
              for i, target in enumerate(some)]
    return [target for _, target in sorted(placed)]
