"""Whether bugs go where they belong, or nowhere."""

import unittest

from tests.sim.planted import plant

TEXT = '''# a bug
plant late a/b.cc
within 20
-  if (x) {
+  if (PLANTED || x) {

plant late a/c.cc
-  y();
+  if (!PLANTED) y();
'''


class PlantTest(unittest.TestCase):

    def test_a_bug_replaces_its_lines(self):
        parts = plant.parse(TEXT)
        out = plant.plant('void f() {\n  if (x) {\n', 'a/b.cc', parts)
        self.assertIn('if (::skerry::sim::IsPlanted("late") || x) {', out)
        self.assertNotIn('  if (x) {', out)

    def test_only_its_file_changes(self):
        parts = plant.parse(TEXT)
        self.assertIn('  if (x) {\n',
                      plant.plant('  if (x) {\n', 'a/d.cc', parts))

    def test_lines_that_are_gone_or_doubled_are_refused(self):
        parts = plant.parse(TEXT)
        for source in ('', '  y();\n  y();\n'):
            with self.assertRaisesRegex(ValueError, 'late'):
                plant.plant(source, 'a/c.cc', parts)

    def test_names_come_once(self):
        self.assertEqual(plant.names(plant.parse(TEXT)), ['late'])

    def test_a_stray_line_is_refused(self):
        with self.assertRaisesRegex(ValueError, 'line 1'):
            plant.parse('-  x\n')


if __name__ == '__main__':
    unittest.main()
