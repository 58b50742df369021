"""A finished cell is never lost, trained twice, or read wrongly."""

import json
import os
import tempfile
import unittest

from bench.cluster.training import grid
from bench.cluster.training import results

CELL = grid.Cell('diloco', 'preset', 2, 12, 'adamw', 4e-3, 1, 'scratch', 0.0,
                 960)


def record(cell=CELL, status=results.DONE, **more):
    return {**grid.facts(cell), 'status': status, 'reason': '', 'loss': 1.5,
            'took_s': 48.0, **more}


class FileTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'cells.jsonl')

    def add(self, *records):
        writer = results.Writer(self.path)
        for one in records:
            writer.add(one)
        writer.close()

    def text(self):
        with open(self.path, encoding='utf-8') as file:
            return file.read()

    def tear(self, left_out):
        with open(self.path, 'r+b') as file:
            file.truncate(os.path.getsize(self.path) - left_out)

    def test_what_was_added_is_read_and_skipped(self):
        other = CELL._replace(seed=2)
        self.assertEqual(results.left([CELL, other], results.read(
            self.path).records), [CELL, other])
        self.add(record())
        read = results.read(self.path)
        self.assertEqual((len(read.records), read.notes), (1, []))
        self.assertEqual(results.left([CELL, other], read.records), [other])

    def test_a_record_is_in_the_file_when_add_returns(self):
        writer = results.Writer(self.path)
        self.addCleanup(writer.close)
        writer.add(record())
        self.assertEqual(json.loads(self.text())['loss'], 1.5)

    def test_a_torn_last_line_is_ignored_with_a_note(self):
        other = CELL._replace(seed=2)
        self.add(record(), record(other))
        self.tear(10)
        read = results.read(self.path)
        self.assertEqual(results.left([CELL, other], read.records), [other])
        self.assertEqual(len(read.notes), 1)
        self.assertIn('the last line is torn', read.notes[0])

    def test_a_line_without_its_end_is_torn_even_if_it_can_be_read(self):
        self.add(record())
        self.tear(1)
        self.assertEqual(len(results.read(self.path).records), 0)

    def test_what_is_added_after_a_torn_line_is_not_joined_to_it(self):
        other = CELL._replace(seed=2)
        self.add(record(), record(other))
        self.tear(10)
        self.add(record(other, loss=2.5))
        read = results.read(self.path)
        self.assertEqual(read.notes, [])
        self.assertEqual([one['loss'] for one in read.records.values()],
                         [1.5, 2.5])

    def test_a_bad_line_in_the_middle_is_named(self):
        for bad in ('{', '[]', '{}', '{"cell": {"seed": 1}}', '3'):
            with open(self.path, 'w', encoding='utf-8') as file:
                file.write(json.dumps(record()) + f'\n{bad}\n')
            with self.assertRaisesRegex(results.BadFileError, ':2: is no rec'):
                results.read(self.path)

    def test_two_runs_do_not_add_to_one_file(self):
        writer = results.Writer(self.path)
        with self.assertRaisesRegex(results.BadFileError, 'another run'):
            results.Writer(self.path)
        writer.close()
        results.Writer(self.path).close()

    def test_a_file_that_cannot_be_opened_is_named(self):
        for act in (results.read, results.Writer):
            with self.assertRaisesRegex(results.BadFileError, '^/: '):
                act('/')

    def test_the_newest_record_of_a_cell_counts(self):
        self.add(record(status=results.BROKEN, reason='no commit'), record())
        read = results.read(self.path)
        self.assertEqual([one['status'] for one in read.records.values()],
                         [results.DONE])


class LeftTest(unittest.TestCase):

    def records(self, *found):
        return {grid.key(one): one for one in found}

    def test_cells_without_a_loss_are_not_trained_again_unasked(self):
        for status in (results.BROKEN, results.REFUSED, results.DIVERGED):
            records = self.records(record(status=status))
            self.assertEqual(results.left([CELL], records), [])
            self.assertEqual(results.left([CELL], records, again=True),
                             [CELL] if status == results.BROKEN else [])

    def test_time_is_expected_by_the_cells_most_alike(self):
        four = CELL._replace(replicas=4)
        records = self.records(
            record(), record(CELL._replace(rate=2e-3), took_s=52.0),
            record(CELL._replace(tau=48), took_s=20.0),
            record(four, took_s=90.0))
        self.assertEqual(results.expected_s(CELL._replace(seed=7), records), 50)
        self.assertEqual(results.expected_s(
            CELL._replace(seed=7, tau=192), records), 40)
        self.assertEqual(results.expected_s(four._replace(seed=7), records), 90)
        self.assertAlmostEqual(results.expected_s(
            CELL._replace(seed=7, steps=192), records), 10)

    def test_cells_that_did_not_train_tell_nothing_of_time(self):
        self.assertIsNone(results.expected_s(CELL, {}))
        self.assertIsNone(results.expected_s(CELL, self.records(
            record(status=results.REFUSED, took_s=1.0))))


if __name__ == '__main__':
    unittest.main()
