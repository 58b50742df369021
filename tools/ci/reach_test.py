"""A change must never pass what it reaches by."""

import re
import unittest
from unittest import mock

from tools.ci import reach


class ReachTest(unittest.TestCase):
    TARGETS = [f'//f:{i}' for i in range(10)]

    def test_every_target_has_its_turn_once(self):
        turns = [reach.turn_of(self.TARGETS, turn, 4) for turn in range(7, 11)]
        self.assertEqual(sorted(sum(turns, [])), self.TARGETS)
        for share in turns:
            self.assertIn(len(share), (2, 3))

    def test_a_row_that_fits_runs_whoever_has_the_turn(self):
        row = reach.Row(self.TARGETS[:4], [], self.TARGETS[4:])
        for turn in range(7):
            self.assertEqual(reach.share(row, turn, reach.Row(4, 1, 6)), row)

    def test_no_turn_has_more_than_the_bound_and_all_have_one(self):
        for count in range(1, 60):
            targets = [f'//r:{i}' for i in range(count)]
            for most in (1, 3, 8):
                turns = reach.turns(count, most)
                shares = [reach.share(reach.Row([], targets, []), turn,
                                      reach.Row(1, most, 1)).reached
                          for turn in range(5, 5 + turns)]
                self.assertLessEqual(max(map(len, shares)), most)
                self.assertEqual(sorted(sum(shares, [])), sorted(targets))

    def test_a_beginning_has_the_same_share_of_each_row(self):
        rows = [[f'//{name}:{i:02}' for i in range(count)]
                for name, count in (('n', 60), ('r', 40), ('o', 20), ('e', 0))]
        order = reach.mixed(rows)
        self.assertEqual(sorted(order), sorted(sum(rows, [])))
        for begun in range(12, len(order) + 1, 12):
            for row in rows:
                self.assertAlmostEqual(
                    sum(target in row for target in order[:begun]),
                    begun * len(row) / 120, delta=1)

    def test_a_change_of_everything_leaves_no_target_to_the_others(self):
        graph = Graph({'//f:3': ['//f:3.cc']})
        row = reach.rows(graph, self.TARGETS,
                         reach.Changed({'//f:3.cc'}, set(), True))
        self.assertEqual(row.near, ['//f:3'])
        self.assertEqual(row.reached,
                         [name for name in self.TARGETS if name != '//f:3'])

    def test_a_file_is_of_the_nearest_package(self):
        self.assertEqual(
            reach.changed(['tools/ci/ci_test.py', 'README.md',
                           'tests/sim/pinned/README.md'],
                          PackagesOf({'tools/ci/ci_test.py', 'README.md',
                                      'tests/sim/pinned/README.md'})),
            ({'//tools/ci:ci_test.py', '//tests/sim:pinned/README.md'},
             set(), False))

    def test_a_fuzzers_seeds_are_its_own(self):
        self.assertEqual(
            reach.changed(['tests/fuzz/corpus/frame_fuzz/empty']),
            ({'//tests/fuzz:frame_fuzz'}, set(), False))

    def test_a_build_file_or_a_lost_file_reaches_its_package(self):
        self.assertEqual(
            reach.changed(['tools/ci/BUILD', 'tests/sim/gone.cc'],
                          PackagesOf({'tools/ci/BUILD'})),
            (set(), {'//tools/ci', '//tests/sim'}, False))

    def test_what_everybody_stands_on_reaches_everything(self):
        self.assertEqual(
            reach.changed(['tools/ci/main.py', '.bazelrc']),
            ({'//tools/ci:main.py'}, set(), True))

    def test_each_commit_begins_elsewhere_and_has_all(self):
        targets = [f'//f:{i:03}' for i in range(200)]
        firsts = set()
        for turn in range(20):
            with mock.patch.multiple(
                    reach, changed_files=lambda: ['f/3.cc'],
                    changed=lambda files: reach.Changed({'//f:3.cc'}, set(),
                                                        False),
                    commits=lambda turn=turn: turn):
                order = reach.in_order(Graph({targets[3]: ['//f:3.cc']}),
                                       targets)
            self.assertEqual(order[0], targets[3])
            self.assertEqual(sorted(order), targets)
            firsts |= set(order[1:41])
        self.assertEqual(firsts, set(targets) - {targets[3]})

    def test_rows_are_asked_of_the_graph_of_files(self):
        # A chain: deep_test -> far -> middle -> near -> base.cc.
        graph = Graph({'//t:near_test': ['//l:near'], '//l:near': ['//l:b.cc'],
                       '//t:deep_test': ['//l:far'], '//l:far': ['//l:middle'],
                       '//l:middle': ['//l:near'], '//t:other_test': [],
                       '//t:built_test': ['//p:all']})
        tests = ['//t:near_test', '//t:deep_test', '//t:other_test',
                 '//t:built_test']
        what = reach.Changed({'//l:b.cc'}, {'//p'}, False)
        self.assertEqual(
            reach.rows(graph, tests, what),
            (['//t:near_test'], ['//t:built_test', '//t:deep_test'],
             ['//t:other_test']))


class PackagesOf:
    """A root in which only these files, and BUILD of two packages, exist."""

    def __init__(self, files):
        self._files = {*files, 'tools/ci/BUILD', 'tests/sim/BUILD'}
        self._path = ''

    def __truediv__(self, path):
        longer = PackagesOf(self._files)
        longer._path = f'{self._path}/{path}'.lstrip('/')
        return longer

    def exists(self):
        return self._path in self._files


class Graph:
    """Answers `rdeps(set(...), set(...)[, depth])` as Bazel does."""

    def __init__(self, deps):
        self._deps = deps

    def query(self, expression):
        match = re.fullmatch(
            r'rdeps\(set\((.*?)\), set\((.*?)\)(?:, (\d+))?\)', expression)
        found, depth = set(match[2].split()), int(match[3] or 100)
        for _ in range(depth):
            found |= {target for target, deps in self._deps.items()
                      if found & set(deps)}
        return sorted(found)


if __name__ == '__main__':
    unittest.main()
