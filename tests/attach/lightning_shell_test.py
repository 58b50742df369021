"""Lightning, attached."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lightning  # noqa: E402
import shell_cases  # noqa: E402
import skerry  # noqa: E402
import torch  # noqa: E402
from lightning.pytorch import callbacks  # noqa: E402
from shell_cases import positions  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402


def numbers():
    x = torch.randn(96, 6, generator=torch.Generator().manual_seed(1))
    return TensorDataset(torch.arange(96), x, x.sum(1, keepdim=True))


class Sums(lightning.LightningModule):
    def __init__(self, interval='step', manual=False):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        self.automatic_optimization = not manual
        self._interval = interval
        self.seen, self.steps, self.validated = [], None, 0

    def training_step(self, batch, _):
        index, x, y = batch
        self.seen += index.tolist()
        return functional.mse_loss(self.network(x), y)

    def validation_step(self, *_):
        self.validated += 1

    def train_dataloader(self):
        return DataLoader(numbers(), 4, shuffle=True)

    def configure_optimizers(self):
        self.steps = self.trainer.estimated_stepping_batches
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
        return {'optimizer': optimizer, 'lr_scheduler': {
            'scheduler': torch.optim.lr_scheduler.CosineAnnealingLR(
                optimizer, self.steps), 'interval': self._interval}}


def trainer(**options):
    return lightning.Trainer(**{
        'max_epochs': 1, 'accumulate_grad_batches': 2, 'logger': False,
        'gradient_clip_val': 1.0, 'accelerator': 'cpu',
        'enable_progress_bar': False, 'enable_model_summary': False,
        **options})


def attached(found, *bodies, job=None, module=None, loader=None,
             validation=None, evaluate=None, after=(), **options):
    """The module, after it was trained."""
    module = module or Sums()

    def main():
        made = trainer(**options)
        skerry.lightning.attach(made, evaluate=evaluate)
        made.fit(module, loader, validation)
        main.left = os.listdir()
    shell_cases.run(main, shell_cases.script(found, *bodies, after=after),
                    **{'samples': 96, **(job or {})})
    return module, main.left


class LightningTest(unittest.TestCase):
    def test_it_trains_as_it_does_alone_bit_for_bit(self):
        plain = Sums()
        trainer(enable_checkpointing=False).fit(plain, DataLoader(
            shell_cases.in_order(numbers(), 0, 96), 4))
        self.assertEqual(plain.steps, 12)
        # The loader is the module's own, or given.
        for loader in (None, DataLoader(numbers(), 4)):
            found = []
            module, _ = attached(found, *positions(0, 32, 56, 96),
                                 loader=loader)
            self.assertEqual(module.seen, plain.seen)
            self.assertEqual(module.steps, 12)
            self.assertTrue(torch.equal(found[-1], shell_cases.values(plain)))
            self.assertEqual([one['innerSteps'] for one in found[1:-1]],
                             ['4', '3', '5'])
            self.assertFalse(found[1]['noLoss'])

    def test_losses_are_those_of_the_module(self):
        one, four = [], []
        attached(one, *positions(0, 96), accumulate_grad_batches=1,
                 loader=DataLoader(numbers(), 8))
        attached(four, *positions(0, 96), accumulate_grad_batches=4,
                 loader=DataLoader(numbers(), 2))
        self.assertAlmostEqual(one[1]['loss'], four[1]['loss'], places=5)

    def test_a_replica_may_take_more_or_fewer_steps_than_the_run_has(self):
        for bodies, steps in ((positions(0, 40), 5),
                              (positions(0, 96) + positions(48, 96)
                               + positions(8, 11), 19)):
            module, _ = attached([], *bodies)
            self.assertEqual(-(-len(module.seen) // 8), steps)

    def test_its_own_checkpoints_and_validation_are_off(self):
        found = []
        module, left = attached(
            found, *positions(0, 96), validation=DataLoader(numbers(), 4),
            evaluate=lambda module, samples: {'loss': 2.0, 'samples': 3},
            after=[('Evaluate', {})])
        self.assertEqual((module.validated, left), (0, []))
        self.assertEqual(found[2], {'loss': 2.0, 'samples': '3'})

    def test_what_it_cannot_do_is_refused(self):
        for words, options in (
                ('Lightning takes 4 samples x 3 batches',
                 {'accumulate_grad_batches': 3}),
                ('last step would have 1 samples', {'job': {'samples': 97}}),
                ('has 1 processes', {'job': {'world': 2}}),
                ('limit_train_batches', {'limit_train_batches': 3}),
                ('EarlyStopping: the job decides',
                 {'callbacks': [callbacks.EarlyStopping('loss')]}),
                ('Timer: the job decides', {'max_time': '00:01:00:00'}),
                ("interval 'epoch'", {'module': Sums('epoch')}),
                ('automatic optimization', {
                    'module': Sums(manual=True), 'gradient_clip_val': None,
                    'accumulate_grad_batches': 1}),
                ('is a list, and not one DataLoader',
                 {'loader': [DataLoader(numbers(), 4)]})):
            with self.assertRaisesRegex(ValueError, words):
                attached([], **options)

    def test_without_skerry_the_trainer_stays_as_it_is(self):
        made = trainer()
        before = list(made.callbacks)
        skerry.lightning.attach(made)
        self.assertEqual(made.callbacks, before)

    def test_the_example_is_attached_as_it_is_alone(self):
        attached_as, losses = shell_cases.attached_values(
            self, 'lightning', 2048, 32, 16)
        self.assertLess(losses[-1], losses[0])
        self.assertTrue(torch.equal(
            attached_as, shell_cases.alone_values('lightning', 2048, 32, 16)))


if __name__ == '__main__':
    unittest.main()
