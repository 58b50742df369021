#!/usr/bin/env python3
"""Runs the unittest cases of one file and reports them the way Bazel reads.

    run_unittest.py tools/tidy/tidy_test.py
"""

import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree


class Recorder(unittest.TextTestResult):
    """Remembers every case with its outcome."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.cases = {}

    def startTest(self, test):
        super().startTest(test)
        self.cases[test.id()] = ('passed', '')

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.cases[test.id()] = ('failure', str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.cases[test.id()] = ('error', str(err[1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.cases[test.id()] = ('skipped', reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.cases[test.id()] = ('failure', str(err[1]))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.cases[test.id()] = ('failure', 'was expected to fail')


def write_xml(cases, path):
    suite = ElementTree.Element('testsuite', name='unittest')
    for name, (outcome, message) in cases.items():
        owner, _, case = name.rpartition('.')
        element = ElementTree.SubElement(
            suite, 'testcase', name=case, classname=owner.split('.')[-1])
        if outcome != 'passed':
            ElementTree.SubElement(element, outcome, message=message)
    ElementTree.ElementTree(suite).write(path, encoding='utf-8')


def main():
    # With a folder of its own, compiled code does not lie in the checkout.
    sys.dont_write_bytecode = 'PYTHONPYCACHEPREFIX' not in os.environ
    sys.path.insert(0, os.getcwd())
    module = sys.argv[1].removesuffix('.py').replace('/', '.')
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    result = unittest.TextTestRunner(resultclass=Recorder).run(suite)
    if 'XML_OUTPUT_FILE' in os.environ:
        write_xml(result.cases, os.environ['XML_OUTPUT_FILE'])
    if not result.testsRun:
        print('no test was found', file=sys.stderr)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == '__main__':
    sys.exit(main())
