"""What exchanges of a cluster take: a job whose workers send each other all
that its PyTorch program has, uncoded, and the times in the workers' logs.

An exchange has these parts. The contributions are encoded; the owners have
encoded their sums; all that is sent has come; the result is durable, which it
has to be before it is reported; the worker hears of the commit.
"""

import json
import os
import re
import subprocess
import tempfile
import time

from local_cluster import checks
from local_cluster import logs
from local_cluster import suite

_HERE = os.path.dirname(os.path.abspath(__file__))
_PROGRAM = os.path.join(_HERE, 'programs', 'elsewhere.py')
_GLOO = os.path.join(_HERE, 'programs', 'gloo.py')
# The first ones start connections and make files grow.
_SKIPPED = 2
_LIMIT_S = 300
_BATCH, _TAU, _STEP_S = 8, 2, 0.1
# How far an exchange is, as a worker's log says it, and the part that ends
# there.
STEPS = {'contributions are encoded': 'encode',
         'sums are encoded': 'first_hop_and_sum',
         'the result is whole': 'last_hop_and_decode',
         'the result is stored': 'store',
         'end': 'report_and_commit'}
_OPENED = re.compile(r'attempt (\d+) of sequence')
_STEP = re.compile(r'attempt (\d+): (.*)')
_TICKS = os.sysconf('SC_CLK_TCK')


def exchanges_of(entries):
    """{attempt: [(what it came to, seconds since 1970)]}, in the order of
    time. An exchange ends where the worker begins to apply its result."""
    found, attempt = {}, None
    for entry in entries:
        if entry.get('event') != 'worker.seat':
            continue
        what, at = str(entry.get('what', '')), logs.seconds(entry)
        if opened := _OPENED.match(what):
            attempt = int(opened.group(1))
            found[attempt] = [('opened', at)]
        elif step := _STEP.match(what):
            if int(step.group(1)) in found and step.group(2) in STEPS:
                found[int(step.group(1))].append((step.group(2), at))
        elif what.startswith('phase apply') and attempt is not None:
            found[attempt].append(('end', at))
            attempt = None
    return found


def parts_of(steps):
    """Seconds of each part of one exchange."""
    parts, last = dict.fromkeys(STEPS.values(), 0.0), steps[0][1]
    for what, at in steps[1:]:
        parts[STEPS[what]] += at - last
        last = at
    parts['whole'] = last - steps[0][1]
    return parts


def cpu_s(pid):
    """CPU time of a process and of its threads."""
    with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def gloo(pythons, values, times):
    """[(seconds, CPU seconds of all)] of averages of `values` by Gloo.
    `pythons` is the command of each rank's interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen(
            [*python, _GLOO, str(rank), str(len(pythons)),
             os.path.join(folder, 'meet'), str(values), str(times)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
                 for rank, python in enumerate(pythons)]
        said = [one.communicate(timeout=_LIMIT_S)[0] for one in ranks]
    if any(one.returncode for one in ranks):
        raise RuntimeError('Gloo failed')
    averages = list(zip(*[[json.loads(line) for line in text.splitlines()]
                          for text in said]))[_SKIPPED:]
    return [(max(one['took_s'] for one in ranks),
             sum(one['cpu_s'] for one in ranks)) for ranks in averages]


def flags(python):
    """What workers need for Exchanges."""
    return ('--log-level', 'debug', '--python', python, '--program',
            f'elsewhere={_PROGRAM}')


class Exchanges:
    """Of the jobs of one cluster. `broken` has the cases that failed at the
    ends of jobs."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._jobs = 0
        self.broken = []

    def _job(self, name, values, rounds):
        workers = len(self._cluster.workers)
        return {
            'name': name,
            'model': {'program': {'name': 'elsewhere', 'parameters': {
                'values': values, 'samples': 1 << 20,
                'batch_samples': _BATCH, 'step_s': _STEP_S}}, 'seed': 1},
            'data': {'id': 'positions', 'samples': 1 << 20, 'seed': 1},
            'training': {'samples': workers * _BATCH * _TAU * rounds,
                         'batch_samples': _BATCH, 'tau': _TAU},
            'outer': {'method': 'OUTER_METHOD_LOCAL_SGD'},
            'exchange': {'codec': 'raw_f32'},
            'placement': {'workers_min': workers}}

    def run(self, values, rounds):
        """The parts of each exchange of one job, of the worker in which it
        took longest, and CPU seconds of all workers for each exchange."""
        self._jobs += 1
        name = f'job-{self._jobs}'
        paths = {worker.name: os.path.join(
            self._cluster.directory, 'logs', worker.name + '.log')
                 for worker in self._cluster.workers}
        before = {at: len(logs.read(path)) for at, path in paths.items()}
        pids = [worker.daemon.pid for worker in self._cluster.workers]
        spent = sum(map(cpu_s, pids))
        self._cluster.submit(self._job(name, values, rounds))
        deadline = time.monotonic() + _LIMIT_S
        while (self._cluster.ctl.job(name) or {}).get(
                'phase') != 'JOB_PHASE_SUCCEEDED':
            if time.monotonic() > deadline:
                raise RuntimeError(f'{name} did not end')
            time.sleep(0.05)
        spent = sum(map(cpu_s, pids)) - spent
        cases = suite.Cases()
        checks.end_of_job(cases, self._cluster, name)
        self.broken += cases.failed
        by_worker = [exchanges_of(logs.read(path)[before[at]:])
                     for at, path in paths.items()]
        parts = []
        common = sorted(set.intersection(*map(set, by_worker)))
        for attempt in common[_SKIPPED:]:
            both = [one[attempt] for one in by_worker]
            # The last one is not applied by a round.
            if all(steps[-1][0] == 'end' for steps in both):
                parts.append(max(map(parts_of, both),
                                 key=lambda one: one['whole']))
        return parts, spent / rounds
