"""Loops in this process: steps, accumulation, schedulers, scalers, errors."""

import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import in_process  # noqa: E402
import torch  # noqa: E402
from in_process import DEVICE  # noqa: E402
from in_process import REFUSED  # noqa: E402
from in_process import positions  # noqa: E402
from skerry import alone  # noqa: E402
from skerry import ledger  # noqa: E402
from skerry import pace  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(1)
_SAMPLES = 64


class Numbers(torch.utils.data.Dataset):
    """64 samples: their number, six values and their sum."""

    def __len__(self):
        return _SAMPLES

    def __getitem__(self, index):
        x = torch.randn(6, generator=torch.Generator().manual_seed(index))
        return index, x, x.sum().view(1)


class AtOnce(Numbers):
    """Gives several samples at once, and never none."""

    def __getitems__(self, indices):
        assert indices
        return [self[index] for index in indices]


class FakeScaler:
    """Leaves out the steps that it is told to, as GradScaler does."""

    def __init__(self, overflows):
        self._scale, self._overflows, self._count = 65536.0, overflows, 0

    def get_scale(self):
        return self._scale

    def step(self, optimizer):
        self._count += 1
        if self._count - 1 in self._overflows:
            self._scale /= 2
        else:
            optimizer.step()


def network(seed=1):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(),
                               torch.nn.Linear(8, 1)).to(DEVICE)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.05)


class Loop:
    """The loop of these tests. `calls` is what `in_process.attached` takes."""

    def __init__(self, calls, optimizer=sgd, scheduler=None, **options):
        self.model = network()
        self.optimizer = optimizer(self.model)
        self.scheduler = scheduler(self.optimizer) if scheduler else None
        self.scaler = options.get('scaler')
        self.run = in_process.attached(calls, self.model, self.optimizer,
                                       scheduler=self.scheduler, **options)
        self.seen, self.rates = [], []

    def train(self, micro=None, dataset=None, **options):
        for index, x, y in self.run.batches(dataset or Numbers(), micro,
                                            **options):
            self.seen += index.tolist()
            loss = functional.mse_loss(self.model(x.to(DEVICE)), y.to(DEVICE))
            (loss * self.run.micro_share).backward()
            if self.run.last_micro:
                self.rates.append(self.optimizer.param_groups[0]['lr'])
                if self.scaler:
                    self.scaler.step(self.optimizer)
                else:
                    self.optimizer.step()
                if self.scheduler:
                    self.scheduler.step()
                self.optimizer.zero_grad()
            self.run.log(loss=loss)
        return self


def one_run(found, *bodies):
    """Yields the calls of a job with these Runs; their answers go to
    `found`."""
    _, _, _ = yield from in_process.memory()
    for body in bodies:
        found.append((yield 'Run', body))
    yield 'Exit', {}


