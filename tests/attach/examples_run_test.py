"""The examples train when they are attached, with one rank and with two."""

import importlib.util
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


def program(example):
    return os.path.join(stand_in.ROOT, 'examples', example, 'train.py')


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        self.log = self.enterContext(tempfile.TemporaryFile('w+'))

    def rounds(self, example, samples, batch, tau, count, ranks=1):
        """Trains `count` rounds of one replica. Returns the program, its
        description and the mean losses."""
        started = self.enterContext(StandIn(
            program(example), ranks, self.log, data_samples=samples,
            samples=batch * tau * count, batch_samples=batch, tau=tau))
        described = started.describe()
        anchor = started.snapshot()
        self.assertFalse(any(map(math.isnan, anchor)))
        losses = []
        for begin in range(0, batch * tau * count, batch * tau):
            answers = started.run(begin, begin + batch * tau)
            self.assertEqual([one['samples'] for one in answers],
                             [str(batch * tau // ranks)] * ranks)
            losses.append(sum(one['loss'] for one in answers) / ranks)
            anchor = stand_in.folded(anchor, started.snapshot(), batch * tau)
            started.load(anchor)
        return started, described, losses

    def test_cnn(self):
        started, described, losses = self.rounds('cnn', 4096, 32, 16, 6)
        self.assertEqual(described['epochSamples'], '4096')
        self.assertEqual(described['elementCount'], '10026')
        self.assertLess(losses[-1], 0.6 * losses[0])
        self.assertEqual(started.leave(), [0])

    def test_fsdp2_writes_and_loads_each_value_once(self):
        started, described, losses = self.rounds('fsdp2', 4096, 32, 16, 6,
                                                 ranks=2)
        self.assertEqual(described['capabilities']['ranks'], 2)
        self.assertEqual([one['name'] for one in described['tensors']],
                         [f'{n}.{kind}' for n in (0, 2, 4)
                          for kind in ('weight', 'bias')])
        self.assertLess(losses[-1], 0.9 * losses[0])
        # Rows that two ranks cannot share evenly come back as they were.
        values = [float(at % 977) / 977 for at in range(len(started.memory))]
        values = [stand_in.fp32(one) for one in values]
        started.load(values)
        for at in range(len(started.memory)):
            started.memory[at] = math.nan
        self.assertEqual(started.snapshot(), values)
        # Part loads and snapshots, across tensors and ranks.
        ranges = [{'begin': '100', 'end': '2500'}]
        for at in range(100, 2500):
            started.memory[at] = 2.0
        started.call('Load', ranges=ranges)
        values[100:2500] = [2.0] * 2400
        self.assertEqual(started.snapshot(), values)
        self.assertEqual(started.leave(), [0, 0])

    @unittest.skipUnless(importlib.util.find_spec('transformers'),
                         'transformers is not there')
    def test_lora_exchanges_its_adapters_alone(self):
        started, described, losses = self.rounds('lora', 2048, 16, 8, 3)
        names = [one['name'] for one in described['tensors']]
        self.assertEqual(len(names), 8)
        self.assertTrue(all(name.endswith(('.down', '.up')) for name in names),
                        names)
        self.assertNotEqual(described['layoutHash'], '0')
        self.assertLess(losses[-1], losses[0])
        self.assertEqual(started.leave(), [0])

    def test_describe_prints_what_a_program_trains(self):
        done = subprocess.run(
            [sys.executable, '-m', 'skerry', 'describe', program('cnn'),
             '--batch', '32'], check=True, stdout=subprocess.PIPE,
            stderr=self.log,
            env={**os.environ, 'PYTHONPATH':
                 f'{stand_in.ROOT}/python:{os.environ.get("PYTHONPATH", "")}'})
        said = json.loads(done.stdout)
        self.assertEqual(said['elements'], 10026)
        self.assertEqual(said['samples_per_step'], 32)
        self.assertEqual(said['tensors'][0], {
            'name': '0.weight', 'shape': [16, 1, 3, 3], 'dtype': 'f32',
            'tied': []})
        # Two convolutions and a product, forward and twice backward, but for
        # the gradient of the pictures.
        first, second, last = 16 * 9 * 256, 32 * 16 * 9 * 64, 512 * 10
        self.assertEqual(said['flops_per_sample'],
                         2 * (2 * first + 3 * second + 3 * last))
        self.assertGreater(said['step_s'], 0)
        self.assertGreater(said['peak_memory_bytes'], 1 << 20)


if __name__ == '__main__':
    unittest.main()
