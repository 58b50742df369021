"""Which programs a folder lacks."""

import pathlib
import tempfile
import unittest

from tools.local_cluster import binaries


class LackingTest(unittest.TestCase):

    def test_names_what_is_not_there(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in (*binaries.PROGRAMS, 'odd_trainer'):
                pathlib.Path(directory, name).touch()
            self.assertEqual(binaries.lacking(directory), [])
            more = {'wall_clock.so': '//t:wall_clock.so',
                    'odd_trainer': '//t:odd_trainer'}
            self.assertEqual(binaries.lacking(directory, more),
                             ['wall_clock.so'])
            pathlib.Path(directory, 'skerryctl').unlink()
            self.assertEqual(binaries.lacking(directory, more),
                             ['skerryctl', 'wall_clock.so'])


if __name__ == '__main__':
    unittest.main()