class StepsTest(unittest.TestCase):
    def test_samples_come_in_the_order_of_the_ledger(self):
        order = ledger.SampleOrder(_SAMPLES, 1)
        for dataset in (Numbers(), AtOnce()):
            for workers in (0, 2):
                found = []
                loop = Loop(one_run(found, positions(60, 92, upcoming=(92, 99)),
                                    positions(92, 100))
                            ).train(4, dataset, num_workers=workers)
                self.assertEqual(loop.seen, order.indices(60, 100))
                self.assertEqual([one['innerSteps'] for one in found],
                                 ['4', '1'])

    def test_what_comes_next_is_fetched_before_it_is_asked_for(self):
        ahead = []

        def script():
            yield from in_process.memory()
            yield 'Run', positions(0, 16, upcoming=(16, 48))
            ahead.extend(micro for micro, _ in loop.run._loader._feed._out)
            yield 'Run', positions(16, 32)
            yield 'Exit', {}
        loop = Loop(script())
        loop.train(4, num_workers=2)
        # Two processes with two batches each.
        self.assertEqual(ahead, [((at, at + 4),) for at in (16, 20, 24, 28)])
        self.assertEqual(loop.seen,
                         ledger.SampleOrder(_SAMPLES, 1).indices(0, 32))

    def test_accumulation_over_four_batches_is_one_batch(self):
        whole = Loop(one_run([], positions(0, 36))).train()
        parts = Loop(one_run([], positions(0, 36))).train(2)
        self.assertEqual(whole.seen, parts.seen)
        for a, b in zip(whole.model.parameters(), parts.model.parameters()):
            torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)

    def test_losses_are_means_over_the_samples(self):
        whole, parts = [], []
        Loop(one_run(whole, positions(0, 36))).train()
        Loop(one_run(parts, positions(0, 36))).train(3)
        self.assertAlmostEqual(whole[0]['loss'], parts[0]['loss'], places=6)
        self.assertFalse(whole[0]['noLoss'])
        self.assertEqual(whole[0]['learningRate'], 0.05)

    def test_one_step_is_taken_at_each_boundary(self):
        loop = Loop(one_run([], positions(0, 16)))
        with self.assertRaisesRegex(pace.LoopError,
                                    'asked for before optimizer.step'):
            for _ in loop.run.batches(Numbers()):
                pass
        loop = Loop(one_run([], positions(0, 16)))
        with self.assertRaisesRegex(pace.LoopError, 'called 2 times'):
            for _ in loop.run.batches(Numbers()):
                loop.optimizer.step()
                loop.optimizer.step()
        loop = Loop(one_run([], positions(0, 16)))
        with self.assertRaisesRegex(pace.LoopError, 'over fewer batches'):
            for _ in loop.run.batches(Numbers(), 2):
                loop.optimizer.step()

    def test_a_step_that_the_scaler_leaves_out_is_counted(self):
        found = []
        loop = Loop(one_run(found, positions(0, 32), positions(32, 64)),
                    scaler=FakeScaler({1, 2, 7})).train(4)
        self.assertEqual([one['skippedSteps'] for one in found], ['2', '1'])
        self.assertEqual([one['innerSteps'] for one in found], ['4', '4'])
        self.assertEqual(len(loop.rates), 8)

    def test_a_real_scaler_is_understood(self):
        found = []
        scaler = torch.amp.GradScaler(DEVICE.type, init_scale=1024.0)
        loop = Loop(one_run(found, positions(0, 40)), scaler=scaler)
        for step, (_, x, y) in enumerate(loop.run.batches(Numbers())):
            x, y = x.to(DEVICE), y.to(DEVICE)
            scaler.scale(functional.mse_loss(loop.model(x), y)).backward()
            if step in (1, 4):
                loop.model[0].bias.grad.fill_(torch.inf)
            scaler.step(loop.optimizer)
            scaler.update()
            loop.optimizer.zero_grad()
        self.assertEqual(found[0]['skippedSteps'], '2')
        self.assertEqual(scaler.get_scale(), 256.0)

    def test_a_step_without_overflow_must_be_taken(self):
        loop = Loop(one_run([], positions(0, 16)), scaler=FakeScaler(set()))
        with self.assertRaises(pace.LoopError):
            for _ in loop.run.batches(Numbers()):
                pass

    def test_a_loss_that_is_not_finite_ends_the_loop(self):
        loop = Loop(one_run([], positions(0, 16)))
        with self.assertRaisesRegex(FloatingPointError, r'\[0, 16\)'):
            for _ in loop.run.batches(Numbers()):
                loop.optimizer.step()
                loop.run.log(loss=float('nan'))

    def test_a_loop_without_a_loss_says_so(self):
        found = []
        loop = Loop(one_run(found, positions(0, 8)))
        for _ in loop.run.batches(Numbers()):
            loop.optimizer.step()
            loop.run.log(accuracy=0.5, odd=float('inf'),
                         gradient_norm=float('inf'))
        self.assertTrue(found[0]['noLoss'])
        self.assertNotIn('gradientNorm', found[0])
        self.assertEqual(found[0]['metrics'],
                         {'accuracy': 0.5, 'odd': 'Infinity'})
        with self.assertRaisesRegex(ValueError, 'no name of a metric'):
            loop.run.log(**{'a b': 1})
        with self.assertRaisesRegex(ValueError, 'no single value'):
            loop.run.log(loss=torch.zeros(2))

    def test_generators_follow_from_the_job_and_the_position(self):
        drawn = []
        for _ in range(2):
            loop = Loop(one_run([], positions(8, 16), positions(0, 8)))
            for _ in loop.run.batches(Numbers(), 4):
                drawn.append((torch.rand(1).item(), random.random()))
                if loop.run.last_micro:
                    loop.optimizer.step()
        self.assertEqual(drawn[:4], drawn[4:])
        self.assertEqual(len(set(drawn)), 4)


