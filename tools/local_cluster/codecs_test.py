"""What the planner says of codecs is read as it was meant."""

import unittest

from tools.local_cluster import codecs


def event(sequence, why, name='ExchangeOpened'):
    return {'name': name, 'message':
            f'exchange {sequence} opens as attempt {100 + sequence}: everyone '
            f'is ready; members 1, 2; two hops send 3 bytes each; {why}'}


FAST = ('codecs: replica 1 (25 MB/s) int8_block, replica 2 (6 MB/s) int8_block'
        ': the exchange takes 0.2 s and hides in the 0.8 s it has; expected '
        'error 0.007')
SLOW = ('codecs change: replica 1 (25 MB/s) sign1, replica 2 (0.2 MB/s) nf4: '
        'the exchange takes 0.3 s and hides in the 0.8 s it has; expected '
        'error 0.5; top_k/64 refused: error feedback would send 7.3 rounds of '
        'work at once, and 2 overshoot; before, it would have taken 2s')
APART = SLOW.replace('sign1, replica 2', 'sign1, results nf4, replica 2')
ALL = 'int8_block for all: no link is measured yet'


def opened(*whys):
    return codecs.opened([event(n, why) for n, why in enumerate(whys, 1)])


class CodecsTest(unittest.TestCase):

    def test_codecs_are_read_by_replica(self):
        first, second, third = opened(ALL, FAST, SLOW)
        self.assertEqual(first.codecs, {None: 'int8_block'})
        self.assertEqual(second.codecs, {'1': 'int8_block', '2': 'int8_block'})
        self.assertEqual(third.codecs, {'1': 'sign1', '2': 'nf4'})
        self.assertEqual(third.sequence, 3)

    def test_results_may_have_a_codec_of_their_own(self):
        apart, = opened(APART)
        self.assertEqual(apart.codecs, {'1': 'sign1, results nf4', '2': 'nf4'})
        self.assertEqual(codecs.chosen([apart]), ['nf4', 'sign1'])

    def test_another_codec_of_results_alone_is_a_change(self):
        exchanges = opened(SLOW, APART, APART, SLOW)
        self.assertEqual([e.sequence for e in codecs.changes(exchanges)],
                         [1, 2, 4])

    def test_other_events_and_jobs_tell_of_no_codecs(self):
        self.assertEqual(codecs.opened([
            event(1, FAST, name='Committed'),
            event(2, 'members 1, 2')]), [])

    def test_only_another_codec_is_a_change(self):
        exchanges = opened(ALL, FAST, FAST, SLOW, SLOW, ALL)
        self.assertEqual([e.sequence for e in codecs.changes(exchanges)],
                         [1, 4, 6])
        self.assertEqual(codecs.chosen(exchanges),
                         ['int8_block', 'nf4', 'sign1'])

    def test_a_member_left_out_is_no_change(self):
        alone = SLOW.replace(', replica 2 (0.2 MB/s) nf4', '')
        self.assertEqual(len(codecs.changes(opened(SLOW, alone, SLOW))), 1)

    def test_an_exchange_of_one_member_is_none(self):
        alone = ('members 1; one member: the exchange is local; int8_block for '
                 'all: there is nobody to send to')
        exchanges = opened(FAST, SLOW, alone)
        self.assertEqual(len(exchanges), 2)
        self.assertFalse(codecs.follow(exchanges, 2, 3))

    def test_a_change_follows_a_step_only_after_it(self):
        exchanges = opened(FAST, FAST, SLOW, SLOW)
        self.assertTrue(codecs.follow(exchanges, 2, 4))
        self.assertTrue(codecs.follow(exchanges, 2, 3))
        self.assertFalse(codecs.follow(exchanges, 1, 2))
        self.assertFalse(codecs.follow(exchanges, 3, 4))
        # The first choice is none.
        self.assertFalse(codecs.follow(exchanges, 0, 2))

    def test_the_table_has_reasons_between_marks_and_no_refusals(self):
        lines = codecs.table(opened(FAST, SLOW), [(1, 'a link gets slower')])
        text = '\n'.join(lines)
        self.assertLess(text.index('25 MB/s) int8'), text.index('gets slower'))
        self.assertLess(text.index('gets slower'), text.index('25 MB/s) sign1'))
        self.assertIn('before, it would', text)
        self.assertNotIn('refused', text)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_attempts_of_one_exchange_stay_in_their_order(self):
        lines = codecs.table([codecs.Exchange(3, {'1': 'sign1'}, 'of three'),
                              codecs.Exchange(3, {'1': 'nf4'}, 'of all')],
                             [(3, 'the link recovers')])
        self.assertEqual([line.split(maxsplit=1)[1] for line in lines],
                         ['of three', 'of all', '>>> the link recovers'])


if __name__ == '__main__':
    unittest.main()
