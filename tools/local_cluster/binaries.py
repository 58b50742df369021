"""The programs, built and laid side by side as an installation has them."""

import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

_TARGETS = {
    'skerry-coordinator': '//coordinator/main:skerry-coordinator',
    'skerry-worker': '//worker/main:skerry-worker',
    'skerry-trainer': '//trainer/main:skerry-trainer',
    'skerry-sentencepiece': '//data/sentencepiece/main:skerry-sentencepiece',
    'skerryctl': '//cli:skerryctl',
    'relay': '//tests/netem:relay',
}


def build(directory, quiet=False, more=None):
    """Builds every program and copies it to `directory`.

    `more` are targets by name that are wanted beside them.
    """
    targets = {**_TARGETS, **(more or {})}
    command = ['bazel', 'build', '--color=no', '--curses=no',
               '--noshow_progress', '--ui_event_filters=-info',
               *targets.values()]
    subprocess.run(command, cwd=ROOT, check=True,
                   stderr=subprocess.PIPE if quiet else None)
    found = subprocess.run(['bazel', 'info', 'bazel-bin'], cwd=ROOT,
                           check=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    output = found.stdout.strip()
    os.makedirs(directory, exist_ok=True)
    for name, target in targets.items():
        package, binary = target[2:].split(':')
        source = os.path.join(output, package, binary)
        copy = os.path.join(directory, name)
        # A new file and a rename, so that a running program is not touched.
        shutil.copy2(source, copy + '.new')
        os.chmod(copy + '.new', 0o755)
        os.replace(copy + '.new', copy)
    return directory
