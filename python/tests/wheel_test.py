"""The wheel: the same bytes each time, whole, and of this release."""

import base64
import csv
import glob
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile


class WheelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def build(self, name):
        done = subprocess.run(
            [sys.executable, '-B', 'python/build_wheel',
             os.path.join(self.folder, name)],
            check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def test_two_wheels_are_the_same_bytes(self):
        contents = []
        for name in ('a', 'b'):
            with open(self.build(name), 'rb') as file:
                contents.append(file.read())
        self.assertEqual(*contents)

    def test_its_record_names_every_file_and_hash(self):
        with zipfile.ZipFile(self.build('a')) as wheel:
            record = next(name for name in wheel.namelist()
                          if name.endswith('.dist-info/RECORD'))
            rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
            self.assertEqual([row[0] for row in rows], wheel.namelist())
            for name, digest, size in rows[:-1]:
                content = wheel.read(name)
                self.assertEqual(int(size), len(content))
                self.assertEqual(digest, 'sha256=' + base64.urlsafe_b64encode(
                    hashlib.sha256(content).digest()).decode().rstrip('='))
            self.assertEqual(
                sorted(name for name in wheel.namelist()
                       if name.startswith('skerry/')),
                sorted(f'skerry/{name}' for name in
                       glob.glob('**/*.py', root_dir='python/skerry',
                                 recursive=True)))
            self.assertIn('skerry/shells/hf.py', wheel.namelist())

    def test_it_has_the_release_of_the_programs(self):
        with open('base/release.h', encoding='utf-8') as file:
            release = re.search(r'kRelease\[\] = "(.*)"', file.read())[1]
        path = self.build('a')
        self.assertEqual(os.path.basename(path),
                         f'skerry-{release}-py3-none-any.whl')
        said = subprocess.run(
            [sys.executable, '-B', '-c',
             'from skerry import release; print(release.package())'],
            env={'PYTHONPATH': path}, check=True, stdout=subprocess.PIPE,
            text=True, cwd=self.folder)
        self.assertEqual(said.stdout.strip(), f'skerry {release}')

    def test_a_shell_is_imported_when_it_is_asked_for(self):
        # None of the packages that the shells are for is here.
        said = subprocess.run(
            [sys.executable, '-B', '-S', '-c',
             'import skerry, sys\n'
             'print("torch" in sys.modules, hasattr(skerry, "jax"))\n'
             'for name in ("hf", "accelerate", "lightning"):\n'
             '    try: getattr(skerry, name)\n'
             '    except ModuleNotFoundError as error: print(error.name)'],
            env={'PYTHONPATH': self.build('a')}, check=True,
            stdout=subprocess.PIPE, text=True, cwd=self.folder)
        lines = said.stdout.splitlines()
        self.assertEqual(lines[0], 'False False')
        self.assertEqual(len(lines), 4)
        for line in lines[1:]:
            self.assertIn(line, ('torch', 'accelerate', 'lightning',
                                 'transformers'))


if __name__ == '__main__':
    unittest.main()
