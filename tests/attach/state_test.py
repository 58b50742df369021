"""The flat state: names, ties, frozen and 16-bit parameters, copies."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import in_process  # noqa: E402
import torch  # noqa: E402
from skerry import alone  # noqa: E402
from skerry import names  # noqa: E402
from skerry import state  # noqa: E402
from skerry.line import Refused  # noqa: E402


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(5, 4)
        self.middle = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight


def table(models, rank=0, world=1):
    made = state.Table(models, rank, world)
    shared = alone.Memory(made.elements)
    made.map_memory(shared.path)
    return made, shared.values


def everything(made):
    return [(0, made.elements)]


class TableTest(unittest.TestCase):
    def test_a_tied_tensor_comes_once_with_its_other_names(self):
        made, _ = table(Tied())
        self.assertEqual([(one['name'], one['shape'], one['offset'],
                           one['tied'], one['dtype'])
                          for one in map(state.Entry.described, made.entries)],
                         [('embedding.weight', ['5', '4'], '0',
                           ['head.weight'], 'DTYPE_F32'),
                          ('middle.weight', ['4', '4'], '20', [], 'DTYPE_F32'),
                          ('middle.bias', ['4'], '36', [], 'DTYPE_F32')])
        self.assertEqual(made.elements, 40)

    def test_wrappers_are_not_in_the_names(self):
        compiled = torch.nn.Module()  # as torch.compile's, which imports much
        compiled._orig_mod = Tied()
        model = torch.nn.DataParallel(compiled)
        self.assertEqual(list(names.named_parameters(model)),
                         list(names.named_parameters(Tied())))
        mine = torch.nn.Module()
        mine.module = torch.nn.Linear(1, 1)  # a name, and no wrapper
        self.assertEqual(list(names.named_parameters(mine)),
                         ['module.weight', 'module.bias'])

    def test_several_models_get_their_keys_as_prefixes(self):
        made, _ = table({'g': torch.nn.Linear(2, 2),
                         'd': torch.nn.Linear(1, 1)})
        self.assertEqual([one.name for one in made.entries],
                         ['g.weight', 'g.bias', 'd.weight', 'd.bias'])

    def test_frozen_parameters_count_by_their_content(self):
        def hash_of(change):
            torch.manual_seed(1)
            model = Tied()
            model.middle.requires_grad_(False)
            change(model)
            made, _ = table(model)
            self.assertEqual([one.name for one in made.entries],
                             ['embedding.weight'])
            return made.layout_hash()

        def one_value(model):
            model.middle.weight.data[3, 3] += 1e-6

        def trained_value(model):
            model.embedding.weight.data += 1
        same = hash_of(lambda model: None)
        self.assertEqual(hash_of(trained_value), same)
        self.assertNotEqual(hash_of(one_value), same)
        self.assertNotEqual(
            hash_of(lambda model: model.middle.to(torch.bfloat16)), same)
        self.assertEqual(table(Tied())[0].layout_hash(), 0)

    def test_what_cannot_be_exchanged_is_named(self):
        with self.assertRaisesRegex(ValueError, 'weight is torch.float64'):
            table(torch.nn.Linear(2, 2).double())
        with self.assertRaisesRegex(ValueError, 'requires a gradient'):
            table(torch.nn.Linear(2, 2).requires_grad_(False))

    def test_a_parameter_that_is_replaced_later_is_an_error(self):
        model = Tied()
        made, _ = table(model)
        made.check_unchanged()
        model.middle.weight = torch.nn.Parameter(torch.zeros(4, 4))
        with self.assertRaisesRegex(ValueError, 'middle.weight was replaced'):
            made.check_unchanged()


class Normed(torch.nn.Module):
    """Parameters with 9 values, and buffers of many kinds."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.body = torch.nn.Linear(3, 1, bias=False)
        self.register_buffer('scale', torch.tensor(2.0))
        self.register_buffer('small', torch.ones(2).to(torch.bfloat16))
        self.register_buffer('table', torch.ones(5), persistent=False)
        self.register_buffer('mask', torch.full((2,), -torch.inf))
        self.register_buffer('exact', torch.ones(2).double())


