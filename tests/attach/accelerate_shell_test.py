"""Accelerate, attached."""

import os
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import accelerate  # noqa: E402
import shell_cases  # noqa: E402
import skerry  # noqa: E402
import torch  # noqa: E402
from accelerate.utils import DistributedType  # noqa: E402
from shell_cases import positions  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402


def numbers():
    x = torch.randn(96, 6, generator=torch.Generator().manual_seed(1))
    return TensorDataset(torch.arange(96), x, x.sum(1, keepdim=True))


class Loop:
    """A loop as Accelerate's pages write it."""

    def __init__(self, batch_size=4, dataset=None, accumulates=2):
        accelerate.state.AcceleratorState._reset_state(True)
        accelerate.state.GradientState._reset_state()
        self.accelerator = accelerate.Accelerator(
            cpu=True, gradient_accumulation_steps=accumulates)
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(),
                                    torch.nn.Linear(8, 1))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        self.loader = DataLoader(dataset or numbers(), batch_size)
        self.model, self.optimizer, self.loader, self.scheduler = (
            self.accelerator.prepare(
                model, optimizer, self.loader,
                torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)))
        self.seen, self.rates = [], []

    def attached(self):
        run = skerry.accelerate.attach(self.accelerator, self.model,
                                       self.optimizer, self.scheduler)
        self.train(run.batches(self.loader), run)
        self.train(run.batches(self.loader), run)  # a second epoch

    def train(self, batches, run=None):
        for index, x, y in batches:
            self.seen += index.tolist()
            with self.accelerator.accumulate(self.model):
                loss = functional.mse_loss(self.model(x), y)
                self.accelerator.backward(loss)
                if self.accelerator.sync_gradients:
                    self.accelerator.clip_grad_norm_(self.model.parameters(),
                                                     1.0)
                    self.rates.append(self.scheduler.get_last_lr()[0])
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad()
            if run:
                run.log(loss=loss)
        return self


def attached(found, *bodies, job=None, **options):
    """The Loop, after it has trained."""
    made = []

    def main():
        made.append(Loop(**options))
        made[0].attached()
    shell_cases.run(main, shell_cases.script(found, *bodies),
                    **{'samples': 96, **(job or {})})
    return made[0]


class AccelerateTest(unittest.TestCase):
    def test_it_trains_as_it_does_alone_bit_for_bit(self):
        found = []
        made = attached(found, *positions(0, 32, 56, 96))
        dataset = shell_cases.in_order(numbers(), 0, 96)
        plain = Loop(dataset=dataset)
        plain.train(plain.loader)
        self.assertEqual(made.seen, plain.seen)
        self.assertEqual(made.rates, plain.rates)
        self.assertEqual(len(set(made.rates)), 12)
        self.assertTrue(torch.equal(found[-1],
                                    shell_cases.values(plain.model)))
        self.assertEqual([one['innerSteps'] for one in found[1:-1]],
                         ['4', '3', '5'])
        self.assertFalse(found[1]['noLoss'])

    def test_a_short_step_comes_in_as_many_batches(self):
        found = []
        made = attached(found, *positions(0, 19), *positions(24, 32),
                        job={'samples': 91})
        self.assertEqual([one['samples'] for one in found[1:3]], ['19', '8'])
        self.assertEqual(len(made.rates), 4)

    def test_what_it_cannot_do_is_refused(self):
        for words, job, options in (
                ('Accelerate takes 4 samples x 2 batches x 1 processes = 8 '
                 'samples a step, and the job says training.batch_samples: 12',
                 {'batch_samples': 12}, {}),
                ('last step would have 2 samples for 4 batches',
                 {'samples': 90}, {'batch_size': 2, 'accumulates': 4}),
                ('has 1 processes', {'world': 2}, {})):
            with self.assertRaisesRegex(ValueError, words):
                attached([], job=job, **options)
        with self.assertRaisesRegex(ValueError, 'and not FSDP'):
            shell_cases.run(
                lambda: skerry.accelerate.attach(types.SimpleNamespace(
                    distributed_type=DistributedType.FSDP), None, None),
                shell_cases.script([]))

    def test_schedulers_count_the_batches_of_all_processes(self):
        from skerry.shells import accelerate as shell
        rates = []
        for processes, split in ((1, False), (3, False), (3, True)):
            optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
            scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0,
                                                          10)
            shell._step_as_accelerate_does(types.SimpleNamespace(
                split_batches=split, num_processes=processes), scheduler)
            optimizer.step()
            scheduler.step()
            rates.append(round(optimizer.param_groups[0]['lr'], 6))
        self.assertEqual(rates, [0.9, 0.7, 0.9])

    def test_without_skerry_the_loop_is_as_it_was(self):
        plain = Loop()
        plain.train(plain.loader)
        made = Loop()
        run = skerry.accelerate.attach(made.accelerator, made.model,
                                       made.optimizer, made.scheduler)
        made.train(run.batches(made.loader), run)
        self.assertEqual(made.seen, list(range(96)))
        self.assertTrue(torch.equal(shell_cases.values(made.model),
                                    shell_cases.values(plain.model)))
        self.assertEqual((run.progress, run.samples), (0, 0))

    def test_two_ranks_share_each_step(self):
        with mock.patch.dict(os.environ, {'ACCELERATE_USE_CPU': 'true'}):
            _, losses = shell_cases.attached_values(
                self, 'accelerate', 2048, 64, 16, ranks=2)
        self.assertLess(losses[-1], losses[0])

    def test_the_example_is_attached_as_it_is_alone(self):
        accelerate.state.AcceleratorState._reset_state(True)
        accelerate.state.GradientState._reset_state()
        attached_as, losses = shell_cases.attached_values(
            self, 'accelerate', 2048, 32, 16)
        self.assertLess(losses[-1], losses[0])
        self.assertTrue(torch.equal(
            attached_as,
            shell_cases.alone_values('accelerate', 2048, 32, 16)))


if __name__ == '__main__':
    unittest.main()
