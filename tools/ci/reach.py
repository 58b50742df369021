"""What the newest commits changed, so that long stages run that and a share.

A stage that cannot run everything in its time runs the targets that stand on
a package that changed, and of the others those whose turn it is. The turn moves
on by one with every commit. Runs that are several commits apart may meet the
same turn again.
"""

import pathlib
import subprocess

from tools.ci.bazel import ROOT

# Commits so long before the newest one are of the same piece of work.
_WORK_H = 4
TURNS = 3
# Every target stands on these.
_EVERYWHERE = ('.bazelrc', 'WORKSPACE', 'tools/bazel/', 'third_party/')


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


def packages_of(files, root=ROOT):
    """The Bazel packages of the files, or None when a file is everybody's."""
    packages = set()
    for file in files:
        if file.startswith(_EVERYWHERE):
            return None
        folder = pathlib.PurePosixPath(file).parent
        while str(folder) != '.' and not (root / folder / 'BUILD').exists():
            folder = folder.parent
        if str(folder) != '.':
            packages.add(f'//{folder}')
    return packages


def turn_of(targets, turn, turns):
    """The share of `targets` whose turn it is; all have one within `turns`."""
    return sorted(targets)[turn % turns::turns]


def share(targets, reached, turn):
    """Those of `targets` in `reached`, and the others whose turn it is."""
    rest = [target for target in targets if target not in reached]
    return sorted(set(targets) & set(reached)) + turn_of(rest, turn, TURNS)


def chosen(bazel, targets, say):
    """What a full run tries of `targets`, and says how much that is."""
    files = changed_files()
    packages = None if files is None else packages_of(files)
    if packages is None or not targets:
        return targets
    reached = []
    if packages:
        changed = ' '.join(f'{package}:all' for package in sorted(packages))
        reached = bazel.query(
            f'rdeps(set({" ".join(targets)}), set({changed}), 1)')
    some = share(targets, reached, commits())
    standing = len(set(reached) & set(targets))
    say(f'{len(some)} of {len(targets)} targets: {standing} stand on what '
        f'changed, and one in {TURNS} of the others has its turn')
    return some
