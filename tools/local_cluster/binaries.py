"""The programs, built and laid side by side as an installation has them."""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

# What an installation has.
PROGRAMS = {
    'skerry-coordinator': '//coordinator/main:skerry-coordinator',
    'skerry-worker': '//worker/main:skerry-worker',
    'skerry-trainer': '//trainer/main:skerry-trainer',
    'skerry-attach': '//trainer/attach/main:skerry-attach',
    'skerry-sentencepiece': '//data/sentencepiece/main:skerry-sentencepiece',
    'skerryctl': '//cli:skerryctl',
}
# Emulates links where a local cluster asks for them.
_RELAY = {'relay': '//tests/netem:relay'}


def build(directory, more=None):
    """Builds what a local cluster needs and copies it to `directory`.

    `more` are targets by name that are wanted beside it.
    """
    return build_targets({**PROGRAMS, **_RELAY, **(more or {})}, directory)


def build_targets(targets, directory):
    """Builds `targets`, labels by name, and copies them to `directory`."""
    command = ['bazel', 'build', '--show_result=0', '--noshow_loading_progress']
    if not sys.stderr.isatty():
        command += ['--color=no', '--curses=no', '--noshow_progress',
                    '--ui_event_filters=-info']
    subprocess.run([*command, *targets.values()], cwd=ROOT, check=True)
    found = subprocess.run(['bazel', 'info', 'bazel-bin'], cwd=ROOT,
                           check=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    output = found.stdout.strip()
    sources = {}
    for name, target in targets.items():
        package, binary = target[2:].split(':')
        sources[name] = os.path.join(output, package, binary)
    return _lay(sources, directory)


def lacking(directory, more=None):
    """The names of those programs, of an installation and of `more`, that the
    folder has not."""
    return sorted(name for name in {**PROGRAMS, **(more or {})}
                  if not os.path.exists(os.path.join(directory, name)))


def copy(programs, directory):
    """Copies an installation's programs from the folder `programs`."""
    return _lay({name: os.path.join(programs, name) for name in PROGRAMS},
                directory)


def _lay(sources, directory):
    os.makedirs(directory, exist_ok=True)
    for name, source in sources.items():
        laid = os.path.join(directory, name)
        # A new file and a rename, so that a running program is not touched.
        shutil.copy2(source, laid + '.new')
        os.chmod(laid + '.new', 0o755)
        os.replace(laid + '.new', laid)
    return directory
