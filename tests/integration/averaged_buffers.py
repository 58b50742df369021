"""Running statistics of BatchNorm on two islands: part of `programs`.

What the replicas wrote and read is in files that the program keeps, and the
anchors are in checkpoints. So both can be compared here, in doubles.
"""

import glob
import itertools
import json
import math
import os
import struct
import subprocess

from local_cluster import checks
from local_cluster.progress import Progress

_HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(os.path.dirname(_HERE), 'attach', 'programs',
                       'batch_norm.py')
_BATCH, _TAU, _ROUNDS = 16, 8, 24
# The job lasts long enough for a kill in its middle.
_STEP_S = 0.02
_MEAN, _VARIANCE = '1.running_mean', '1.running_var'
# What fp32 makes of a weighted sum and its division.
_ROUNDING = 1e-5


def _job(name, rounds, record):
    samples = 2 * _BATCH * _TAU * rounds
    return {
        'name': name,
        'model': {'program': {'name': 'norm', 'parameters': {
            'record': record, 'step_s': _STEP_S}}, 'seed': 7},
        'data': {'id': 'pictures', 'samples': 512, 'seed': 3},
        'training': {'samples': samples, 'batch_samples': _BATCH, 'tau': _TAU,
                     'evaluate_every': 6},
        'outer': {'method': 'diloco'},
        # A replica waits for the one whose program was killed: alone it would
        # end the job before Python starts.
        'exchange': {'codec': 'int8_block', 'min_replicas': 2},
        'placement': {'workers_min': 2}}


def _records(record, name):
    """[[line, ...], ...]: what each process of a job has noted, the eldest
    first."""
    found = []
    for path in sorted(glob.glob(f'{record}/{name}-*')):
        with open(path, encoding='utf-8') as file:
            found.append([json.loads(line) for line in file
                          if line.endswith('\n')])
    return found


def _flat(buffers):
    return [*buffers[_MEAN], *buffers[_VARIANCE]]


def _tensors(path):
    """{name: values} of the fp32 tensors of a safetensors file."""
    with open(path, 'rb') as file:
        size, = struct.unpack('<Q', file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    header.pop('__metadata__', None)
    return {name: [value for value, in struct.iter_unpack(
        '<f', data[slice(*one['data_offsets'])])]
            for name, one in header.items()}


def _anchors(checkpoints):
    """The buffers in each checkpoint, the newest last."""
    folders = sorted(glob.glob(f'{checkpoints}/checkpoint-*'),
                     key=lambda path: int(path.rsplit('-', 1)[1]))
    return [_flat(_tensors(f'{folder}/model.safetensors'))
            for folder in folders]


def _close(values, others):
    return all(abs(a - b) <= _ROUNDING * (1 + abs(b))
               for a, b in zip(values, others))


def _offers(processes):
    """By process, (samples, values) of what it has contributed."""
    return [[(line['samples'], _flat(line['buffers'])) for line in process
             if line['kind'] == 'out' and line['samples']]
            for process in processes]


def _is_mean(values, processes):
    """Whether the values are those of one contribution, or the weighted mean of
    two of different processes."""
    offers = _offers(processes)
    if any(_close(values, one) for some in offers for _, one in some):
        return True
    for some, others in itertools.combinations(offers, 2):
        for (w, a), (v, b) in itertools.product(some, others):
            mean = [(w * x + v * y) / (w + v) for x, y in zip(a, b)]
            if _close(values, mean):
                return True
    return False


def _train(cluster, spec, kill):
    """Runs the job, with a kill of a rank if there is one."""
    cluster.submit(spec)
    progress = Progress(cluster, spec['name'], _ROUNDS, None,
                        stuck_after_s=120)
    if kill is not None:
        progress.at(0.4, 'rank', kill)
    progress.wait()


def running_statistics(cases, cluster, python, kill):
    """A job with a kill, its export, and a job that goes on from it.

    kill: ends the rank of one island.
    """
    record = os.path.join(cluster.directory, 'norm-record')
    os.makedirs(record)
    checkpoints = os.path.join(cluster.directory, 'norm-checkpoints')
    spec = _job('norm', _ROUNDS, record)
    spec['checkpoint'] = {'directory': checkpoints, 'every': 1, 'keep': 100}
    _train(cluster, spec, kill)
    view = checks.end_of_job(cases, cluster, 'norm')
    processes, anchors = _records(record, 'norm'), _anchors(checkpoints)
    lowest = min(min(one[len(one) // 2:]) for one in anchors)
    cases.check('no variance of an anchor is negative', lowest >= 0,
                f'{len(anchors)} checkpoints, the least is {lowest:.4g}')
    unknown = [at for at, one in enumerate(anchors)
               if not _is_mean(one, processes)]
    cases.check("each anchor is the weighted mean of replicas' values",
                len(anchors) > 4 and not unknown,
                f'{len(anchors)} checkpoints, not so {unknown}')
    begun = [_flat(next(line['buffers'] for line in process
                        if line['kind'] == 'in')) for process in processes]
    cases.check('a program that was killed begins with the mean again',
                len(processes) == 3 and _is_mean(begun[-1], processes),
                f'{len(processes)} processes')
    losses = [point['validation_loss'] for point in view['losses']
              if 'validation_loss' in point]
    cases.check('the loss in eval() is a number, and falls',
                losses and all(map(math.isfinite, losses))
                and losses[-1] < math.log(4), str(losses))
    _exported(cases, cluster, python, checkpoints, anchors[-1])
    _goes_on(cases, cluster, record, checkpoints, anchors[-1])


def _exported(cases, cluster, python, checkpoints, newest):
    folder = os.path.join(cluster.directory, 'norm-model')
    cluster.ctl.run('checkpoint', 'export', checkpoints, '--out', folder)
    weights = os.path.join(folder, 'model.safetensors')
    tensors = _tensors(weights)
    cases.check('an export has the statistics of the newest checkpoint',
                [*tensors.get(_MEAN, []), *tensors.get(_VARIANCE, [])]
                == newest, str(sorted(tensors)))
    done = subprocess.run([python, PROGRAM, weights], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    cases.check('PyTorch loads it, with a loss in eval() below chance',
                done.returncode == 0 and float(done.stdout) < math.log(4),
                done.stdout[-400:])


def _goes_on(cases, cluster, record, checkpoints, newest):
    spec = _job('further', 4, record)
    spec['model']['checkpoint'] = {'path': checkpoints, 'name': 'newest',
                                   'samples': 'anew'}
    _train(cluster, spec, None)
    checks.end_of_job(cases, cluster, 'further')
    begun = [_flat(next(line['buffers'] for line in process
                        if line['kind'] == 'in'))
             for process in _records(record, 'further')]
    cases.check('a job that starts from a checkpoint has its statistics',
                len(begun) == 2 and all(one == newest for one in begun),
                f'{len(begun)} processes')
