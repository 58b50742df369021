"""A failure must never be counted as anything else."""

import json
import unittest
from unittest import mock

from tools.ci import behind
from tools.ci import main
from tools.ci import reach
from tools.ci import results
from tools.ci import stages
from tools.ci import suites
from tools.ci import tally
from tools.ci.bazel import Bazel

GTEST_XML = '''<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" name="AllTests">
 <testsuite name="LeaseTest" tests="4">
  <testcase name="Holds" status="run" result="completed"
            classname="LeaseTest"/>
  <testcase name="Ends" status="run" result="completed"
            classname="LeaseTest"><failure message="no"/></testcase>
  <testcase name="OnGpu" status="run" result="skipped"
            classname="LeaseTest"><skipped message="no device"/></testcase>
  <testcase name="DISABLED_Old" status="notrun" result="suppressed"
            classname="LeaseTest"/>
 </testsuite>
</testsuites>'''
BAZEL_XML = '''<testsuites><testsuite name="a/b">
  <testcase name="a/b" status="run"/></testsuite></testsuites>'''
CRASH_XML = '''<testsuites><testsuite name="a/b">
  <testcase name="a/b" status="run"><error message="exited with 134"/>
  </testcase></testsuite></testsuites>'''


def counts(result):
    return result.passed, len(result.failed), result.skipped


def event(kind, key, **body):
    name = {'targetCompleted': 'completed'}.get(kind, kind)
    return json.dumps({'id': {kind: key}, name: body})


def ran(label, status, **key):
    return event('testResult', {'label': label, **key}, status=status)


class XmlTest(unittest.TestCase):

    def test_cases_of_googletest_are_counted_one_by_one(self):
        result = results.of_xml('//a:b', GTEST_XML, passed=False)
        self.assertEqual(counts(result), (1, 1, 2))
        self.assertEqual(result.failed, ['//a:b LeaseTest.Ends'])

    def test_a_test_without_its_own_xml_is_one_case(self):
        self.assertEqual(counts(results.of_xml('//a:b', BAZEL_XML, True)),
                         (1, 0, 0))

    def test_a_crash_is_a_failure(self):
        self.assertEqual(counts(results.of_xml('//a:b', CRASH_XML, False)),
                         (0, 1, 0))

    def test_bazels_verdict_beats_a_clean_or_broken_file(self):
        for text in (BAZEL_XML, '', '<cut off'):
            self.assertEqual(
                len(results.of_xml('//a:b', text, False).failed), 1)
        self.assertEqual(counts(results.of_xml('//a:b', '', True)), (1, 0, 0))


class EventsTest(unittest.TestCase):

    def tally(self, *events, exit_code=0, text=BAZEL_XML):
        return results.of_events('\n'.join(events), exit_code,
                                 lambda event: text)

    def test_shards_add_up_and_the_last_attempt_decides(self):
        self.assertEqual(counts(self.tally(
            ran('//a:b', 'PASSED', shard=1), ran('//a:b', 'PASSED', shard=2),
            ran('//c:d', 'FAILED', attempt=1),
            ran('//c:d', 'PASSED', attempt=2))), (3, 0, 0))

    def test_a_target_that_was_not_built_is_a_failure(self):
        result = self.tally(
            ran('//a:b', 'PASSED'),
            event('targetCompleted', {'label': '//c:d'}),
            event('targetCompleted', {'label': '//a:b'}, success=True),
            exit_code=1)
        self.assertEqual(result.failed, ['//c:d (not built)'])
        self.assertEqual(result.passed, 1)

    def test_a_target_that_does_not_fit_the_configuration_is_skipped(self):
        unfit = json.dumps({
            'id': {'targetCompleted': {'label': '//cuda:d'}},
            'aborted': {'reason': 'SKIPPED'}})
        self.assertEqual(counts(self.tally(ran('//a:b', 'PASSED'), unfit)),
                         (1, 0, 1))
        broken = unfit.replace('SKIPPED', 'ANALYSIS_FAILURE')
        self.assertEqual(
            self.tally(ran('//a:b', 'PASSED'), broken, exit_code=1).failed,
            ['//cuda:d (not built)'])

    def test_a_test_that_did_not_start_is_a_failure(self):
        result = self.tally(ran('//a:b', 'NO_STATUS'), exit_code=1)
        self.assertEqual(counts(result), (0, 1, 0))

    def test_bazels_exit_status_is_never_lost(self):
        self.assertEqual(
            len(self.tally(ran('//a:b', 'PASSED'), exit_code=1).failed), 1)
        self.assertEqual(self.tally(exit_code=4).failed, [])
        self.assertEqual(len(self.tally(exit_code=37).failed), 1)


