"""The runner loses no outcome."""

import io
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from tools.bazel import run_unittest


class Sample(unittest.TestCase):
    """Run by the test below, not found by the loader."""

    def passes(self):
        pass

    def fails(self):
        self.assertEqual(1, 2)

    def breaks(self):
        raise KeyError('x')

    def is_skipped(self):
        self.skipTest('why')

    def fails_in_a_part(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 2)


class RunUnittestTest(unittest.TestCase):

    def test_every_outcome_reaches_the_file(self):
        suite = unittest.TestSuite(
            Sample(name) for name in ('passes', 'fails', 'breaks',
                                      'is_skipped', 'fails_in_a_part'))
        result = unittest.TextTestRunner(
            stream=io.StringIO(),
            resultclass=run_unittest.Recorder).run(suite)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'test.xml'
            run_unittest.write_xml(result.cases, path)
            cases = ElementTree.parse(path).getroot()
        self.assertEqual(
            {case.get('name'): [child.tag for child in case]
             for case in cases},
            {'passes': [], 'fails': ['failure'], 'breaks': ['error'],
             'is_skipped': ['skipped'], 'fails_in_a_part': ['failure']})


if __name__ == '__main__':
    unittest.main()
