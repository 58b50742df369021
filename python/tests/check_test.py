"""The command line of `python -m skerry`, without torch."""

import os
import subprocess
import sys
import tempfile
import unittest


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = self.write('train.py', '')

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def skerry(self, *arguments):
        return subprocess.run(
            [sys.executable, '-B', '-m', 'skerry', *arguments],
            env={**os.environ, 'PYTHONPATH': 'python'}, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_check_gives_the_kit_the_program_and_this_python(self):
        # It prints its arguments instead of starting what they say.
        self.write('trainer_kit', '#!/bin/sh\nfor a; do echo "$a"; done\n'
                   'exit 3\n')
        attach = self.write('skerry-attach', '#!/bin/sh\n')
        done = self.skerry('check', self.program, '--batch', '16', '--ranks',
                           '2', '--parameters', '{"width": 64}',
                           '--programs', self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        words = done.stdout.splitlines()
        logs = words.pop(7)
        self.assertTrue(logs.startswith('--log-directory='))
        self.assertEqual(words, [
            '--parameters={"width": 64}', '--batch-samples=16', '--', attach,
            f'--program={self.program}', f'--python={sys.executable}',
            '--ranks=2', '--log-level=error'])

    def test_check_says_what_is_missing(self):
        done = self.skerry('check', self.program, '--batch', '16',
                           '--programs', self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr,
                         f'^skerry: there is no trainer_kit in {self.folder}')

    def test_wrong_flags_are_named_in_one_line(self):
        for arguments, said in [
                ([], 'required: PROGRAM'),
                ([self.program, '--batch', '8'], 'required: --samples, --tau'),
                (['describe', self.program, '--batch', '0'],
                 'has to be a whole number from 1 to'),
                (['describe', self.program, '--batch', '8', '--seed', '-1'],
                 'has to be a whole number from 0 to'),
                (['describe', self.program, '--batch', '8', '--colour'],
                 'unrecognized arguments: --colour'),
                (['describe', self.folder + '/no.py', '--batch', '8'],
                 'there is no file'),
                (['describe', self.program, '--batch', '8', '--parameters',
                  '[]'], 'no JSON object')]:
            done = self.skerry(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count('\n'), 1, done.stderr)


if __name__ == '__main__':
    unittest.main()