class BufferTest(unittest.TestCase):
    def test_saved_floating_buffers_lie_behind_a_gap(self):
        made, _ = table(Normed())
        averaged = [one.described() for one in made.entries
                    if isinstance(one, state.BufferEntry)]
        self.assertEqual(
            [(one['name'], one['shape'], one['offset'], one['dtype'],
              one['rule']) for one in averaged],
            [('scale', [], '4096', 'DTYPE_F32', 'RULE_AVERAGE'),
             ('small', ['2'], '4097', 'DTYPE_BF16', 'RULE_AVERAGE'),
             ('norm.running_mean', ['3'], '4099', 'DTYPE_F32', 'RULE_AVERAGE'),
             ('norm.running_var', ['3'], '4102', 'DTYPE_F32', 'RULE_AVERAGE')])
        self.assertEqual((made.average_begin, made.elements), (4096, 4105))
        self.assertNotIn('rule', made.entries[0].described())
        self.assertEqual(made.kept, {
            'mask': 'it has values that are not finite',
            'exact': 'torch.float64'})

    def test_without_buffers_nothing_lies_behind_the_parameters(self):
        for model in (Tied(), torch.nn.BatchNorm1d(2,
                                                   track_running_stats=False)):
            made, _ = table(model)
            self.assertEqual(made.average_begin, 0)
        made = state.Table(torch.nn.BatchNorm1d(2), 0, 1, average=False)
        self.assertEqual((made.average_begin, made.elements), (0, 4))
        self.assertEqual(list(made.kept), ['running_mean', 'running_var'])

    def test_they_are_copied_and_the_gap_is_not(self):
        model = Normed()
        made, memory = table(model)
        memory.fill_(torch.nan)
        made.snapshot(everything(made))
        self.assertEqual([p for p in range(made.elements)
                          if not memory[p].isnan()],
                         [*range(9), *range(4096, 4105)])
        memory.copy_(torch.arange(4105.0))
        made.load([(4098, 4105)])
        self.assertEqual(model.norm.running_mean.tolist(), [4099, 4100, 4101])
        self.assertEqual(model.scale.item(), 2)
        made.load([(4095, 4097)])
        self.assertEqual(model.scale.item(), 4096)
        # Those in 16 bits come back as they were loaded.
        memory[4097:4099] = torch.tensor([1.00390625, 3.0])
        made.load([(4097, 4099)])
        self.assertEqual(model.small.tolist(), [1, 3])
        memory.fill_(0)
        made.snapshot(everything(made))
        self.assertEqual(memory[4097:4099].tolist(), [1.00390625, 3.0])

    def test_a_module_may_put_another_tensor_in_place(self):
        model = Normed()
        made, memory = table(model)
        made.check_unchanged()
        model.scale = torch.tensor(7.0)
        made.check_unchanged()
        made.snapshot(everything(made))
        self.assertEqual(memory[4096].item(), 7)
        memory[4096] = 8
        made.load(everything(made))
        self.assertEqual(model.scale.item(), 8)
        model.scale = torch.ones(2)
        with self.assertRaisesRegex(ValueError, r'buffer scale was \(\)'):
            made.snapshot(everything(made))
        del model.scale
        with self.assertRaisesRegex(ValueError, 'buffer scale was replaced'):
            made.check_unchanged()

    def test_rank_zero_writes_them(self):
        shared = alone.Memory(4105)
        for rank in (1, 0):
            model = Normed()
            model.norm.running_mean.fill_(rank)
            one = state.Table(model, rank, 2)
            one.map_memory(shared.path)
            shared.values[4096:] = torch.nan
            one.snapshot(everything(one))
            self.assertEqual(shared.values[4096:].isnan().any().item(),
                             rank == 1)
            shared.values[4096:] = 5
            one.load(everything(one))
            self.assertEqual(model.norm.running_mean.tolist(), [5, 5, 5])

    def test_a_module_that_is_there_twice_comes_once(self):
        norm = torch.nn.BatchNorm1d(2)
        made, _ = table(torch.nn.ModuleDict({'a': norm, 'b': norm}))
        averaged = {one.name: one.tied for one in made.entries
                    if isinstance(one, state.BufferEntry)}
        self.assertEqual(averaged, {'a.running_mean': ['b.running_mean'],
                                    'a.running_var': ['b.running_var']})


