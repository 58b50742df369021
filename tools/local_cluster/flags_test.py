"""Command lines of scripts: what is refused, and in which words."""

import contextlib
import io
import unittest

from tools.local_cluster import flags


def parser():
    made = flags.Parser(prog='tester')
    made.add_argument('--n', type=flags.whole(1, 9), default=3)
    made.add_argument('--minutes', type=flags.real(0.1, 60), default=1)
    made.add_argument('--quick', action='store_true')
    return made


def refusal(*words):
    """(exit code, what was said) of a wrong line."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            parser().parse_args(words)
        except SystemExit as end:
            return end.code, said.getvalue()
    raise AssertionError(f'{words} were taken')


class FlagsTest(unittest.TestCase):

    def test_numbers_within_bounds_are_taken(self):
        args = parser().parse_args(['--n', '9', '--minutes=0.5'])
        self.assertEqual((args.n, args.minutes), (9, 0.5))

    def test_numbers_out_of_bounds_are_one_line_and_code_two(self):
        for text in ('0', '10', '-1', '1_0', ' 1', '+1', '', 'one', '1e3',
                     '99999999999999999999999'):
            code, said = refusal('--n=' + text)
            self.assertEqual(code, 2)
            self.assertEqual(
                said, 'tester: argument --n: has to be a whole number from 1 '
                f'to 9, not {text!r} (see tester --help)\n')
        for text in ('0', '61', '-1', 'nan', 'inf', '1e300'):
            code, said = refusal('--minutes=' + text)
            self.assertEqual(code, 2)
            self.assertIn(f'from 0.1 to 60, not {text!r}', said)

    def test_unknown_words_are_one_line_and_code_two(self):
        for words in (('--colour',), ('stray',), ('--qui',)):
            code, said = refusal(*words)
            self.assertEqual(code, 2)
            self.assertEqual(
                said, f'tester: unrecognized arguments: {words[0]} '
                '(see tester --help)\n')


if __name__ == '__main__':
    unittest.main()
