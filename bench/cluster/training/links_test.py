"""A link is as slow as an exchange of the stated time needs."""

import unittest

from bench.cluster.training import links


def events(*ages_s):
    return [*({'name': 'Opened', 'age_ms': age_ms} for age_ms in '579'),
            *({'name': 'Committed', 'age_ms': str(round(age_s * 1000))}
              for age_s in ages_s)]


class LinksTest(unittest.TestCase):

    def test_a_round_is_the_median_time_between_commits(self):
        self.assertEqual(links.round_s(events(9.0, 4.0, 2.0, 3.0, 8.5), 12), 1)

    def test_a_long_round_is_measured_by_shorter_ones(self):
        tau, rounds = links.pace_rounds(192)
        self.assertLess(tau * rounds, 2 * 192)
        self.assertGreaterEqual(rounds, 4)
        self.assertEqual(links.round_s(events(1, 2, 3, 4), 192), 192 / tau)
        self.assertEqual(links.pace_rounds(12), (12, 12))

    def test_an_island_receives_twice_what_it_does_not_hold(self):
        # A million values, a byte each: half of them twice, in half a second.
        self.assertEqual(links.rate_mbit_s(1_000_000, 2, 1.0, 0.5), 16)
        self.assertEqual(links.rate_mbit_s(1_000_000, 4, 1.0, 0.5), 24)


if __name__ == '__main__':
    unittest.main()