class AloneTest(unittest.TestCase):
    """The rounds of `python -m skerry`."""

    def test_buffers_go_on_as_they_are(self):
        found = {}
        for buffers in ('average', 'local'):
            torch.manual_seed(1)
            model = torch.nn.Sequential(torch.nn.BatchNorm1d(6),
                                        torch.nn.Linear(6, 1)).to(DEVICE)
            optimizer = sgd(model)
            run = in_process.attached(alone.rounds(96, 8, 4), model, optimizer,
                                      buffers=buffers)
            for _, x, y in run.batches(Numbers()):
                functional.mse_loss(model(x.to(DEVICE)),
                                    y.to(DEVICE)).backward()
                optimizer.step()
                optimizer.zero_grad()
            found[buffers] = model.state_dict()
        for name, value in found['local'].items():
            torch.testing.assert_close(found['average'][name], value,
                                       rtol=1e-6, atol=1e-7)
        self.assertNotEqual(found['average']['0.running_var'].tolist(), [1] * 6)


class ScheduleTest(unittest.TestCase):
    def cosine(self, optimizer):
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 24)

    def plain(self):
        """The rates of a loop that no one watches."""
        optimizer = sgd(network())
        scheduler, rates = self.cosine(optimizer), []
        for _ in range(24):
            rates.append(optimizer.param_groups[0]['lr'])
            optimizer.step()
            scheduler.step()
        return rates

    def test_one_replica_has_the_rates_of_a_plain_loop(self):
        loop = Loop(one_run([], positions(0, 96), positions(96, 192)),
                    scheduler=self.cosine).train()
        self.assertEqual(loop.rates, self.plain())

    def test_three_replicas_share_one_schedule(self):
        plain = self.plain()
        rates = {}
        for replica in range(3):
            runs = [positions(begin, begin + 16)
                    for begin in range(16 * replica, 192, 48)]
            loop = Loop(one_run([], *runs), scheduler=self.cosine).train()
            steps = [p // 8 for begin in range(16 * replica, 192, 48)
                     for p in (begin, begin + 8)]
            rates |= dict(zip(steps, loop.rates))
        self.assertEqual([rates[step] for step in range(24)], plain)

    def test_a_new_process_goes_on_where_the_job_is(self):
        loop = Loop(one_run([], positions(96, 192)),
                    scheduler=self.cosine).train()
        self.assertEqual(loop.rates, self.plain()[12:])
        self.assertEqual(loop.run.progress, 184)

    def test_positions_that_come_back_do_not_turn_it_back(self):
        loop = Loop(one_run([], positions(96, 104), positions(0, 16)),
                    scheduler=self.cosine).train()
        self.assertEqual(loop.rates, [self.plain()[12]] * 3)
        self.assertEqual(loop.run.progress, 96)

    def test_a_scheduler_of_measured_values_is_refused(self):
        with self.assertRaisesRegex(ValueError, 'ReduceLROnPlateau'):
            Loop(one_run([]), scheduler=lambda optimizer:
                 torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer))


