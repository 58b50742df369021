#!/usr/bin/env python3
"""Builds Skerry's Debian packages from programs that are built already.

The same programs give the same bytes: times are those of the changelog, and
owners are root. What a package depends on is read from its programs by
dpkg-shlibdeps, so this has to run on the Debian that the programs were built
on.
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

_HERE = pathlib.Path(__file__).absolute().parent
sys.path.insert(0, str(_HERE.parents[1] / 'tools'))

from local_cluster import flags  # noqa: E402

_UNITS = _HERE.parent / 'systemd'
PROGRAMS = {
    'skerry-coordinator': ['skerry-coordinator'],
    # A worker and its trainers speak to each other, and have to be of one
    # release.
    'skerry-worker': ['skerry-worker', 'skerry-trainer', 'skerry-attach'],
    'skerryctl': ['skerryctl'],
    'skerry-sentencepiece': ['skerry-sentencepiece'],
}
_UNIT = {'skerry-coordinator': 'skerry-coordinator.service',
         'skerry-worker': 'skerry-worker@.service'}
_SETTINGS = {'skerry-coordinator': 'coordinator.env',
             'skerry-worker': 'worker.env'}
_ABOUT = {
    'skerry-coordinator': 'decides who trains what',
    'skerry-worker': 'trains a model together with workers far away',
    'skerry-trainer': 'computes for a skerry-worker, which starts it',
    'skerry-attach': 'runs a training program for a skerry-worker',
    'skerryctl': 'drives a Skerry cluster',
    'skerry-sentencepiece': 'encodes text for other programs of Skerry',
}
_SCRIPTS = ('postinst', 'prerm', 'postrm')


class Source:
    """A source tree as dpkg's programs want it: debian/control and so on."""

    def __init__(self, folder, changelog):
        self._folder = folder
        (folder / 'debian').mkdir()
        shutil.copy(_HERE / 'control', folder / 'debian' / 'control')
        shutil.copy(changelog, folder / 'debian' / 'changelog')
        self.time_s = int(self.run('dpkg-parsechangelog', '-STimestamp'))

    def run(self, *command):
        """Standard output of a command in the tree."""
        environment = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'),
                       'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}
        if hasattr(self, 'time_s'):
            environment['SOURCE_DATE_EPOCH'] = str(self.time_s)
        return subprocess.run(command, cwd=self._folder, check=True,
                              env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True).stdout


def _lay(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def _packed(content):
    return gzip.compress(content, compresslevel=9, mtime=0)


def _manual(source, program, path):
    """The manual page of a program, which is what --help says."""
    text = source.run('help2man', '--no-info', '--no-discard-stderr',
                      '--name', _ABOUT[program], str(path))
    # Trainers are found beside the worker, and hyphens are escaped.
    folder = f'{path.parent}/'.replace('-', r'\-')
    return text.replace(folder, '/usr/bin/').encode()


def _lay_package(source, name, programs, changes, changelog, root):
    for program in PROGRAMS[name]:
        laid = root / 'usr/bin' / program
        laid.parent.mkdir(parents=True, exist_ok=True)
        source.run('strip', '--strip-unneeded', '--remove-section=.comment',
                   '--remove-section=.note', '-o', str(laid),
                   str(programs / program))
        laid.chmod(0o755)
        _lay(root / f'usr/share/man/man1/{program}.1.gz',
             _packed(_manual(source, program, laid)))
    if name in _UNIT:
        _lay(root / 'usr/lib/systemd/system' / _UNIT[name],
             (_UNITS / _UNIT[name]).read_bytes())
        for kind in ('sysusers', 'tmpfiles'):
            _lay(root / f'usr/lib/{kind}.d' / f'{name}.conf',
                 (_HERE / f'{name}.{kind}').read_bytes())
        settings = root / 'etc/skerry' / _SETTINGS[name]
        _lay(settings, (_HERE / _SETTINGS[name]).read_bytes())
        _lay(root / 'DEBIAN/conffiles',
             f'/{settings.relative_to(root)}\n'.encode())
        for script in _SCRIPTS:
            _lay(root / 'DEBIAN' / script,
                 (_HERE / f'{name}.{script}').read_bytes(), 0o755)
    documents = root / 'usr/share/doc' / name
    _lay(documents / 'copyright', (_HERE / 'copyright').read_bytes())
    _lay(documents / 'changelog.gz', _packed(changes.read_bytes()))
    _lay(documents / 'changelog.Debian.gz', _packed(changelog.read_bytes()))
    _lay(root / 'usr/share/lintian/overrides' / name,
         (_HERE / 'lintian-overrides').read_bytes())


def _files(root):
    return sorted(path for path in root.rglob('*') if path.is_file()
                  and root / 'DEBIAN' not in path.parents)


def _build(source, name, root, to):
    files = [str(path.relative_to(root)) for path in _files(root)]
    programs = [str(root / 'usr/bin' / program) for program in PROGRAMS[name]]
    substitutes = root.parent / f'{name}.substvars'
    (root / 'DEBIAN').mkdir(exist_ok=True)
    # Libraries that a program would not need are no fault of the package.
    source.run('dpkg-shlibdeps', '--warnings=1', f'-T{substitutes}', *(
        f'-e{program}' for program in programs))
    source.run('dpkg-gencontrol', f'-p{name}', f'-P{root}', f'-T{substitutes}',
               '-n' + name, f'-f{root.parent}/files',
               f'-O{root}/DEBIAN/control')
    sums = subprocess.run(['md5sum', *files], cwd=root, check=True,
                          stdout=subprocess.PIPE).stdout
    _lay(root / 'DEBIAN/md5sums', sums)
    for path in [root, *root.rglob('*')]:
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (source.time_s, source.time_s))
    # With more threads the packed bytes depend on their number.
    source.run('dpkg-deb', '--root-owner-group', '--threads-max=1', '-Zxz',
               '--build', str(root), str(to))


def build(programs, changes, changelog, to, names=tuple(PROGRAMS)):
    """Writes NAME.deb for each of the packages into the folder `to`."""
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        source = Source(place, changelog)
        for name in names:
            root = place / name
            _lay_package(source, name, programs, changes, changelog, root)
            _build(source, name, root, to / f'{name}.deb')


def main():
    parser = flags.Parser(prog='build_packages.py',
                          description=__doc__.splitlines()[0])
    parser.add_argument('--programs', type=pathlib.Path, required=True,
                        help='folder with all programs')
    parser.add_argument('--changes', type=pathlib.Path, required=True,
                        help='CHANGELOG.md')
    parser.add_argument('--changelog', type=pathlib.Path,
                        default=_HERE / 'changelog',
                        help='Debian changelog; its newest entry has the '
                        'version and the time of the packages')
    parser.add_argument('--out', type=pathlib.Path, required=True,
                        help='folder that gets NAME.deb for every package')
    args = parser.parse_args()
    build(args.programs.absolute(), args.changes.absolute(),
          args.changelog.absolute(), args.out.absolute())


if __name__ == '__main__':
    main()
