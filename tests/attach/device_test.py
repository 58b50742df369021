"""Copies between a CUDA device and the memory that is shared with the worker.

SKERRY_TEST_DEVICE=cuda runs the other cases of this folder on a device, too.
"""

import contextlib
import copy
import io
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import in_process  # noqa: E402, F401 - it finds the package
import torch  # noqa: E402
from skerry import alone  # noqa: E402
from skerry import copies  # noqa: E402
from skerry import state  # noqa: E402

torch.set_num_threads(1)
# More than one piece of what a device converts at once, and no multiple.
_MANY = copies._DEVICE_PIECE * 2 + 12345


class Mixed(torch.nn.Module):
    """Values of all types, in order and not, and averaged buffers."""

    def __init__(self):
        super().__init__()
        self.plain = torch.nn.Linear(300, 500)
        self.laid_out = torch.nn.Conv2d(3, 4, 3).to(
            memory_format=torch.channels_last)
        self.halved = torch.nn.Linear(30, 50).to(torch.float16)
        self.laid_out_bf16 = torch.nn.Conv2d(3, 4, 3).to(
            torch.bfloat16, memory_format=torch.channels_last)
        self.many = torch.nn.Parameter(
            (torch.randn(_MANY) * 0.02).to(torch.bfloat16))
        self.norm = torch.nn.BatchNorm1d(7)


def table(models):
    made = state.Table(models, 0, 1)
    shared = alone.Memory(made.elements)
    made.map_memory(shared.path)
    return made, shared.values


def everything(made):
    return [(0, made.elements)]


def moved(model, generator):
    """A step: the same one for each model."""
    with torch.no_grad():
        for value in [*model.parameters(), *model.buffers()]:
            if value.is_floating_point():
                value += (torch.randn(value.shape, generator=generator) * 0.1
                          ).to(value.device, value.dtype)


@unittest.skipUnless(torch.cuda.is_available(), 'there is no CUDA device')
class DeviceTest(unittest.TestCase):
    def both(self):
        """[(model, table, memory)] on the processor and on the device."""
        torch.manual_seed(1)
        model = Mixed()
        return [(one, *table(one))
                for one in (model, copy.deepcopy(model).cuda())]

    def test_values_have_the_bits_of_the_processor(self):
        both = self.both()
        elements = both[0][1].elements
        for ranges in (everything(both[0][1]), [(7, 90_001), (90_001, 160_000)],
                       [(170_000, elements - 5)]):
            loaded = torch.randn(elements)
            for seed, (model, made, memory) in enumerate(both):
                memory.copy_(loaded)
                made.load(ranges)
                moved(model, torch.Generator().manual_seed(5))
                memory.fill_(-1)
                made.snapshot(ranges)
            self.assertTrue(torch.equal(both[0][2], both[1][2]))
            for one, other in zip(both[0][0].parameters(),
                                  both[1][0].parameters()):
                self.assertTrue(torch.equal(one, other.cpu()))

    def test_a_round_without_steps_contributes_exactly_nothing(self):
        _, made, memory = self.both()[1]
        made.snapshot(everything(made))
        loaded = memory + torch.randn(made.elements) * 1e-3
        memory.copy_(loaded)
        made.load(everything(made))
        memory.fill_(0)
        made.snapshot(everything(made))
        # Where there is no value, none is written.
        written = memory != 0
        self.assertGreater(written.sum(), _MANY)
        self.assertTrue(torch.equal(memory[written], loaded[written]))

    def test_memory_is_pinned_until_another_one_is_mapped(self):
        _, made, memory = self.both()[1]
        self.assertEqual(made._pinned.refused, '')
        self.assertTrue(made._memory.is_pinned())
        # This mapping is another one.
        self.assertFalse(memory.is_pinned())
        before = made._memory
        made.map_memory(alone.Memory(made.elements).path)
        self.assertTrue(made._memory.is_pinned())
        self.assertFalse(before.is_pinned())

    def test_memory_that_cannot_be_pinned_is_copied_all_the_same(self):
        model, made, _ = self.both()[1]
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            twice = copies.Pinned(made._memory, torch.device('cuda'))
        self.assertIn('cannot be pinned: cudaHostRegister says',
                      said.getvalue())
        self.assertNotEqual(twice.refused, '')
        # The error is told to nobody else.
        self.assertEqual((torch.ones(5, device='cuda') * 2).sum().item(), 10)
        plain = torch.empty(made.elements)
        made._memory, made._pinned = plain, None
        made.snapshot(everything(made))
        flat = model.plain.weight.detach().cpu().flatten()
        self.assertTrue(torch.equal(plain[:flat.numel()], flat))

    def test_steps_that_still_run_are_waited_for(self):
        model, made, memory = self.both()[1]
        slow = torch.randn(4096, 4096, device='cuda')
        # What the steps are, the first time that a kernel is used.
        (slow @ slow).sum().item()
        with torch.no_grad():
            for _ in range(50):
                slow = slow @ slow / 4096
            model.plain.weight.fill_(3)
            model.plain.weight.add_(slow[0, 0] * 0)
        made.snapshot([(0, 150_000)])
        self.assertEqual(memory[:150_000].unique().tolist(), [3])

    def test_a_load_is_there_for_the_next_step(self):
        model, made, memory = self.both()[1]
        memory.fill_(2)
        made.load(everything(made))
        memory.fill_(9)  # the worker may write it again
        self.assertEqual(model.many.float().sum().item(), 2 * _MANY)


if __name__ == '__main__':
    unittest.main()
