"""The harness neither invents nor loses a result."""

import json
import unittest

from bench.harness import main
from bench.harness import rows


def run(name, repetition_type='iteration', **fields):
    return {'name': name, 'run_name': name, 'run_type': repetition_type,
            'real_time': 1.0, 'time_unit': 'ns', **fields}


def google(*runs):
    return rows.of_google(json.dumps({'benchmarks': runs}))


class GoogleTest(unittest.TestCase):

    def test_the_median_of_repetitions_counts_and_aggregates_do_not(self):
        found, errors = google(
            run('Encode/1', bytes_per_second=1.0),
            run('Encode/1', bytes_per_second=3.0),
            run('Encode/1', bytes_per_second=100.0),
            run('Encode/1', 'aggregate', bytes_per_second=7.0))
        self.assertEqual(found, [
            {'name': 'Encode/1', 'value': 3.0, 'unit': 'B/s'}])
        self.assertEqual(errors, [])

    def test_a_floor_is_paired_by_name_and_arguments(self):
        found, errors = google(
            run('Int8/1', real_time=2.0), run('Int8/2', real_time=8.0),
            run('Int8_against_stream/1', real_time=1.0),
            run('Int8_against_stream/2', real_time=4.0))
        self.assertEqual(errors, [])
        self.assertEqual([(r['name'], r['against'], r['against_value'])
                          for r in found],
                         [('Int8/1', 'stream', 1.0),
                          ('Int8/2', 'stream', 4.0)])

    def test_a_floor_without_a_partner_or_with_another_unit_is_an_error(self):
        self.assertEqual(len(google(run('A_against_b/1'))[1]), 1)
        found, errors = google(run('A'), run('A_against_b',
                                             bytes_per_second=1.0))
        self.assertEqual((found, len(errors)), ([], 1))

    def test_an_error_is_not_a_row(self):
        found, errors = google(run('A', error_occurred=True,
                                   error_message='no device'))
        self.assertEqual((found, errors), ([], ['A: no device']))


class RowsTest(unittest.TestCase):

    def test_only_a_ratio_above_the_upper_end_of_a_bar_is_impossible(self):
        def row(ratio, bar):
            return {'ratio': ratio, 'bar': bar}
        self.assertTrue(rows.impossible(row(1.06, '0.80..1.05')))
        self.assertFalse(rows.impossible(row(1.04, '0.80..1.05')))
        self.assertFalse(rows.impossible(row(0.10, '0.80..1.05')))
        self.assertFalse(rows.impossible(row(9.0, '>=1.0')))
        self.assertFalse(rows.impossible(row(None, '0.80..1.05')))
        self.assertFalse(rows.impossible(row(2.0, None)))

    def test_lines(self):
        found, errors = rows.of_lines(
            '{"name": "a", "value": 1, "unit": "s"}\n\nnonsense\n'
            '{"name": "b", "unit": "s"}\n')
        self.assertEqual([row['name'] for row in found], ['a'])
        self.assertEqual(len(errors), 2)

    def test_bars(self):
        for ratio, bar, fine in [(0.8, '>=0.80', True), (0.79, '>=0.8', False),
                                 (1.1, '<=1.1', True), (1.2, '<=1.1', False),
                                 (0.9, '0.8..1.05', True),
                                 (1.06, '0.8..1.05', False)]:
            self.assertEqual(rows.meets(ratio, bar), fine, (ratio, bar))

    def test_a_row_is_judged_by_the_first_bar_that_matches(self):
        bars = rows.parse_bars('x TopK.* >=0.5\nx .* >=0.8\n')
        row = {'name': 'TopK/1', 'value': 6, 'unit': 's', 'against': 'f',
               'against_value': 10}
        self.assertTrue(rows.judge(row, 'x', bars)['meets'])
        row['name'] = 'Int8/1'
        self.assertFalse(rows.judge(row, 'x', bars)['meets'])
        self.assertIsNone(rows.judge(row, 'y', bars)['meets'])
        self.assertEqual(rows.judge(row, 'y', bars)['ratio'], 0.6)
        row['bar'] = '<=0.7'
        self.assertTrue(rows.judge(row, 'y', bars)['meets'])
        self.assertFalse(rows.judge(row, 'x', bars)['meets'])

    def test_a_row_that_compares_with_nothing_is_not_judged(self):
        row = rows.judge({'name': 'a', 'value': 1, 'unit': 's'}, 'x',
                         rows.parse_bars('x .* >=0.8'))
        self.assertEqual((row['ratio'], row['meets']), (None, None))
        self.assertEqual(tuple(row), rows.FIELDS)

    def test_the_table_counts_what_was_met(self):
        bars = rows.parse_bars('x .* >=0.8')
        made = [rows.judge({'name': n, 'value': v, 'unit': 'B/s',
                            'against': 'floor', 'against_value': 2e9}, 'x',
                           bars) for n, v in (('a', 1e9), ('b', 2e9))]
        text = rows.table(made)
        self.assertIn('1 GB/s', text)
        self.assertIn('MISSED', text)
        self.assertTrue(text.endswith('1 of 2 bars met'))


class TablesTest(unittest.TestCase):

    def test_the_committed_tables_are_well_formed(self):
        benches = main.parse_benches((main.HERE / 'benches.txt').read_text())
        for bar in rows.parse_bars((main.HERE / 'bars.txt').read_text()):
            self.assertIn(bar.bench, benches)

    def test_a_bad_line_is_refused(self):
        with self.assertRaises(ValueError):
            main.parse_benches('a strange //b:c\n')


if __name__ == '__main__':
    unittest.main()
