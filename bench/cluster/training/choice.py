"""Which rate and which setting of a method are best, and how good they are."""

import collections
import math
import statistics

from bench.cluster.training import grid
from bench.cluster.training import methods
from bench.cluster.training import results

# Cells that are compared with each other differ in rate, setting and seed.
Group = collections.namedtuple(
    'Group', 'optimizer start steps exchange tau method replicas')

# losses: {seed: loss} at the best rate and setting. ratios: {seed: the loss
# over that of the synchronous run of the seed, at its best rate}. late_steps:
# of all looks at these cells. rates: those that were tried. failed: (status,
# rate, setting, seed, reason) of each cell of the group without a loss. by: the
# seeds that decided.
Best = collections.namedtuple(
    'Best', 'rate setting losses ratios late_steps rates failed by')


def _loss(record):
    return (record['loss'] if record['status'] == results.DONE else math.inf)


def group_of(cell):
    """The cell's group. Methods that wait for their exchange are in the same
    group whatever it takes."""
    waits = not methods.delayed(grid.setting(cell))
    alone = cell.method == methods.SYNCHRONOUS
    return Group(cell.optimizer, cell.start, cell.steps,
                 None if waits or cell.replicas == 1 else cell.exchange,
                 None if alone else cell.tau, cell.method, cell.replicas)


def _seeds_in_common(losses_of):
    """The seeds that all candidates have; if there is none, all seeds."""
    found = [set(losses) for losses in losses_of.values()]
    return set.intersection(*found) or set.union(*found)


def _pick(losses_of):
    """The (rate, setting) whose median over the seeds that all have is least,
    of equals the first, and these seeds."""
    seeds = _seeds_in_common(losses_of)

    def median(candidate):
        found = [loss for seed, loss in losses_of[candidate].items()
                 if seed in seeds]
        return statistics.median(found) if found else math.inf
    return min(sorted(losses_of), key=median), seeds


def _of_group(members):
    """The Best of [(cell, record)], without ratios."""
    losses_of, late, failed = {}, {}, []
    for cell, record in members:
        at = (cell.rate, cell.setting)
        if record['status'] in (results.DONE, results.DIVERGED):
            losses_of.setdefault(at, {})[cell.seed] = _loss(record)
            late.setdefault(at, []).extend(record.get('late_steps', []))
        if record['status'] != results.DONE:
            failed.append((record['status'], *at, cell.seed, record['reason']))
    rates = sorted({cell.rate for cell, _ in members})
    if not losses_of:
        return Best(None, None, {}, {}, [], rates, failed, set())
    picked, seeds = _pick(losses_of)
    return Best(*picked, dict(sorted(losses_of[picked].items())), {},
                late[picked], rates, failed, seeds)


def best(records):
    """{Group: Best} of all records of a results file."""
    members = {}
    for record in records.values():
        cell = grid.Cell(**record['cell'])
        members.setdefault(group_of(cell), []).append((cell, record))
    found = {group: _of_group(cells) for group, cells in members.items()}
    for group, one in found.items():
        alone = found.get(Group(group.optimizer, group.start, group.steps, None,
                                None, methods.SYNCHRONOUS, 1))
        if alone and group.method != methods.SYNCHRONOUS:
            found[group] = one._replace(ratios={
                seed: loss / alone.losses[seed]
                for seed, loss in one.losses.items() if seed in alone.losses})
    return found


def at_edge(one):
    """Whether a rate beyond those that were tried may be better: then the best
    is the least or the greatest of them."""
    return one.rate in (one.rates[0], one.rates[-1])
