"""What is typed is what stands in the block, line by line."""

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


class ReadmeTest(unittest.TestCase):

    def test_the_first_block_under_the_heading_is_taken(self):
        self.assertEqual(readme.commands(PAGE, 'Begin here'),
                         ['one --flag   # why', 'two \\\n  goes on'])

    def test_a_heading_without_a_block_does_not_take_the_next_ones(self):
        with self.assertRaisesRegex(ValueError, 'no block'):
            readme.commands(PAGE, 'Empty')

    def test_an_open_block_is_none(self):
        with self.assertRaisesRegex(ValueError, 'no block'):
            readme.commands(PAGE, 'Next')

    def test_a_heading_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(ValueError, 'no heading "Elsewhere"'):
            readme.commands(PAGE, 'Elsewhere')


if __name__ == '__main__':
    unittest.main()