class CommandTest(unittest.TestCase):

    def test_a_program_that_counts_is_believed(self):
        self.assertEqual(
            counts(tally.of_command('kills', 0, 'x\n20 passed, 0 failed\n')),
            (20, 0, 0))
        self.assertEqual(
            counts(tally.of_command('kills', 1,
                                    '18 passed, 2 failed, 3 skipped')),
            (18, 2, 3))

    def test_a_program_names_its_failures_or_they_have_numbers(self):
        for named, failed in (
                ('FAILED it stops: after 3 s\n',
                 ['tls: it stops: after 3 s']),
                ('', ['tls #1']),
                ('FAILED of a suite\nFAILED b\n', ['tls: b'])):
            self.assertEqual(tally.of_command(
                'tls', 1, f'{named}4 passed, 1 failed').failed, failed)

    def test_any_other_is_one_case(self):
        self.assertEqual(counts(tally.of_command('demo', 0, 'done')),
                         (1, 0, 0))
        self.assertEqual(counts(tally.of_command('demo', 3, '')), (0, 1, 0))

    def test_contradictions_are_failures(self):
        for code, output in [(1, '5 passed, 0 failed'),
                             (0, '5 passed, 1 failed'),
                             (-9, '5 passed, 0 failed'),
                             (0, '0 passed, 0 failed')]:
            self.assertTrue(tally.of_command('kills', code, output).failed,
                            (code, output))

    def test_the_line(self):
        self.assertEqual(tally.Tally(3).line(), '3 passed, 0 failed')
        self.assertEqual(tally.Tally(3, ['a'], 2).line(),
                         '3 passed, 1 failed, 2 skipped')


class BazelTest(unittest.TestCase):

    def test_only_the_usual_home_leaves_links_in_the_checkout(self):
        # `bazel test //...` takes what a link to another home leads to as
        # packages of its own: sanitize, then unit, failed.
        leave_none = '--symlink_prefix=/'
        self.assertNotIn(leave_none, Bazel().flags)
        self.assertIn(leave_none, Bazel('fuzz', ['--config=fuzz']).flags)


class Tests:
    """Answers which tests there are, and remembers which were left out."""

    def __init__(self, tests, clock):
        self._tests, self._clock, self.ran = tests, clock, []

    def query(self, expression):
        assert expression == 'tests(//... - //research/...)', expression
        return self._tests

    def test(self, patterns):
        assert patterns[:2] == ['//...', '-//research/...'], patterns
        left_out = {name[1:] for name in patterns[2:]}
        some = [name for name in self._tests if name not in left_out]
        self._clock.now += 5 * len(some)
        self.ran += some
        return tally.Tally(len(some), some[:1])


class Clock:
    now = 7.0

    def __call__(self):
        return self.now


