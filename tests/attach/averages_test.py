"""Running statistics of two replicas under DiLoCo: averaged, and given the
outer step."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import stand_in  # noqa: E402
from stand_in import StandIn  # noqa: E402

_BATCH, _TAU, _ROUNDS = 16, 8, 8
_RATE, _MOMENTUM = 0.7, 0.9


class Replicas:
    """Two replicas and the arithmetic of their outer loop, in doubles."""

    def __init__(self, test, averages):
        log = test.enterContext(tempfile.TemporaryFile('w+'))
        self.all = [test.enterContext(StandIn(
            'batch_norm.py', log=log, data_samples=512,
            samples=2 * _ROUNDS * _BATCH * _TAU, batch_samples=_BATCH,
            tau=_TAU)) for _ in range(2)]
        self.described = [one.describe() for one in self.all][0]
        self.begin = int(self.described['averageBegin'])
        # The first element that is averaged here.
        self.averages = self.begin if averages else len(self.all[0].memory)
        self.anchor = self.all[0].snapshot()
        self.all[1].load(self.anchor)
        self.velocity = [0.0] * len(self.anchor)
        self.lives = []

    def round(self, number, weights=(1, 1)):
        at = number * 2 * _BATCH * _TAU
        self.lives = []
        for one, weight in zip(self.all, weights):
            one.run(at, at + _BATCH * _TAU * weight)
            at += _BATCH * _TAU * weight
            self.lives.append(one.snapshot())
        total = sum(weights)
        for i, anchor in enumerate(self.anchor):
            mean = sum(weight * live[i] for weight, live
                       in zip(weights, self.lives)) / total
            if i >= self.averages:
                self.anchor[i] = mean
                continue
            delta = anchor - mean
            self.velocity[i] = _MOMENTUM * self.velocity[i] + delta
            self.anchor[i] -= _RATE * (delta + _MOMENTUM * self.velocity[i])
        for one in self.all:
            one.load(self.anchor)

    def values(self, name):
        """Those of a tensor in the anchor."""
        begin, size = next(
            (int(one['offset']), math.prod(map(int, one['shape'])))
            for one in self.described['tensors'] if one['name'] == name)
        return self.anchor[begin:begin + size]

    def loss(self):
        """The loss in eval(), which takes the root of running_var."""
        return float(self.all[0].call('Evaluate')[0]['loss'])


class AveragesTest(unittest.TestCase):
    def test_the_description_has_them_behind_the_parameters(self):
        described = Replicas(self, averages=True).described
        self.assertEqual(described['averageBegin'], '4096')
        self.assertEqual(described['elementCount'], '4108')
        self.assertEqual(
            [(one['name'], one['offset']) for one in described['tensors']
             if one.get('rule') == 'RULE_AVERAGE'],
            [('1.running_mean', '4096'), ('1.running_var', '4102')])

    def test_describe_counts_them(self):
        done = subprocess.run(
            [sys.executable, '-m', 'skerry', 'describe',
             os.path.join(stand_in.PROGRAMS, 'batch_norm.py'), '--batch', '8'],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, 'PYTHONPATH':
                 f'{stand_in.ROOT}/python:{os.environ.get("PYTHONPATH", "")}'})
        said = json.loads(done.stdout)
        self.assertEqual(said['elements'], sum(
            math.prod(one['shape']) for one in said['tensors']))
        self.assertEqual(said['tensors'][-1]['name'], '1.running_var')

    def test_averaged_statistics_stay_sound_where_the_outer_step_ruins_them(
            self):
        lowest, losses = {}, {}
        for averages in (True, False):
            replicas = Replicas(self, averages)
            lowest[averages] = math.inf
            for number in range(_ROUNDS):
                replicas.round(number)
                lowest[averages] = min(
                    [lowest[averages], *replicas.values('1.running_var')])
            losses[averages] = replicas.loss()
        self.assertGreater(lowest[True], 0)
        self.assertTrue(math.isfinite(losses[True]))
        self.assertLess(losses[True], math.log(4))
        # eval() takes the root of what is below zero there.
        self.assertLess(lowest[False], 0)
        self.assertFalse(losses[False] <= losses[True], losses)

    def test_a_replica_reads_back_what_was_averaged(self):
        replicas = Replicas(self, averages=True)
        replicas.round(0, weights=(1, 2))
        for one in replicas.all:
            for at, value in zip(range(replicas.begin, len(replicas.anchor)),
                                 one.snapshot()[replicas.begin:]):
                self.assertAlmostEqual(value, replicas.anchor[at], 6)
                low, high = sorted(live[at] for live in replicas.lives)
                self.assertGreaterEqual(value, low - 1e-6)
                self.assertLessEqual(value, high + 1e-6)


if __name__ == '__main__':
    unittest.main()
