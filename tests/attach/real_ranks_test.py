"""Programs in processes of their own, attached to a stand-in."""

import math
import os
import select
import subprocess
import sys
import tempfile
import unittest

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import stand_in  # noqa: E402
from stand_in import StandIn  # noqa: E402

_ROUNDS, _TAU, _BATCH = 6, 4, 8
_SAMPLES = _ROUNDS * _TAU * _BATCH


def trained(started):
    """Runs a whole job of one replica under Local SGD. Returns the answers of
    Run and the last anchor."""
    started.describe()
    anchor = started.snapshot()
    answers = []
    for begin in range(0, _SAMPLES, _TAU * _BATCH):
        end = begin + _TAU * _BATCH
        answers.append(started.run(begin, end, (end, end + _TAU * _BATCH)))
        anchor = stand_in.folded(anchor, started.snapshot(), _TAU * _BATCH)
        started.load(anchor)
    return answers, anchor


class AttachedTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.log = open(self.path('log'), 'w+', encoding='utf-8')
        self.addCleanup(self.log.close)

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def logged(self):
        with open(self.path('log'), encoding='utf-8') as file:
            return file.read()

    def start(self, ranks=1, program='loop.py', **parameters):
        started = StandIn(program, ranks, self.log, samples=_SAMPLES,
                          parameters=parameters)
        return self.enterContext(started)

    def test_attached_is_alone_bit_for_bit(self):
        started = self.start(save=self.path('attached'))
        answers, anchor = trained(started)
        self.assertEqual(started.leave(), [0])
        self.assertIn('the last line', self.logged())
        for one, in answers:
            self.assertEqual(one['samples'], str(_TAU * _BATCH))
            self.assertEqual(one['innerSteps'], str(_TAU))
            self.assertEqual(one['metrics'], {'seen': _BATCH})
        self.assertLess(answers[-1][0]['loss'], answers[0][0]['loss'])
        subprocess.run(
            [sys.executable, '-m', 'skerry',
             os.path.join(stand_in.PROGRAMS, 'loop.py'),
             '--samples', str(_SAMPLES), '--batch', str(_BATCH),
             '--tau', str(_TAU), '--parameters',
             f'{{"save": "{self.path("alone")}"}}'],
            check=True, env={**os.environ,
                             'PYTHONPATH': f'{stand_in.ROOT}/python:'
                             + os.environ.get('PYTHONPATH', '')})
        attached, seen = torch.load(self.path('attached'))
        alone, seen_alone = torch.load(self.path('alone'))
        self.assertEqual(seen, seen_alone)
        self.assertEqual(sorted(seen[:64]), list(range(64)))
        for name, values in attached.items():
            self.assertTrue(torch.equal(values, alone[name]), name)
        flat = torch.cat([one.flatten() for one in attached.values()])
        self.assertTrue(torch.equal(flat, torch.tensor(anchor)))

    def test_a_run_that_is_repeated_gives_the_same_values(self):
        started = self.start(micro=2)
        started.describe()
        first = started.snapshot()
        started.run(0, 32)
        # The moments of AdamW stay, and dropout is drawn again: only the loss
        # of the first step can be compared.
        started.load(first)
        again = started.run(0, 8)[0]
        started.load(first)
        self.assertEqual(started.run(0, 8)[0]['loss'], again['loss'])

    def test_a_call_that_is_paused_ends_after_a_step(self):
        started = self.start()
        started.describe()
        first = started.snapshot()
        started.stop(started.send_run(0, 8 * 4096))
        self.assertEqual(started.answers()[0]['code'], 'ABORTED')
        started.load(first)
        self.assertEqual(started.run(0, 32)[0]['innerSteps'], '4')

    def test_two_ranks_pause_after_the_same_step(self):
        started = self.start(ranks=2, ddp=True)
        started.describe()
        first = started.snapshot()
        started.stop(started.send_run(0, 8 * 4096))
        self.assertEqual([one['code'] for one in started.answers()],
                         ['ABORTED'] * 2)
        started.load(first)
        answers = started.run(0, 32)
        self.assertEqual([one['samples'] for one in answers], ['16', '16'])
        self.assertEqual(started.leave(), [0, 0])

    def test_an_evaluation_of_fsdp2_does_not_keep_old_values(self):
        started = self.start(ranks=2, fsdp=True)
        self.assertTrue(started.describe()['capabilities']['evaluates'])
        for value in (0.0, 1.0):
            started.load([value] * len(started.memory))
            answers = started.call('Evaluate', samplesMax='4')
            # Sixteen units of tanh(7), and a bias.
            for one in answers:
                self.assertAlmostEqual(one['loss'],
                                       value * (16 * math.tanh(7) + 1),
                                       places=3)
        started.run(0, 32)
        self.assertEqual(started.leave(), [0, 0])

    def test_two_ranks_go_on_with_the_inner_state_of_two_others(self):
        for how in ('fsdp', 'ddp'):
            with self.subTest(how):
                path = self.path(f'inner-{how}')
                label = {'path': path, 'layoutHash': '5'}
                one = self.start(ranks=2, **{how: True})
                one.describe()
                one.run(0, 32)
                with open(path, 'wb'):
                    pass
                saved = one.call('SaveInner', sequence='3', **label)
                self.assertEqual([answer['bytes'] for answer in saved],
                                 [str(os.path.getsize(path))] * 2)
                middle = one.snapshot()
                one.run(32, 64)
                undisturbed = one.snapshot()
                self.assertEqual(one.leave(), [0, 0])
                other = self.start(ranks=2, **{how: True})
                other.describe()
                self.assertEqual(other.call('LoadInner', **label),
                                 [{'sequence': '3', 'steps': '4'}] * 2)
                other.load(middle)
                other.run(32, 64)
                self.assertEqual(other.snapshot(), undisturbed)
                self.assertEqual(other.leave(), [0, 0])

    def test_an_exception_of_the_loop_is_the_answer(self):
        started = self.start(raise_at=16)
        started.describe()
        started.send_run(0, 32)
        answer = started.answers()[0]
        self.assertEqual(answer['code'], 'INTERNAL')
        self.assertRegex(answer['error'],
                         r'^ValueError: the sky \(loop\.py:\d+\)$')
        self.assertEqual(started.ranks[0].process.wait(stand_in.PATIENCE_S), 1)
        self.assertIn('is falling', self.logged())

    def test_a_loop_that_leaves_early_says_so(self):
        started = self.start(break_at=16)
        started.describe()
        started.send_run(0, 32)
        self.assertIn('ended before its job', started.answers()[0]['error'])

    def test_the_rank_ends_with_its_socket(self):
        started = self.start(workers=1)
        started.describe()
        started.run(0, 32)
        started.ranks[0].close()
        self.assertEqual(started.ranks[0].process.wait(stand_in.PATIENCE_S), 1)
        self.assertIn('skerry-attach has ended', self.logged())

    def test_sigusr1_writes_the_stack(self):
        started = self.start(stack_at=8)
        started.describe()
        started.run(0, 32)
        started.leave()
        self.assertRegex(self.logged(), r'File ".*loop\.py", line \d+ in main')

    def test_loader_processes_end_with_a_rank_that_is_killed(self):
        started = self.start(workers=2)
        started.describe()
        started.run(0, 32)
        process = started.ranks[0].process
        with open(f'/proc/{process.pid}/task/{process.pid}/children',
                  encoding='ascii') as file:
            children = [int(one) for one in file.read().split()]
        self.assertEqual(len(children), 2)
        watched = [os.pidfd_open(one) for one in children]
        process.kill()
        for one in watched:
            # Readable: the process has ended.
            poll = select.poll()
            poll.register(one, select.POLLIN)
            self.assertTrue(poll.poll(2000))
            os.close(one)

    def test_what_is_wrong_changes_nothing(self):
        started = self.start()
        started.hello()
        for name, body, code in [
                ('Run', {'ranges': [{'end': '8'}],
                         'replicaBatchSamples': '8'}, 'FAILED_PRECONDITION'),
                ('Snapshot', {'ranges': [{'end': '8'}]},
                 'FAILED_PRECONDITION'),
                ('Generate', {'prompt': 'a'}, 'UNIMPLEMENTED'),
                ('Describe', {'sharedMemory': '/nowhere'},
                 'INVALID_ARGUMENT'),
                ('Load', {'ranges': [{'begin': '9', 'end': '8'}]},
                 'INVALID_ARGUMENT'),
                ('Load', {'ranges': [{'end': str(1 << 40)}]},
                 'INVALID_ARGUMENT')]:
            started.send(name, **body)
            self.assertEqual(started.answers()[0].get('code'), code, name)
        started.call('Describe')


if __name__ == '__main__':
    unittest.main()
