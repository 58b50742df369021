"""The Debian packages: what they hold, and that their parts fit together."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.getcwd(), 'deploy', 'debian'))

import build_packages  # noqa: E402

_ROOT = pathlib.Path.cwd()
_DEBS = _ROOT / 'deploy' / 'debian'
_PACKAGES = {
    'skerry-attach': 'trainer/attach/main',
    'skerryctl': 'cli',
    'skerry-coordinator': 'coordinator/main',
    'skerry-sentencepiece': 'data/sentencepiece/main',
    'skerry-trainer': 'trainer/main',
    'skerry-worker': 'worker/main',
}
# How exposed a unit may be, in tenths, as systemd-analyze counts.
_EXPOSURE_MAX = {'skerry-coordinator.service': 25,
                 'skerry-worker@.service': 45}
# Two orders of one list, by chance, stay unseen in one of 2^15 runs.
_HELPS = 16
# Values of the flags that do not take 1.
_VALUES = {'--coordinator': '127.0.0.1:1', '--listen': '127.0.0.1:0',
           '--admin': '127.0.0.1:0'}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True,
                          check=False, **options)


def field(deb, name):
    return run('dpkg-deb', '--field', deb, name).stdout.strip()


class PackagesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.debs = sorted(_DEBS.glob('*.deb'))
        cls.root = cls.place / 'root'
        for deb in cls.debs:
            subprocess.run(['dpkg-deb', '--extract', deb, cls.root], check=True)
        cls.units = sorted((cls.root / 'usr/lib/systemd/system').iterdir())

    def deb(self, name):
        return _DEBS / f'{name}.deb'

    def command(self, unit):
        return re.search(r'^ExecStart=(.*)$', unit.read_text(),
                         re.MULTILINE).group(1).split()

    def setting(self, unit, name):
        return re.search(rf'^{name}=(.*)$', unit.read_text(),
                         re.MULTILINE).group(1)

    def unit(self, name):
        return next(unit for unit in self.units if name in unit.name)

    def test_the_same_programs_give_the_same_bytes(self):
        programs = self.place / 'programs'
        programs.mkdir()
        for name, folder in _PACKAGES.items():
            shutil.copy(_ROOT / folder / name, programs)
        again = self.place / 'again'
        names = ['skerry-coordinator', 'skerry-sentencepiece']
        build_packages.build(programs, _ROOT / 'CHANGELOG.md',
                             _DEBS / 'changelog', again, names)
        for name in names:
            self.assertEqual((again / f'{name}.deb').read_bytes(),
                             self.deb(name).read_bytes(), name)

    def test_programs_say_the_same_of_themselves_every_time(self):
        # Manual pages are made of it. What has the order of addresses differs
        # from process to process.
        for program in sorted((self.root / 'usr/bin').iterdir()):
            texts = {run(program, '--help').stdout for _ in range(_HELPS)}
            self.assertEqual(len(texts), 1, program.name)

    def test_every_program_is_in_one_package_with_a_manual_page(self):
        self.assertEqual(len(self.debs), 4)
        self.assertEqual(sorted(path.name for path in
                                (self.root / 'usr/bin').iterdir()),
                         sorted(_PACKAGES))
        for name in _PACKAGES:
            page = self.root / f'usr/share/man/man1/{name}.1.gz'
            text = run('zcat', page).stdout
            self.assertIn('.TH', text)
            self.assertNotIn(tempfile.gettempdir(), text)

    def test_the_version_is_that_of_the_release(self):
        release = re.search(r'kRelease\[\] = "(.*)"', (
            _ROOT / 'base' / 'release.h').read_text()).group(1)
        for deb in self.debs:
            self.assertRegex(field(deb, 'Version'),
                             rf'^{re.escape(release)}-\d+$')

    def test_packages_depend_on_what_their_programs_link(self):
        depends = {deb.stem: field(deb, 'Depends') for deb in self.debs}
        for name, library in (('skerry-coordinator', 'libsqlite3-0'),
                              ('skerry-worker', 'libdnnl2'),
                              ('skerryctl', 'libyaml-cpp0.7'),
                              ('skerry-sentencepiece', 'libsentencepiece0')):
            self.assertIn(library, depends[name])
        self.assertNotIn('libdnnl2', depends['skerry-coordinator'])
        for name in ('skerry-worker', 'skerryctl'):
            self.assertNotIn('libsentencepiece', depends[name])

    def test_every_unit_starts_an_installed_program(self):
        self.assertEqual(len(self.units), 2)
        for unit in self.units:
            program = self.root / self.command(unit)[0].lstrip('/')
            self.assertTrue(os.access(program, os.X_OK), program)

    def test_programs_know_every_flag_of_their_unit(self):
        for unit in self.units:
            words = self.command(unit)
            flags = [w for w in words if w.startswith('--')]
            self.assertGreater(len(flags), 2)
            # The last flag of all is unknown: nothing is started.
            done = run(self.root / words[0].lstrip('/'),
                       *(f'{f}={_VALUES.get(f, "1")}' for f in flags),
                       '--no-such-flag')
            self.assertEqual(done.returncode, 2, done.stderr)
            unknown = re.findall(r'--[a-z-]+', done.stderr)
            self.assertEqual([f for f in unknown if f != '--help'],
                             ['--no-such-flag'])

    def test_a_worker_may_drain_before_it_is_killed(self):
        unit = self.unit('worker@')
        words = self.command(unit)
        drain_s = int(words[words.index('--drain-timeout-s') + 1])
        self.assertGreater(int(self.setting(unit, 'TimeoutStopSec')), drain_s)
        self.assertEqual(self.setting(unit, 'KillMode'), 'mixed')

    def test_settings_that_a_unit_reads_are_explained_in_its_file(self):
        for unit, file in (('coordinator', 'coordinator.env'),
                           ('worker@', 'worker.env')):
            text = (self.root / 'etc/skerry' / file).read_text()
            command = self.command(self.unit(unit))
            for name in re.findall(r'\$\{?([A-Z]+)', ' '.join(command)):
                self.assertRegex(text, rf'(?m)^# *{name}=', file)
            # Until somebody changes it, it changes nothing.
            self.assertNotRegex(text, r'(?m)^[^#\n]')

    def test_nothing_is_started_before_it_is_set_up(self):
        for deb in self.debs:
            with tempfile.TemporaryDirectory() as scripts:
                subprocess.run(['dpkg-deb', '--control', deb, scripts],
                               check=True)
                for script in pathlib.Path(scripts).glob('p*'):
                    self.assertEqual(run('sh', '-n', script).returncode, 0)
                    self.assertNotRegex(script.read_text(),
                                        r'invoke (re)?start|enable')

    @unittest.skipUnless(shutil.which('lintian'), 'no lintian here')
    def test_lintian_finds_nothing(self):
        done = run('lintian', '--allow-root', '--fail-on', 'warning',
                   *self.debs)
        self.assertEqual((done.returncode, done.stdout), (0, ''), done.stderr)

    @unittest.skipUnless(shutil.which('systemd-analyze'), 'no systemd here')
    def test_systemd_takes_the_units(self):
        done = run('systemd-analyze', 'verify', '--man=no', '--root', self.root,
                   *self.units)
        # The rest is about targets that this root has not.
        self.assertNotRegex(done.stderr, r'\.service:\d+')

    @unittest.skipUnless(shutil.which('systemd-analyze'), 'no systemd here')
    def test_units_are_little_exposed(self):
        for unit in self.units:
            done = run('systemd-analyze', 'security', '--offline=true',
                       f'--threshold={_EXPOSURE_MAX[unit.name]}',
                       '--no-pager', unit)
            self.assertEqual(done.returncode, 0, done.stdout[-200:])
            self.assertIn('exposure level', done.stdout)


if __name__ == '__main__':
    unittest.main()
