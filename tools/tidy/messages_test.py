import unittest

from tools.tidy import messages
from tools.tidy import rules

GOOD = ('// It is so.\n'
        'return absl::NotFoundError(absl::StrCat("no job named ", a(")"),\n'
        '    "; skerryctl get jobs lists them"));\n')


class MessagesTest(unittest.TestCase):

    def test_what_does_not_help_is_found(self):
        self.assertEqual(list(messages.faults(GOOD)), [])
        for bad in (GOOD.replace('no job', 'The job'),
                    GOOD.replace('lists them', 'lists them.'),
                    GOOD.replace('no job named', 'invalid job')):
            self.assertEqual([line for line, _ in messages.faults(bad)], [2],
                             bad)

    def test_names_comments_and_lone_reasons_are_fine(self):
        for fine in (GOOD.replace('no job named', 'AdamW: (no) job'),
                     GOOD.replace('no job named', 'Megatron index'),
                     '// absl::NotFoundError("Invalid.")\n',
                     'return absl::NotFoundError(reason);\n'):
            self.assertEqual(list(messages.faults(fine)), [], fine)

    def test_fakes_and_tests_write_as_they_like(self):
        bad = GOOD.replace('no job', 'bad job')
        for path, wrong in [('cli/a.cc', 1), ('cli/a_test.cc', 0),
                            ('simulator/a.cc', 0)]:
            self.assertEqual(
                [finding.rule for finding in rules.messages_that_help(
                    rules.Tree({path: bad}))], ['message'] * wrong, path)


if __name__ == '__main__':
    unittest.main()
