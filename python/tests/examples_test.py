"""The examples say what README and guide say of them."""

import difflib
import os
import re
import unittest

# What attaches each of them.
_EXAMPLES = {'cnn': 'skerry.attach(', 'fsdp2': 'skerry.attach(',
             'lora': 'skerry.attach(', 'trainer': 'skerry.hf.attach(',
             'accelerate': 'skerry.accelerate.attach(',
             'lightning': 'skerry.lightning.attach('}
_LINES_MAX = 3


def lines(example, name):
    with open(f'examples/{example}/{name}', encoding='utf-8') as file:
        return file.read().splitlines()


class ExamplesTest(unittest.TestCase):
    def test_three_lines_and_an_import_attach_a_plain_loop(self):
        for example, attaches in _EXAMPLES.items():
            changes = [
                line[2:] for line in difflib.ndiff(
                    lines(example, 'plain.py'), lines(example, 'train.py'))
                if line.startswith('+ ')]
            self.assertIn('import skerry', changes)
            changes.remove('import skerry')
            self.assertLessEqual(len(changes), _LINES_MAX, changes)
            self.assertTrue(any(attaches in one for one in changes))

    def test_every_example_has_a_job(self):
        for example in _EXAMPLES:
            job = '\n'.join(lines(example, 'job.yaml'))
            self.assertRegex(job, rf'program:\n    name: {example}\n')
            self.assertTrue(os.path.exists(f'examples/{example}/train.py'))

    def test_the_guide_shows_the_lines_of_the_examples(self):
        with open('docs/guides/pytorch.md', encoding='utf-8') as file:
            guide = file.read()
        shown = re.findall(r'^\+ (.*)$', guide, re.MULTILINE)
        self.assertTrue(shown)
        there = {line.strip() for example in _EXAMPLES
                 for line in lines(example, 'train.py')}
        for line in shown:
            self.assertIn(line.strip(), there)


if __name__ == '__main__':
    unittest.main()
