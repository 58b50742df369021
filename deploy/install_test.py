"""What deploy/install lays down, and that the programs take it."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

_ROOT = pathlib.Path.cwd()
_PROGRAMS = {
    'skerry-coordinator': 'coordinator/main',
    'skerry-worker': 'worker/main',
    'skerry-trainer': 'trainer/main',
    'skerry-sentencepiece': 'data/sentencepiece/main',
    'skerryctl': 'cli',
}


# Values of the flags that do not take 1.
_VALUES = {'--coordinator': '127.0.0.1:1', '--listen': '127.0.0.1:0',
           '--admin': '127.0.0.1:0'}


def install(*words, **environment):
    return subprocess.run(
        ['bash', _ROOT / 'deploy' / 'install', *words], check=False,
        env={**os.environ, **environment}, capture_output=True, text=True)


class InstallTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.place)
        programs = os.path.join(cls.place, 'programs')
        os.mkdir(programs)
        for name, package in _PROGRAMS.items():
            shutil.copy(_ROOT / package / name, programs)
        cls.root = os.path.join(cls.place, 'root')
        for _ in range(2):  # again changes nothing
            subprocess.run(
                ['bash', _ROOT / 'deploy' / 'install'], check=True,
                env={**os.environ, 'DESTDIR': cls.root, 'PREFIX': '/opt/s',
                     'PROGRAMS': programs})
        cls.units = sorted(
            pathlib.Path(cls.root, 'etc/systemd/system').iterdir())

    def command(self, unit):
        return re.search(r'^ExecStart=(.*)$', unit.read_text(),
                         re.MULTILINE).group(1).split()

    def test_every_unit_starts_an_installed_program(self):
        self.assertEqual(len(self.units), 2)
        for unit in self.units:
            program = self.command(unit)[0]
            self.assertTrue(program.startswith('/opt/s/bin/'), program)
            self.assertTrue(os.access(self.root + program, os.X_OK), program)

    def test_help_and_unknown_words_build_nothing(self):
        asked = install('--help')
        self.assertEqual((asked.returncode, asked.stderr), (0, ''))
        self.assertIn('usage: [PREFIX=/usr/local]', asked.stdout)
        wrong = install('--prefix', '/opt')
        self.assertEqual(wrong.returncode, 2)
        self.assertEqual(
            wrong.stderr, 'deploy/install: no argument is known: --prefix /opt '
            '(see deploy/install --help)\n')

    def test_a_folder_that_lacks_a_program_installs_none(self):
        with tempfile.TemporaryDirectory() as root:
            done = install(PROGRAMS=root, DESTDIR=root, PREFIX='/opt/s')
            self.assertEqual(done.returncode, 1)
            self.assertIn(f'there is no {root}/skerry-coordinator', done.stderr)
            self.assertEqual(os.listdir(root), [])

    def test_every_program_is_installed(self):
        for name in _PROGRAMS:
            self.assertTrue(os.access(f'{self.root}/opt/s/bin/{name}',
                                      os.X_OK), name)

    def test_programs_know_every_flag_of_their_unit(self):
        for unit in self.units:
            words = self.command(unit)
            flags = [w for w in words if w.startswith('--')]
            self.assertGreater(len(flags), 2)
            # The last flag of all is unknown: nothing is started.
            done = subprocess.run(
                [self.root + words[0],
                 *(f'{f}={_VALUES.get(f, "1")}' for f in flags),
                 '--no-such-flag'], capture_output=True, text=True,
                check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            unknown = re.findall(r'--[a-z-]+', done.stderr)
            self.assertEqual([f for f in unknown if f != '--help'],
                             ['--no-such-flag'])

    def test_a_worker_may_drain_before_it_is_killed(self):
        unit = next(u for u in self.units if 'worker@' in u.name)
        words = self.command(unit)
        drain_s = int(words[words.index('--drain-timeout-s') + 1])
        stop_s = int(re.search(r'^TimeoutStopSec=(\d+)$', unit.read_text(),
                               re.MULTILINE).group(1))
        self.assertGreater(stop_s, drain_s)
        self.assertIn('KillMode=mixed', unit.read_text())

    @unittest.skipUnless(shutil.which('systemd-analyze'), 'no systemd here')
    def test_systemd_takes_the_units(self):
        done = subprocess.run(
            ['systemd-analyze', 'verify', '--man=no', '--root', self.root,
             *(str(u) for u in self.units)], capture_output=True, text=True,
            check=False)
        # The rest is about targets that this root has not.
        self.assertNotRegex(done.stderr, r'\.service:\d+')


if __name__ == '__main__':
    unittest.main()