class EvaluateTest(unittest.TestCase):
    def measured(self, evaluate, *calls):
        found = []

        def script():
            _, memory, everything = yield from in_process.memory()
            found.append((yield 'Run', positions(0, 8)))
            yield 'Snapshot', everything
            before = memory.clone()
            for call in calls:
                found.append((yield call))
            yield 'Snapshot', everything
            found.append(torch.equal(before, memory))
            yield 'Exit', {}
        loop = Loop(script(), evaluate=evaluate)
        loop.model[1].eval()
        return loop.train(), found

    def test_it_changes_no_value_no_mode_and_no_generator(self):
        modes = []

        def evaluate(model, samples):
            modes.append([module.training for module in model.modules()])
            torch.manual_seed(9)
            random.seed(9)
            self.assertFalse(torch.is_grad_enabled())
            return {'loss': torch.tensor(2.5), 'samples': samples // 2}
        torch.manual_seed(3)
        random.seed(3)
        loop, found = self.measured(evaluate, ('Evaluate',
                                               {'samplesMax': '10'}))
        self.assertEqual(found[1], {'loss': 2.5, 'samples': '5'})
        self.assertTrue(found[-1])
        self.assertEqual(modes, [[False] * 4])
        self.assertEqual([one.training for one in loop.model.modules()],
                         [True, True, False, True])
        self.assertNotEqual(random.random(), random.Random(9).random())

    def test_a_stop_leaves_it_at_the_next_forward(self):
        def evaluate(model, samples):
            for _ in range(10**9):
                model(torch.zeros(1, 6, device=DEVICE))
                loop.run._page._write(0, loop.run._page._call)
        found = []

        def script():
            yield from in_process.memory()
            found.append((yield 'Evaluate', {}))
            yield 'Exit', {}
        loop = Loop(script(), evaluate=evaluate)
        loop.train()
        self.assertEqual(found[0][:2], (REFUSED, 'ABORTED'))

    def test_another_answer_is_an_error(self):
        with self.assertRaisesRegex(ValueError, 'returned {.*accuracy'):
            self.measured(lambda *_: {'loss': 1, 'accuracy': 1},
                          ('Evaluate', {}))


class DataTest(unittest.TestCase):
    def test_what_cannot_be_handed_out_is_refused(self):
        loop = Loop(one_run([]))

        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(())
        for dataset in (Stream(), iter([1]), 5):
            with self.assertRaisesRegex(TypeError, 'entered at any'):
                loop.run.batches(dataset)
        for option in ('shuffle', 'in_order'):
            with self.assertRaisesRegex(TypeError, f'takes no {option}'):
                loop.run.batches(Numbers(), **{option: False})
        with self.assertRaisesRegex(ValueError, 'without samples'):
            loop.run.batches([])

    def test_a_function_yields_the_samples_at_its_positions(self):
        dataset = Numbers()

        def between(begin, end):
            for position in range(begin, end):
                yield dataset[position % _SAMPLES]
        for workers in (0, 2):
            found = []
            loop = Loop(one_run(found, positions(60, 92, upcoming=(92, 99)),
                                positions(92, 99)),
                        given=in_process.job(data_samples=1 << 40))
            loop.train(4, between, num_workers=workers)
            self.assertEqual(loop.seen,
                             [at % _SAMPLES for at in range(60, 99)])
            self.assertEqual([one['samples'] for one in found], ['32', '7'])

    def test_a_function_yields_no_more_and_no_fewer(self):
        for count, words in ((3, 'yields 3 samples for the positions'),
                             (5, 'yields more samples')):
            loop = Loop(one_run([], positions(0, 8)))
            with self.assertRaisesRegex(ValueError, words):
                loop.train(4, lambda begin, end, count=count: (
                    Numbers()[0] for _ in range(count)))
        model = network()
        run = in_process.run.Run(model, sgd(model), None, None, None, {},
                                 'average', in_process.job(), None, None)
        with self.assertRaisesRegex(ValueError, 'does not say how many'):
            run.batches(lambda begin, end: (), 4)

    def test_the_job_and_the_data_have_one_size(self):
        loop = Loop(one_run([]), given=in_process.job(data_samples=65))
        with self.assertRaisesRegex(ValueError, 'has 64 samples, and the job '
                                    'says data.samples: 65'):
            loop.run.batches(Numbers())

    def test_description_and_files(self):
        found = []

        def script():
            found.append((yield from in_process.memory())[0])
            yield 'Exit', {}
        Loop(script(), files={'config.json': '{}'}).train()
        self.assertEqual(found[0]['epochSamples'], '64')
        self.assertEqual(found[0]['exportFiles'],
                         [{'name': 'config.json', 'content': 'e30='}])
        with self.assertRaisesRegex(ValueError, 'plain file name'):
            Loop(script(), files={'a/b': ''})

    def test_a_second_loop_over_batches_is_empty(self):
        loop = Loop(one_run([], positions(0, 8))).train()
        self.assertEqual(list(loop.run.batches(Numbers())), [])

    def test_without_skerry_it_is_one_epoch(self):
        model = network()
        run = in_process.run.Run(model, sgd(model), None, None, None, {},
                                 'average', in_process.job(), None, None)
        seen = [i for index, _, _ in run.batches(Numbers(), 10)
                for i in index.tolist()]
        self.assertEqual(seen, ledger.SampleOrder(64, 1).indices(0, 64))
        with self.assertRaisesRegex(ValueError, 'needs a batch_size'):
            run.batches(Numbers())


if __name__ == '__main__':
    unittest.main()
