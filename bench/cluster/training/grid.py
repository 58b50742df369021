"""The cells of the grid: what each trains, and the key by which it is known."""

import collections
import json

from bench.cluster.training import methods
from tools.local_cluster import job

LAYERS, WIDTH, HEADS, CONTEXT = 2, 64, 4, 64
# Samples of an inner step, of all replicas together.
GLOBAL_BATCH = 48
# 2.95 million tokens: 80 rounds of 12 steps, 20 of 48, 5 of 192.
STEPS, STEPS_QUICK = 960, 192
REPLICAS = (1, 2, 4, 8)
TAUS = (12, 48, 192)
OPTIMIZERS = ('adamw', 'muon')
RATES = (4e-3, 8e-3, 1.6e-2)
SEEDS = (1, 2, 3)
SCRATCH, TRAINED = 'scratch', 'trained'
STARTS = (SCRATCH, TRAINED)
# The tau of a single replica that averages with nobody. It has no effect but
# that of rounding.
_ALONE_TAU = 12
# The seed and the rate of the job that makes the checkpoint to go on from. Its
# seed is none of the cells', so that they have another order of samples.
TRAINED_SEED, TRAINED_RATE = 1000, 4e-3
_EVALUATE_STEPS, _EVALUATE_SAMPLES = 120, 128

# exchange: the share of a round that an exchange takes over emulated links; 0
# for a method that waits for its exchange, and where no link is emulated.
Cell = collections.namedtuple(
    'Cell', 'method setting replicas tau optimizer rate seed start exchange '
    'steps')

Axes = collections.namedtuple(
    'Axes', 'methods replicas taus optimizers rates seeds starts exchange '
    'steps')


def _places(axes, method):
    """(replicas, tau, name, Setting) of a method, each pair once."""
    if method == methods.SYNCHRONOUS:
        pairs = [(1, _ALONE_TAU)]
    else:
        pairs = [(replicas, tau) for tau in axes.taus
                 for replicas in axes.replicas]
    for replicas, tau in pairs:
        # One replica that averages with nobody is the synchronous run.
        if method == 'local_sgd' and replicas == 1:
            continue
        for name, setting in methods.settings(method, replicas).items():
            yield replicas, tau, name, setting


def cells(axes):
    """All cells in the order in which they are trained: a whole grid of one
    seed first, in it the synchronous runs, and then short rounds and few
    replicas."""
    found = []
    for seed in axes.seeds:
        for start in axes.starts:
            for optimizer in axes.optimizers:
                for method in axes.methods:
                    for replicas, tau, name, setting in _places(axes, method):
                        if optimizer not in setting.optimizers:
                            continue
                        share = (axes.exchange if methods.delayed(setting)
                                 and replicas > 1 else 0.0)
                        found += [Cell(method, name, replicas, tau, optimizer,
                                       rate, seed, start, share, axes.steps)
                                  for rate in axes.rates]
    return sorted(found, key=lambda cell: (
        cell.seed, cell.method != methods.SYNCHRONOUS, cell.tau,
        cell.replicas))


def setting(cell):
    return methods.settings(cell.method, cell.replicas)[cell.setting]


def _training(cell):
    return {'optimizer': cell.optimizer,
            'evaluate_every': max(1, _EVALUATE_STEPS // cell.tau),
            'evaluate_samples': _EVALUATE_SAMPLES}


def spec(cell, data, checkpoint=None):
    """The content of the cell's job file.

    data: the folder of the data set. checkpoint: the folder of the checkpoint
    that the job goes on from, for a cell that does not start from scratch.
    """
    chosen = setting(cell)
    made = job.job(
        f'{cell.method.replace("_", "-")}-{cell.replicas}', data,
        job.gpt2_config(LAYERS, WIDTH, HEADS, CONTEXT),
        GLOBAL_BATCH * cell.steps, GLOBAL_BATCH // cell.replicas, cell.tau,
        seed=cell.seed, learning_rate=cell.rate, workers_min=cell.replicas,
        **_training(cell))
    made['outer'], made['exchange'] = chosen.outer, chosen.exchange
    if cell.start == TRAINED:
        made['model']['checkpoint'] = {
            'path': checkpoint, 'name': 'newest', 'samples': 'anew'}
    return made


def trained_spec(steps, data, directory):
    """The job of one replica that makes the checkpoint to go on from."""
    alone = Cell(methods.SYNCHRONOUS, 'preset', 1, _ALONE_TAU, OPTIMIZERS[0],
                 TRAINED_RATE, TRAINED_SEED, SCRATCH, 0.0, steps)
    made = spec(alone, data)
    made['name'] = 'trained'
    # Only the last state is wanted, which is saved whatever this is.
    made['checkpoint'] = {'directory': directory,
                          'every': steps // _ALONE_TAU, 'keep': 1}
    return made


def facts(cell):
    """All that determines the cell's result, but for the programs and the
    machine: the cell, and its job without names of folders."""
    made = spec(cell, 'bible-kjv', TRAINED)
    del made['name']
    found = {'cell': cell._asdict(), 'job': made}
    if cell.start == TRAINED:
        found['trained'] = trained_spec(cell.steps, 'bible-kjv', TRAINED)
    return found


def key(found):
    """The key of facts(), as they are or as they were read from a file."""
    return json.dumps({name: found.get(name)
                       for name in ('cell', 'job', 'trained')},
                      sort_keys=True)
