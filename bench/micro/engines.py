"""Engines that train one model, each in a process of its own, for benches.

An engine is a program like engine_steps: it takes a model's shape, a number of
threads and whether products are in bf16, does one step, prints a line of facts,
and then, for each number it reads, the seconds that so many steps took.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import venv

_HERE = pathlib.Path(__file__).parent
ROOT = _HERE.parents[1]
sys.path.insert(0, str(ROOT))

from tools.ci.bazel import Bazel  # noqa: E402

_LLMC = 'https://github.com/karpathy/llm.c'
# What llm.c's Makefile compiles its CPU trainer with.
_LLMC_FLAGS = ['-Ofast', '-march=native', '-fopenmp', '-DOMP',
               '-Wno-unused-result', '-Wno-ignored-pragmas',
               '-Wno-unknown-attributes']

SMALL = dict(vocab=4096, width=256, layers=8, heads=8)
GPT2 = dict(vocab=50257, width=768, layers=12, heads=12)
SHAPES = {
    '7M/T256': dict(SMALL, columns=256, rows=8),
    '7M/T1024': dict(SMALL, columns=1024, rows=2),
    '124M/T1024': dict(GPT2, columns=1024, rows=1),
}

Case = collections.namedtuple('Case', 'name shape threads bf16')


class Engine:
    """One engine in a process of its own, with one step done.

    It may use the first `processors` of this process's processors; by default
    as many as it has threads.
    """

    def __init__(self, name, command, case, processors=None):
        shape = [word for key, value in case.shape.items()
                 for word in ('--' + key, str(value))]
        allowed = sorted(os.sched_getaffinity(0))[:processors or case.threads]
        environment = {**os.environ, 'OMP_NUM_THREADS': str(case.threads)}
        self.name, self.seconds = name, []
        self.tokens = case.shape['rows'] * case.shape['columns']
        self._process = subprocess.Popen(
            [*command, '--threads', str(case.threads), '--bf16',
             str(case.bf16), *shape],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, allowed))
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f'{name} ended with {self._process.wait()}')
        self.facts = json.loads(line)
        print(f'{case.name} {name}: ready', flush=True)

    def begin(self, steps):
        self._process.stdin.write(f'{steps}\n')
        self._process.stdin.flush()

    def end(self):
        """The seconds that all the steps took."""
        return float(self._process.stdout.readline())

    def time(self, steps):
        """The seconds of a step."""
        self.begin(steps)
        return self.end() / steps

    def peak_memory(self):
        status = pathlib.Path(f'/proc/{self._process.pid}/status').read_text()
        line = next(l for l in status.splitlines() if l.startswith('VmHWM'))
        return int(line.split()[1]) * 1024

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def torch_command(python, way):
    """`way` is eager, fused or compiled."""
    return [python, '-B', _HERE / 'torch_steps.py', '--attention', way]


def install_torch(folder):
    """The interpreter that has PyTorch, or None."""
    venv.create(folder, with_pip=True)
    python = os.path.join(folder, 'bin', 'python')
    done = subprocess.run([python, '-m', 'pip', 'install', '--quiet', 'torch',
                           'numpy'], check=False, stdout=sys.stderr)
    return python if done.returncode == 0 else None


def fetch_llmc(folder):
    """A checkout of llm.c, or None."""
    done = subprocess.run(['git', 'clone', '--quiet', '--depth', '1', _LLMC,
                           folder], check=False, stdout=sys.stderr,
                          env={**os.environ, 'GIT_TERMINAL_PROMPT': '0'})
    return folder if done.returncode == 0 else None


def build_llmc(checkout, program):
    """`program`, made with gcc of `checkout` and llmc_steps.c, or None."""
    done = subprocess.run(
        ['gcc', *_LLMC_FLAGS, '-I', checkout, _HERE / 'llmc_steps.c', '-lm',
         '-o', program], check=False, stdout=sys.stderr)
    return program if done.returncode == 0 else None


def build(targets):
    """The programs of `targets`, or None."""
    bazel = Bazel()
    if not bazel.build(targets):
        return None
    return [str(bazel.binary(target)) for target in targets]