class UnitTest(unittest.TestCase):

    def run_of(self, count):
        clock = Clock()
        bazel = Tests([f'//t:{i:03}' for i in range(count)], clock)
        with mock.patch.object(reach, 'changed_files', return_value=None):
            return (stages.units_in_time(bazel, stages.PRODUCT, clock),
                    bazel.ran)

    def test_what_fits_in_the_time_runs_once(self):
        for count in (1, 40, 41, 160):
            result, ran = self.run_of(count)
            self.assertEqual(len(ran), count)
            self.assertEqual(len(set(ran)), count)
            self.assertEqual(counts(result), (count, -(-count // 40), 0))

    def test_nothing_begins_after_the_time(self):
        # 40 tests take 200 s here, and 720 are not over after three times that.
        self.assertEqual(len(self.run_of(400)[1]), 160)

    def test_no_tests_are_no_failure(self):
        self.assertEqual(counts(self.run_of(0)[0]), (0, 0, 0))


class FuzzTest(unittest.TestCase):
    LONG = [f'//f:long_{i}' for i in range(14)]
    SHORT = [f'//f:short_{i}' for i in range(10)]

    def test_long_targets_come_first_and_all_chosen_ones_run(self):
        for turn in range(reach.FUZZ_TURNS):
            lasting = stages.fuzz_seconds(self.LONG, self.LONG + self.SHORT,
                                          turn)
            self.assertEqual(set(lasting), {*self.LONG, *self.SHORT})
            seconds = list(lasting.values())
            self.assertEqual(seconds, sorted(seconds, reverse=True))
            self.assertIn(seconds.count(60), (2, 3))

    def test_every_long_target_meets_its_full_time_in_time(self):
        # Wherever the long ones stand in their row.
        for before in range(7):
            first = [f'//a:{i}' for i in range(before)]
            self.check_full_time(
                reach.Row([], first + self.LONG + self.SHORT, []),
                stages.FUZZ_MOST.reached)
            self.check_full_time(
                reach.Row([], [], first + self.LONG + self.SHORT),
                stages.FUZZ_MOST.others)

    def check_full_time(self, row, most):
        count, whole = sum(map(len, row)), set()
        commits = reach.turns(count, most) * reach.FUZZ_TURNS
        for turn in range(100, 100 + commits):
            chosen = sum(reach.share(row, turn, stages.FUZZ_MOST), [])
            lasting = stages.fuzz_seconds(self.LONG, chosen, turn)
            whole |= {name for name in lasting if lasting[name] == 60}
        self.assertEqual(whole, set(self.LONG))


class TurnOfSuitesTest(unittest.TestCase):

    def test_each_word_of_an_argument_has_its_turn(self):
        self.assertEqual(
            [suites.at_turn(['--n', '10', '--seed', '1|11'], turn)
             for turn in (4, 5)],
            [['--n', '10', '--seed', '1'], ['--n', '10', '--seed', '11']])

    def test_four_commits_simulate_20000_schedules(self):
        # The number stands in README.md.
        seeds = set()
        for turn in range(4):
            words = suites.at_turn(suites.load()['sim'].arguments, turn)
            given = dict(zip(words[::2], words[1::2]))
            first = int(given['--seed'])
            seeds |= set(range(first, first + int(given['--n'])))
        self.assertEqual(seeds, set(range(1, 20001)))

    def test_every_suite_has_its_turn_and_some_always(self):
        table = suites.parse('a 1 x/a\nb 2 x/b\nc 2 x/c\nd 3 x/d\n')
        self.assertEqual(
            [suites.with_turn(table, turn, []) for turn in (6, 7, 8)],
            [['a', 'b', 'd'], ['a', 'c'], ['a', 'b']])
        for name in suites.load():
            self.assertTrue(any(
                name in suites.with_turn(suites.load(), turn, [])
                for turn in range(6)), name)

    def test_a_changed_suite_runs_and_an_archive_runs_all(self):
        table = suites.parse('a 1 x/a\nb 2 x/b\nc 2 x/c\n')
        self.assertEqual(suites.with_turn(table, 0, ['x/c']), ['a', 'b', 'c'])
        self.assertEqual(suites.with_turn(table, 0, None), ['a', 'b', 'c'])

    def test_what_has_turns_of_its_own_is_in_every_commit(self):
        # Otherwise some of its turns would never come.
        for entry in suites.load().values():
            if '|' in ' '.join(entry.arguments) or '--turn' in entry.arguments:
                self.assertEqual(entry.commits, 1, entry.name)


LANE = behind.Lane(19, ('sim',))


class BehindTest(unittest.TestCase):

    def tally(self, program):
        with behind.Behind(LANE, ['sh', '-c', program]) as them:
            self.assertEqual(counts(them.start()), (0, 0, 0))
            return them.end()

    def test_counts_what_ran_behind(self):
        self.assertEqual(counts(self.tally('echo 3 passed, 0 failed')),
                         (3, 0, 0))
        self.assertEqual(
            self.tally('echo FAILED sim; echo 3 passed, 1 failed; exit 1')
            .failed, ['behind: sim'])
        self.assertEqual(len(self.tally('kill -9 $$').failed), 1)

    def test_ends_with_its_block(self):
        with behind.Behind(LANE, ['sleep', '1000']) as them:
            them.start()


class PlanTest(unittest.TestCase):
    TABLE = suites.parse('# why\nkills 1 //tests/chaos:kills --n 20\n'
                         'demo 1 tools/demo --quick\n')

    def names(self, *arguments):
        ours, for_suite = main.split_for_suite(list(arguments), self.TABLE)
        args = main.parse_arguments(ours)
        return [name for name, _ in main.plan(args, for_suite, self.TABLE)]

    def test_table(self):
        self.assertEqual(self.TABLE['kills'].arguments, ['--n', '20'])
        with self.assertRaises(ValueError):
            suites.parse('kills\n')
        with self.assertRaises(ValueError):
            suites.parse('a 1 b\na 1 c\n')
        with self.assertRaises(ValueError):
            suites.parse('a tools/demo --quick\n')

    def test_full_quick_and_named_runs(self):
        self.assertEqual(self.names(), ['tidy', 'unit', 'clang', 'cuda',
                                        'sanitize', 'fuzz', 'kills', 'demo'])
        self.assertEqual(self.names('--quick'), ['tidy', 'unit'])
        self.assertEqual(self.names('kills', 'demo'), ['kills', 'demo'])
        self.assertEqual(self.names('//base/...'), ['//base/...'])
        # Named alone: not every machine has the memory.
        self.assertEqual(self.names('large'), ['large'])
        with self.assertRaises(ValueError):
            self.names('nonsense')

    def test_what_has_no_clock_runs_behind_the_suites(self):
        table = suites.parse('sim 1 //tests/sim:campaign\n'
                             'demo 1 tools/demo\n')
        with behind.Behind(LANE) as them:
            names = [name for name, _ in
                     main.plan(main.parse_arguments([]), [], table, [them])]
        self.assertEqual(names, ['tidy', 'unit', 'clang', 'cuda', 'behind: sim',
                                 'demo', 'sim', 'sanitize', 'fuzz'])

    def test_lanes_name_suites_that_there_are(self):
        named = [name for lane in behind.LANES for name in lane.parts]
        self.assertEqual(len(named), len(set(named)))
        self.assertEqual(set(named) - {*suites.load(), 'sanitized'}, set())

    def test_a_lane_lacks_what_has_no_turn(self):
        lanes = behind.lanes({'sim', 'charts'})
        self.assertEqual(lanes[0].parts, ('sanitized',))
        self.assertEqual(len(lanes[1].parts), len(behind.LANES[1].parts) - 1)
        self.assertEqual(len(behind.lanes(set(behind.LANES[1].parts))), 1)

    def test_a_small_machine_runs_one_thing_after_another(self):
        table = suites.parse('sim 1 //tests/sim:campaign\n'
                             'demo 1 tools/demo\n')
        names = [name for name, _ in
                 main.plan(main.parse_arguments([]), [], table)]
        self.assertEqual(names[-2:], ['sim', 'demo'])

    def test_flags_after_a_suite_are_its_own(self):
        self.assertEqual(
            main.split_for_suite(['tidy', 'kills', '--n', '5', '--seed', '3'],
                                 self.TABLE),
            (['tidy', 'kills'], ['--n', '5', '--seed', '3']))

    def test_the_longest_part_is_named_first(self):
        self.assertEqual(main.times({'tidy': 27.6, 'unit': 900.2}),
                         'took 928 s: unit 900, tidy 28')


if __name__ == '__main__':
    unittest.main()
