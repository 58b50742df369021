"""A kill is booked under what its victim was doing."""

import os
import sys
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [os.path.join(_ROOT, 'tools'), _HERE]

import phases  # noqa: E402
from local_cluster import logs  # noqa: E402


def entry(second, event='worker.seat', **fields):
    return {'time': f'2026-01-02T03:04:{second:09.6f}Z', 'event': event,
            **fields}


def seat(second, phase):
    return entry(second, what=f'phase {phase} round=3 seq=2 attempt=17')


class PhasesTest(unittest.TestCase):

    def test_the_phase_is_that_of_the_last_line_until_the_moment(self):
        entries = [seat(1, 'inner'), entry(2, what='attempt 17 of sequence 3'),
                   seat(3, 'hop1'), seat(5, 'hop2')]
        start = logs.seconds(entries[0])
        self.assertEqual(phases.at(entries, start - 1), '-')
        self.assertEqual(phases.at(entries, start + 1.5), 'inner')
        self.assertEqual(phases.at(entries, start + 2), 'hop1')
        self.assertEqual(phases.at(entries, start + 9), 'hop2')

    def test_a_restarted_worker_has_no_phase_of_its_former_life(self):
        entries = [seat(1, 'hop1'), entry(2, 'worker.started')]
        self.assertEqual(phases.at(entries, logs.seconds(entries[1])),
                         'starting')

    def test_a_failed_trainer_has_no_pid(self):
        entries = [entry(1, 'worker.trainer.ready', pid=41),
                   entry(2, 'worker.trainer.ready', pid=42)]
        self.assertEqual(phases.trainer_pid(entries), 42)
        entries.append(entry(3, 'worker.trainer.failed'))
        self.assertIsNone(phases.trainer_pid(entries))
        self.assertIsNone(phases.trainer_pid([]))

    def test_phases_that_were_hit_least_come_next(self):
        self.assertEqual(phases.least_hit({}), list(phases.ALL))
        hits = {phase: 2 for phase in phases.ALL}
        hits['report'] = 1
        self.assertEqual(phases.least_hit(hits), ['report'])

    def test_lines_that_are_not_of_a_daemon_are_skipped(self):
        self.assertIsNone(logs.parse('Segmentation fault'))
        self.assertIsNone(logs.parse('17'))
        self.assertEqual(logs.parse('{"event": "x"}'), {'event': 'x'})


if __name__ == '__main__':
    unittest.main()
