"""What is typed is what stands in the block, line by line."""

import os
import tempfile
import unittest

from tools.local_cluster import readme

PAGE = '''# Title
```
not this
```
## Begin here
Words, then:

```
one --flag   # why

two \\
  goes on
```

```
later
```
## Empty
## Next
```
other
'''
ENDED = PAGE + '```\n'


class ReadmeTest(unittest.TestCase):

    def test_the_first_block_under_the_heading_is_taken(self):
        self.assertEqual(readme.commands(ENDED, 'Begin here'),
                         ['one --flag   # why', 'two \\\n  goes on'])

    def test_a_heading_without_a_block_does_not_take_the_next_ones(self):
        with self.assertRaisesRegex(ValueError, 'no block'):
            readme.commands(ENDED, 'Empty')

    def test_later_blocks_under_the_heading_have_numbers(self):
        self.assertEqual(readme.commands(ENDED, 'Begin here', 2), ['later'])
        with self.assertRaisesRegex(ValueError, 'no block 3'):
            readme.commands(ENDED, 'Begin here', 3)

    def test_a_block_that_does_not_end_is_refused(self):
        with self.assertRaisesRegex(ValueError, 'under "Next" does not end'):
            readme.blocks(PAGE)

    def test_all_blocks_are_found_under_their_headings(self):
        page = '# A\n- word\n\n  ```\n  in a list\n  ```\n## B\n```yaml\nb:\n' \
            '  # no heading\n  c: 1\n```\n'
        self.assertEqual(readme.blocks(page), {
            'A': ['in a list'], 'B': ['b:\n  # no heading\n  c: 1']})

    def test_a_heading_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(ValueError, 'no heading "Elsewhere"'):
            readme.commands(ENDED, 'Elsewhere')


class GuideTest(unittest.TestCase):

    def setUp(self):
        with tempfile.NamedTemporaryFile('w', suffix='.md',
                                         delete=False) as file:
            file.write(ENDED)
        self.addCleanup(os.remove, file.name)
        self.guide = readme.Guide(file.name, {'Begin here': 2, 'Next': 1})

    def test_what_is_not_used_is_left(self):
        self.guide.commands('Begin here', 2)
        self.assertEqual(self.guide.left(), [('Begin here', 1), ('Next', 1)])
        self.assertEqual(self.guide.text('Next'), 'other')
        self.guide.commands('Begin here')
        self.assertEqual(self.guide.left(), [])

    def test_a_block_that_is_not_announced_is_refused(self):
        with self.assertRaisesRegex(ValueError, 'block 1 under "Title"'):
            self.guide.commands('Title')


if __name__ == '__main__':
    unittest.main()
