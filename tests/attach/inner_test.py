"""The inner state: what a new process goes on with."""

import contextlib
import io
import json
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import in_process  # noqa: E402
import torch  # noqa: E402
from in_process import DEVICE  # noqa: E402
from in_process import REFUSED  # noqa: E402
from in_process import positions  # noqa: E402
from skerry import plain  # noqa: E402
from skerry import tensorfile  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(1)
_SAMPLES = 64


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return _SAMPLES

    def __getitem__(self, index):
        x = torch.randn(6, generator=torch.Generator().manual_seed(index))
        return x, x.sum().view(1)


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.2),
        torch.nn.Linear(8, 1)).to(DEVICE)


class Average:
    """A moving average of a model's values."""

    def __init__(self, model):
        self._model = model
        self._values = {name: one.clone()
                        for name, one in model.state_dict().items()}

    def update(self):
        for name, one in self._model.state_dict().items():
            if one.is_floating_point():
                self._values[name].lerp_(one, 0.1)

    def state_dict(self):
        return {'decay': 0.9, 'values': self._values}

    def load_state_dict(self, state):
        self._values = state['values']


OPTIMIZERS = {
    'AdamW': lambda p: torch.optim.AdamW(p, lr=0.02),
    'AMSGrad': lambda p: torch.optim.Adam(p, lr=0.02, amsgrad=True),
    'RMSprop': lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5,
                                             centered=True),
    'SGD': lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True),
    'Adafactor': lambda p: torch.optim.Adafactor(p, lr=0.02),
    'NAdam': lambda p: torch.optim.NAdam(p, lr=0.02),
}


class Loop:
    """One process of the loop of these tests."""

    def __init__(self, calls, make, scaler=False):
        self.model = network()
        self.optimizer = make(self.model.parameters())
        self.average = Average(self.model)
        self.scaler = torch.amp.GradScaler(
            DEVICE.type, init_scale=8.0, growth_interval=3) if scaler else None
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(
            self.optimizer, 60)
        self.run = in_process.attached(
            calls, self.model, self.optimizer, scheduler=self.scheduler,
            scaler=self.scaler, state={'average': self.average})

    def train(self):
        for x, y in self.run.batches(Numbers()):
            loss = functional.mse_loss(self.model(x.to(DEVICE)), y.to(DEVICE))
            if self.scaler:
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                loss.backward()
                self.optimizer.step()
            self.average.update()
            self.optimizer.zero_grad()
        return self

    def values(self):
        """All that the loop goes on with, but the optimizer's own."""
        found = {**self.model.state_dict(),
                 **{f'average.{name}': one for name, one in
                    self.average.state_dict()['values'].items()}}
        if self.scaler:
            found['scale'] = torch.tensor(self.scaler.get_scale())
        return found


class InnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'inner.safetensors')

    def first(self, found):
        """Trains five steps, saves, and trains on."""
        _, memory, everything = yield from in_process.memory()
        yield 'Run', positions(0, 40)
        open(self.path, 'wb').close()
        found['saved'] = yield 'SaveInner', {
            'path': self.path, 'sequence': '12', 'layoutHash': '7'}
        yield 'Snapshot', everything
        found['middle'] = memory.clone()
        found['ran'] = yield 'Run', positions(40, 80)
        yield 'Exit', {}

    def second(self, found, loads=True):
        """Begins where `first` had saved."""
        _, memory, everything = yield from in_process.memory()
        if loads:
            found['loaded'] = yield 'LoadInner', {
                'path': self.path, 'layoutHash': '7'}
        memory.copy_(found['middle'])
        yield 'Load', everything
        found['again'] = yield 'Run', positions(40, 80)
        yield 'Exit', {}

    def assert_same(self, one, other):
        self.assertEqual(one.keys(), other.keys())
        for name, value in one.items():
            self.assertTrue(torch.equal(value, other[name]), name)

    def test_a_process_that_resumes_is_one_that_was_not_disturbed(self):
        for name, make in OPTIMIZERS.items():
            with self.subTest(name):
                found = {}
                whole = Loop(self.first(found), make).train()
                resumed = Loop(self.second(found), make).train()
                self.assertEqual(found['loaded'],
                                 {'sequence': '12', 'steps': '5'})
                self.assertEqual(found['saved']['bytes'],
                                 str(os.path.getsize(self.path)))
                self.assert_same(resumed.values(), whole.values())
                self.assertEqual(resumed.run.progress, whole.run.progress)
                self.assertEqual(found['ran']['learningRate'],
                                 found['again']['learningRate'])
                cold = Loop(self.second(found, loads=False), make).train()
                self.assertFalse(torch.equal(cold.model[0].weight,
                                             whole.model[0].weight))

    def test_a_scaler_goes_on(self):
        found = {}
        make = OPTIMIZERS['AdamW']
        whole = Loop(self.first(found), make, scaler=True).train()
        resumed = Loop(self.second(found), make, scaler=True).train()
        self.assert_same(resumed.values(), whole.values())
        self.assertGreater(whole.scaler.get_scale(), 8.0)

    def test_the_file_is_one_that_others_read(self):
        found = {}
        Loop(self.first(found), OPTIMIZERS['AdamW']).train()
        reader = tensorfile.Reader(self.path)
        self.assertEqual([name for name in reader.names()
                          if not name.startswith('extra/')],
                         [f'{slot}/{name}' for slot in ('exp_avg', 'exp_avg_sq')
                          for name in ('0.weight', '0.bias', '1.weight',
                                       '1.bias', '3.weight', '3.bias')])
        self.assertEqual(reader.shape('exp_avg/0.weight'), (8, 6))
        self.assertEqual(reader.metadata['skerry.sequence'], '12')
        self.assertEqual(reader.metadata['skerry.layout_hash'], '7')
        said = json.loads(reader.metadata['skerry.state'])
        self.assertEqual((said['steps'], said['position']), (5, 32))

    def refusals(self, make, **body):
        """What LoadInner answers, of a process that then trains as a fresh
        one does."""
        answers = []

        def calls(loads):
            yield from in_process.memory()
            if loads:
                answers.append((yield 'LoadInner', {
                    'path': self.path, 'layoutHash': '7', **body}))
            yield 'Run', positions(0, 24)
            yield 'Exit', {}
        tried = Loop(calls(True), make).train()
        fresh = Loop(calls(False), make).train()
        self.assert_same(tried.values(), fresh.values())
        refused, code, text = answers[0]
        self.assertEqual((refused, code), (REFUSED, 'INVALID_ARGUMENT'))
        self.assertNotIn('\n', text)
        return text

    def test_files_that_do_not_fit_are_refused_and_change_nothing(self):
        make = OPTIMIZERS['AdamW']
        self.assertIn('No such file', self.refusals(make))
        Loop(self.first({}), make).train()
        self.assertIn('another layout', self.refusals(make, layoutHash='8'))
        self.assertIn('one of \'AdamW\', and the optimizer is SGD',
                      self.refusals(OPTIMIZERS['SGD']))
        with open(self.path, 'rb') as file:
            whole = file.read()
        size, = struct.unpack_from('<Q', whole)
        other = whole.replace(b'"0.weight"', b'"9.weight"').replace(
            b'exp_avg/0.weight', b'exp_avg/9.weight')
        for broken in (b'', whole[:4], whole[:8 + size // 2], whole[:-1],
                       b'\xff' * 8 + whole[8:], other):
            with open(self.path, 'wb') as file:
                file.write(broken)
            self.refusals(make)

    def test_what_cannot_be_saved_is_named_and_starts_cold(self):
        def add(optimizer, *_):
            parameter = optimizer.param_groups[0]['params'][0]
            optimizer.state[parameter]['thing'] = object()

        def make(parameters):
            made = torch.optim.SGD(parameters, lr=0.02, momentum=0.9)
            made.register_step_post_hook(add)
            return made
        said = io.StringIO()
        found = {}
        with contextlib.redirect_stderr(said):
            Loop(self.first(found), make).train()
        self.assertIn('the inner state of 1 parts is not saved and starts cold '
                      'after a restart, 0.weight first: it has a object.',
                      said.getvalue())
        resumed = Loop(self.second(found), make).train()
        self.assertEqual(found['loaded']['steps'], '5')
        self.assertIn('momentum_buffer',
                      resumed.optimizer.state[resumed.model[3].weight])

    def test_a_text_that_is_too_long_is_not_saved(self):
        def calls(answers):
            yield from in_process.memory()
            open(self.path, 'wb').close()
            answers.append((yield 'SaveInner', {'path': self.path}))
            answers.append((yield 'SaveInner', {'path': '/nowhere/at/all'}))
            yield 'Exit', {}
        answers = []
        loop = Loop(calls(answers), OPTIMIZERS['SGD'])
        loop.average.state_dict = lambda: {'text': 'x' * (1 << 20)}
        loop.train()
        self.assertEqual(answers[0][:2], (REFUSED, 'INVALID_ARGUMENT'))
        self.assertEqual(answers[1][:2], (REFUSED, 'INVALID_ARGUMENT'))
        answers.clear()
        loop = Loop(calls(answers), OPTIMIZERS['SGD']).train()
        self.assertIn('bytes', answers[0])
        self.assertEqual(answers[1][:2], (REFUSED, 'RESOURCE_EXHAUSTED'))

    def test_slots_keep_their_own_type(self):
        class Half(torch.optim.Optimizer):
            def __init__(self, parameters):
                super().__init__(parameters, {'lr': 0.02})

            def step(self, closure=None):
                del closure
                for parameter in self.param_groups[0]['params']:
                    held = self.state[parameter]
                    if not held:
                        held['moment'] = torch.zeros_like(
                            parameter, dtype=torch.bfloat16)
                    held['moment'].mul_(0.9).add_(parameter.grad)
                    parameter.data.sub_(held['moment'].float(), alpha=0.02)
        found = {}
        whole = Loop(self.first(found), Half).train()
        resumed = Loop(self.second(found), Half).train()
        self.assert_same(resumed.values(), whole.values())
        self.assertEqual(
            resumed.optimizer.state[resumed.model[0].weight]['moment'].dtype,
            torch.bfloat16)


class PlainTest(unittest.TestCase):
    def test_values_come_back(self):
        tensors = []

        def keep(tensor):
            tensors.append(tensor)
            return str(len(tensors) - 1)
        value = {'a': [1, 2.5, None, True, 'x', (1, float('inf'))],
                 3: {'step': torch.tensor(7.0), 't': torch.arange(4)},
                 'n': torch.tensor(-1, dtype=torch.int64)}
        text = json.dumps(plain.encode(value, keep), allow_nan=False)
        back = plain.decode(json.loads(text), lambda name: tensors[int(name)])
        self.assertEqual(str(back), str(value))
        self.assertEqual(back['n'].dtype, torch.int64)

    def test_others_are_foreign(self):
        for value in (object(), {'a': lambda: 1}, [b'x'], 1j,
                      torch.tensor(1j)):
            with self.assertRaises(plain.Foreign):
                plain.encode(value, lambda tensor: 'x')


if __name__ == '__main__':
    unittest.main()
