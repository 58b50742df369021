"""The alerts name metrics that exist, and each has its line in the runbook."""

import os
import re
import shutil
import subprocess
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))


def text(*parts):
    with open(os.path.join(*parts), encoding='utf-8') as file:
        return file.read()


class RulesTest(unittest.TestCase):

    def setUp(self):
        self.rules = text(_HERE, 'skerry.rules.yml')
        self.tests = text(_HERE, 'skerry.rules.test.yml')
        self.alerts = re.findall(r'alert: (\w+)', self.rules)

    def test_every_metric_is_documented(self):
        documented = text(_ROOT, 'docs', 'metrics.md')
        for name in set(re.findall(r'\bskerry_\w+', self.rules)):
            self.assertRegex(documented, rf'`{name}[`{{]')

    def test_every_alert_is_in_the_runbook(self):
        runbook = text(_ROOT, 'docs', 'runbook.md')
        for alert in self.alerts:
            self.assertIn(f'| `{alert}` |', runbook)

    def test_every_alert_has_a_test(self):
        for alert in self.alerts:
            self.assertIn(f'alertname: {alert}', self.tests)

    def test_promtool_agrees(self):
        if not shutil.which('promtool'):
            self.skipTest('promtool (package prometheus) is not installed')
        for words in (['check', 'rules', 'skerry.rules.yml'],
                      ['test', 'rules', 'skerry.rules.test.yml']):
            done = subprocess.run(['promtool', *words], cwd=_HERE,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == '__main__':
    unittest.main()
