"""Whether memory grew, from made-up sizes."""

import unittest

from tests.chaos import memory


class GrowthTest(unittest.TestCase):

    def test_a_slope_is_found_behind_bursts(self):
        points = [(float(t), 20 + 0.01 * t + (5 if t % 10 == 0 else 0))
                  for t in range(400)]
        grown, middle = memory.growth(points)
        self.assertAlmostEqual(grown, 3.0, delta=0.1)
        self.assertAlmostEqual(middle, 22.5, delta=0.2)

    def test_the_warm_up_does_not_count(self):
        points = [(float(t), min(t, 25)) for t in range(101)]
        self.assertAlmostEqual(memory.growth(points)[0], 0.0)

    def test_several_may_be_measured_at_a_time(self):
        points = [(float(t), size) for t in range(10) for size in (10, 12)]
        self.assertEqual(memory.growth(points), (0.0, 11))


class SizesTest(unittest.TestCase):

    def test_short_lives_of_growing_processes_are_flat(self):
        sizes, always = memory.Sizes(age_s=10), memory.Sizes()
        for now in range(0, 1000, 5):
            # Lives get longer, and a process grows while it lives.
            length = 20 + 10 * (now // 250)
            life = {now // length: 30 + 0.1 * (now % length)}
            sizes.see(float(now), life)
            always.see(float(now), life)
        self.assertLess(abs(sizes.growth()[0]), 0.2)
        self.assertGreater(always.growth()[0], 0.5)

    def test_what_each_process_leaves_to_the_next_shows(self):
        sizes = memory.Sizes(age_s=10)
        for now in range(0, 1000, 5):
            sizes.see(float(now), {now // 20: 30 + 0.01 * (now // 20)})
        self.assertGreater(sizes.growth()[0], 0.3)

    def test_a_process_that_has_gone_is_not_measured(self):
        sizes = memory.Sizes()
        sizes.see(1.0, {7: None})
        sizes.see(2.0, {8: 5.0})
        sizes.see(3.0, {8: 5.0})
        self.assertEqual(sizes.growth(), (0.0, 5.0))


if __name__ == '__main__':
    unittest.main()
