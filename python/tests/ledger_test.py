"""Order and feed of samples, without torch."""

import itertools
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.getcwd(), 'python'))

from skerry import ledger  # noqa: E402


def positions(micros):
    return [p for micro in micros for begin, end in micro
            for p in range(begin, end)]


class SampleOrderTest(unittest.TestCase):
    def test_equals_the_numbers_of_the_cpp_code(self):
        compared = 0
        with open('data/testdata/sample_order.golden',
                  encoding='ascii') as file:
            for line in file:
                if line.startswith('#'):
                    continue
                samples, seed, position, sample = map(int, line.split())
                order = ledger.SampleOrder(samples, seed)
                self.assertEqual(order.indices(position, position + 1),
                                 [sample], line)
                # Long enough for NumPy, where there is one.
                self.assertEqual(order.indices(position, position + 64)[0],
                                 sample, line)
                compared += 1
        self.assertGreater(compared, 100)

    def test_many_at_once_are_what_they_are_one_by_one(self):
        order = ledger.SampleOrder(1000, 3)
        many = order.indices(990, 3005)
        self.assertEqual(many, [order.indices(p, p + 1)[0]
                                for p in range(990, 3005)])
        self.assertEqual(sorted(many[10:1010]), list(range(1000)))

    def test_an_epoch_needs_samples(self):
        for bad in (0, -1, (1 << 62) + 1):
            with self.assertRaises(ValueError):
                ledger.SampleOrder(bad, 1)


class StepsTest(unittest.TestCase):
    def test_ranks_and_micro_batches_cover_each_step_once(self):
        ranges = [(10, 17), (40, 41), (50, 78)]
        every = positions([tuple(ranges)])
        compared = 0
        for size, world, micro in itertools.product(
                (4, 6, 8, 9, 12, 33, 50), (1, 2, 3), (2, 3, 50, None)):
            ranks = [list(ledger.steps(ranges, size, micro, rank, world))
                     for rank in range(world)]
            for at, steps in zip(range(0, len(every), size), zip(*ranks),
                                 strict=True):
                self.assertEqual({step.first for step in steps}, {every[at]})
                self.assertEqual(len({len(step.micros) for step in steps}), 1)
                sizes = [ledger.size(one) for step in steps
                         for one in step.micros]
                self.assertGreater(min(sizes), 0)
                self.assertLessEqual(max(sizes), micro or size)
                for step in steps:
                    self.assertEqual(step.samples,
                                     len(positions(step.micros)))
                self.assertEqual(
                    sum((positions(step.micros) for step in steps), []),
                    every[at:at + size])
                compared += 1
        self.assertGreater(compared, 300)

    def test_without_a_micro_batch_size_a_step_is_one_batch(self):
        step, = ledger.steps([(0, 8)], 8, None, 1, 2)
        self.assertEqual(step, (0, 4, [((4, 8),)]))

    def test_a_short_step_has_as_many_micro_batches_as_others(self):
        for rank in range(2):
            sizes = [[ledger.size(one) for one in step.micros]
                     for step in ledger.steps([(0, 28)], 24, None, rank, 2, 2)]
            self.assertEqual(sizes, [[6, 6], [1, 1]])

    def test_a_rank_without_samples_is_an_error(self):
        for rank in range(2):
            with self.assertRaisesRegex(ValueError, 'one of 2 ranks'):
                list(ledger.steps([(0, 9)], 8, None, rank, 2))
            with self.assertRaisesRegex(ValueError, 'in 5 micro-batches'):
                list(ledger.steps([(0, 9)], 9, 1, rank, 2))


class FeedTest(unittest.TestCase):
    """A loader is a queue of `depth` micro-batches that were asked for."""

    def setUp(self):
        self.feed = ledger.Feed()
        self.depth = 4
        self.asked = []

    def ask(self):
        self.asked.append(self.feed.ask())

    def take(self, count):
        """What a Run gets, `count` micro-batches of it."""
        while len(self.asked) < self.depth:
            self.ask()
        found = []
        while len(found) < count:
            # DataLoader asks before it gives the batch out.
            batch = self.asked.pop(0)
            self.ask()
            micro, wanted = self.feed.given()
            self.assertEqual(micro, batch)
            if wanted:
                found.append(batch)
        return found

    def test_bubbles_come_first_and_batches_in_order(self):
        self.take(0)
        self.assertEqual(self.asked, [()] * 4)
        self.feed.begin(['a', 'b', 'c'], [])
        self.assertEqual(self.take(3), ['a', 'b', 'c'])

    def test_what_was_fetched_ahead_is_used(self):
        self.feed.begin(['a', 'b'], ['c', 'd', 'e', 'f', 'g'])
        self.assertEqual(self.take(2), ['a', 'b'])
        self.assertEqual(self.asked, ['c', 'd', 'e', 'f'])
        self.feed.begin(['c', 'd'], ['e', 'f', 'g', 'h'])
        self.assertEqual(self.take(2), ['c', 'd'])
        # `e` and `f` were not asked for twice.
        self.assertEqual(self.asked, ['e', 'f', 'g', 'h'])

    def test_what_was_fetched_in_vain_is_thrown_away(self):
        self.feed.begin(['a', 'b'], ['c', 'd', 'e', 'f'])
        self.take(2)
        self.feed.begin(['d', 'x', 'f'], [])
        self.assertEqual(self.take(3), ['d', 'x', 'f'])

    def test_a_run_that_was_stopped_begins_again(self):
        self.feed.begin(list('abcdefgh'), [])
        self.take(2)
        self.feed.begin(list('abcdefgh'), [])
        self.assertEqual(self.take(8), list('abcdefgh'))

    def test_any_history_gives_each_run_its_batches(self):
        seed = 2
        print(f'seed {seed}')
        drawn = random.Random(seed)
        for self.depth in (1, 2, 5, 9):
            self.setUp_again()
            for _ in range(200):
                begin = drawn.randrange(100)
                run = list(range(begin, begin + drawn.randint(1, 8)))
                ahead = list(range(run[-1] + 1, run[-1] + drawn.randint(1, 9)))
                self.feed.begin(run, ahead)
                count = (len(run) if drawn.random() < 0.8
                         else drawn.randrange(len(run)))
                self.assertEqual(self.take(count), run[:count])

    def setUp_again(self):
        self.feed, self.asked = ledger.Feed(), []


if __name__ == '__main__':
    unittest.main()