class CopyTest(unittest.TestCase):
    def test_values_go_out_and_in_exactly(self):
        model = Tied()
        made, memory = table(model)
        made.snapshot(everything(made))
        values = memory.clone()
        self.assertTrue(torch.equal(
            values, torch.cat([p.detach().flatten()
                               for p in model.parameters()])))
        memory.copy_(torch.arange(40.0))
        made.load(everything(made))
        self.assertTrue(torch.equal(model.middle.bias.detach(),
                                    torch.arange(36.0, 40.0)))
        self.assertTrue(torch.equal(model.head.weight.detach(),
                                    torch.arange(20.0).view(5, 4)))

    def test_only_what_is_asked_for_is_written(self):
        made, memory = table(Tied())
        for ranges in ([(0, 1)], [(19, 21), (39, 40)], [(3, 37)]):
            memory.fill_(torch.nan)
            made.snapshot(ranges)
            written = [p for p in range(40) if not memory[p].isnan()]
            self.assertEqual(written, [p for begin, end in ranges
                                       for p in range(begin, end)])

    def test_part_loads_leave_the_rest(self):
        made, memory = table(Tied())
        made.snapshot(everything(made))
        before = memory.clone()
        memory.fill_(7)
        made.load([(18, 38)])
        made.snapshot(everything(made))
        before[18:38] = 7
        self.assertTrue(torch.equal(memory, before))

    def test_ranks_write_parts_that_make_the_whole(self):
        torch.manual_seed(1)
        model = Tied()
        whole, expected = table(model)
        whole.snapshot(everything(whole))
        shared = alone.Memory(whole.elements)
        shared.values.fill_(torch.nan)
        for rank in range(3):
            one = state.Table(model, rank, 3)
            one.map_memory(shared.path)
            one.snapshot(everything(one))
        self.assertTrue(torch.equal(shared.values, expected))

    def test_values_that_do_not_lie_in_order_are_copied_in_order(self):
        model = torch.nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last)
        self.assertFalse(model.weight.is_contiguous())
        made, memory = table(model)
        made.snapshot(everything(made))
        self.assertTrue(torch.equal(
            memory[:48].view(4, 3, 2, 2), model.weight.detach()))
        memory.copy_(torch.arange(52.0))
        made.load([(5, 52)])
        self.assertEqual(model.weight.detach().flatten()[5:].tolist(),
                         list(range(5, 48)))

    def test_what_is_outside_is_refused(self):
        made, _ = table(Tied())
        for call in (made.snapshot, made.load):
            with self.assertRaisesRegex(Refused, 'outside of the 40'):
                call([(0, 41)])
        with self.assertRaisesRegex(Refused, 'the state needs 160'):
            made.map_memory(alone.Memory(39).path)


class SixteenBitTest(unittest.TestCase):
    def small(self, dtype):
        torch.manual_seed(1)
        model = torch.nn.Linear(300, 500, bias=False).to(dtype)
        made, memory = table(model)
        return model, made, memory

    def test_a_round_without_steps_contributes_exactly_nothing(self):
        for dtype in (torch.bfloat16, torch.float16):
            model, made, memory = self.small(dtype)
            loaded = torch.randn(made.elements) * 0.02
            memory.copy_(loaded)
            made.load(everything(made))
            self.assertTrue(torch.equal(
                model.weight.detach().flatten(), loaded.to(dtype)))
            memory.fill_(torch.nan)
            made.snapshot(everything(made))
            self.assertTrue(torch.equal(memory, loaded))

    def test_a_step_contributes_what_the_rounded_values_moved(self):
        model, made, memory = self.small(torch.bfloat16)
        loaded = torch.randn(made.elements) * 0.02
        memory.copy_(loaded)
        made.load(everything(made))
        with torch.no_grad():
            model.weight += 0.5
        made.snapshot(everything(made))
        live = model.weight.detach().flatten().float()
        expected = loaded + (live - loaded.bfloat16().float())
        self.assertTrue(torch.equal(memory, expected))

    def test_the_first_snapshot_is_what_the_program_began_with(self):
        model, made, memory = self.small(torch.bfloat16)
        made.snapshot(everything(made))
        self.assertTrue(torch.equal(memory,
                                    model.weight.detach().flatten().float()))


if __name__ == '__main__':
    unittest.main()
