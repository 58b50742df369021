"""Fetches PyTorch from PyPI into a folder of the tests, without CUDA.

The wheel links CUDA's libraries, which are 4 GB, and computes on processors
without them. Each of them is replaced by a stand-in of a few KB, made of the
symbols that the wheel asks for; nearly all functions answer cudaErrorNoDevice.
The stand-ins are for tests alone.

The folder is $SKERRY_TEST_TORCH, or one in ~/.cache. What the shells of the
package are for has a folder of its own, so that torch is not fetched anew.
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

_PACKAGES = (
    # torch and what it imports
    'torch==2.15.0', 'filelock==4.3.1', 'fsspec==2026.9.0', 'jinja2==3.1.6',
    'markupsafe==3.0.4', 'mpmath==1.3.0', 'networkx==3.6.1', 'numpy==2.4.6',
    'setuptools==84.2.1', 'sympy==1.14.0', 'typing-extensions==4.16.0',
    # transformers and what it imports
    'transformers==5.24.0', 'annotated-doc==0.0.7', 'anyio==4.16.0',
    'click==8.5.1', 'h11==0.16.0', 'hf-xet==1.8.0', 'httpcore2==2.16.2',
    'httpx2==2.16.2', 'huggingface-hub==2.4.0', 'idna==3.20',
    'packaging==26.4', 'pyyaml==6.0.4', 'regex==2026.11.19', 'rich==15.0.0',
    'safetensors==0.8.0', 'shellingham==1.5.4', 'tokenizers==0.23.3',
    'tqdm==4.70.1', 'truststore==0.10.5', 'typer==0.29.2')
# What the shells are for, and what it imports beside the packages above.
_OF_SHELLS = (
    'accelerate==1.15.0', 'psutil==7.2.2',
    'lightning==2.6.6', 'lightning-utilities==0.15.3', 'torchmetrics==1.9.0')
# 1.4 GB once torch is unpacked, and the wheel beside it.
_BYTES_MIN = 3 << 30
# What other packages take.
_SMALL_BYTES_MIN = 100 << 20
_OF_THE_SYSTEM = re.compile(
    r'ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|quadmath|z)\.so')
# What does not answer 100, cudaErrorNoDevice.
_ANSWERS = {
    'cudaGetErrorName': 'const char* cudaGetErrorName(int e) '
                        '{ return "cudaErrorNoDevice"; }',
    'cudaGetErrorString': 'const char* cudaGetErrorString(int e) '
                          '{ return "this is a stand-in of CUDA"; }',
    'cudaStreamIsCapturing': 'int cudaStreamIsCapturing(void* s, int* status) '
                             '{ *status = 0; return 0; }',
}


class NotHere(Exception):
    """Why there is no torch."""


def folder():
    """A folder with torch, for PYTHONPATH; it is fetched when it is missing.
    Raises NotHere."""
    place = os.environ.get('SKERRY_TEST_TORCH') or _place('torch', _PACKAGES)
    if not os.path.isdir(os.path.join(place, 'torch')):
        _fetch(place, _PACKAGES, _BYTES_MIN, lambda made: _add_stand_ins(
            os.path.join(made, 'torch', 'lib')))
    _try(place, 'import torch; torch.ones(2).sum()')
    return place


def shells():
    """PYTHONPATH with torch and with what the shells are for, which is fetched
    when it is missing. Raises NotHere."""
    torch = folder()
    if all(os.path.isdir(os.path.join(torch, name)) for name in
           ('transformers', 'accelerate', 'lightning')):
        return torch
    return f"{packages('shells', _OF_SHELLS)}:{torch}"


def packages(name, those):
    """A folder of the cache with these packages, and not what they import; it
    is fetched when it is missing. Raises NotHere."""
    place = _place(name, those)
    if not os.path.isdir(place):
        _fetch(place, those, _SMALL_BYTES_MIN, lambda made: None)
    return place


def environment(path):
    """The variables under which Python finds what is in `path`, and compiles
    each file of it only once."""
    return {'PYTHONPATH': path, 'PYTHONDONTWRITEBYTECODE': '',
            'PYTHONPYCACHEPREFIX': os.path.join(path.split(':')[-1],
                                                'compiled'),
            'OMP_NUM_THREADS': '1'}


def interpreter(made, path, **variables):
    """Writes the program `made`, which runs Python with `path`, the package and
    these variables; for --python of a worker. Returns `made`."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    variables = environment(f'{root}/python:{path}') | variables
    with open(made, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\n' + ''.join(
            f'export {name}={value}\n' for name, value in variables.items())
            + f'exec {sys.executable} "$@"\n')
    os.chmod(made, 0o755)
    return made


def _place(name, those):
    """A folder of the cache for packages, the first of which counts."""
    return os.path.join(
        os.path.expanduser('~'), '.cache', 'skerry',
        f'{name}-{those[0].split("=")[-1]}-py'
        f'{sys.version_info[0]}{sys.version_info[1]}')


def _fetch(place, those, bytes_min, finish):
    above = os.path.dirname(place)
    os.makedirs(above, exist_ok=True)
    what = those[0].split('=')[0]
    free = shutil.disk_usage(above).free
    if free < bytes_min:
        raise NotHere(f'{above} has {free >> 20} MiB free, and {what} takes '
                      f'{bytes_min >> 20}')
    # A fetch that was interrupted leaves nothing that looks whole.
    with tempfile.TemporaryDirectory(dir=above) as half:
        made = os.path.join(half, 'made')
        fetched = subprocess.run(
            [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps',
             '--no-compile', '--no-cache-dir', '--disable-pip-version-check',
             '--only-binary', ':all:', '--target', made, *those],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        if fetched.returncode:
            last = (fetched.stdout.strip().splitlines() or ['no reason'])[-1]
            raise NotHere(f'{what} cannot be fetched: {last}')
        finish(made)
        try:
            os.rename(made, place)
        except OSError:
            pass  # Another test was faster.


def _try(place, program):
    tried = subprocess.run(
        [sys.executable, '-c', program],
        env={**os.environ, 'PYTHONPATH': place}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    if tried.returncode:
        last = (tried.stdout.strip().splitlines() or ['no reason'])[-1]
        raise NotHere(f'torch cannot be imported from {place}: {last}')


def _read_elf(*arguments):
    return subprocess.run(['readelf', '-W', *arguments], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


def _add_stand_ins(libraries):
    """Makes what the libraries in this folder link, but for the system's."""
    files = [path for path in glob.glob(os.path.join(libraries, '*.so*'))
             if os.path.isfile(path)]
    needed, defined, wanted, owners = set(), set(), set(), {}
    for path in files:
        needed |= set(re.findall(r'NEEDED.*\[(.*)\]', _read_elf('-d', path)))
        for name, versions in re.findall(r'File: (\S+)(.*?)(?=File: |$)',
                                         _read_elf('-V', path), re.DOTALL):
            owners |= {version: name for version in
                       re.findall(r'Name: (\S+)', versions)}
        for row in _read_elf('--dyn-syms', path).splitlines():
            words = row.split()
            if len(words) < 8 or words[4] not in ('GLOBAL', 'WEAK'):
                continue
            if words[6] != 'UND':
                defined.add(words[7].split('@')[0])
            elif words[4] == 'GLOBAL':
                wanted.add(words[7])
    missing = sorted(name for name in
                     needed - {os.path.basename(path) for path in files}
                     if not _OF_THE_SYSTEM.match(name))
    # {library: {version, or nothing: symbols}}
    symbols = {name: collections.defaultdict(set) for name in missing}
    for symbol in wanted:
        name, _, version = symbol.partition('@')
        if version:
            if owners.get(version) in symbols:
                symbols[owners[version]][version].add(name)
        elif name not in defined and not name.startswith(('Py', '_Py')):
            # Whose it is does not matter: all are searched.
            symbols[missing[0]][''].add(name)
    for name, versions in symbols.items():
        _compile(os.path.join(libraries, name), name, versions)


def _compile(path, name, versions):
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, 'stand_in.c')
        script = os.path.join(work, 'versions')
        with open(source, 'w', encoding='ascii') as code, \
                open(script, 'w', encoding='ascii') as nodes:
            for version, symbols in versions.items():
                for symbol in sorted(symbols):
                    code.write(_ANSWERS.get(
                        symbol, f'int {symbol}(void) {{ return 100; }}') + '\n')
                if version:
                    nodes.write(f'{version} {{ global: '
                                f'{"; ".join(sorted(symbols))}; }};\n')
        versioned = any(versions)
        subprocess.run(
            ['gcc', '-shared', '-fPIC', '-nostdlib', '-w', '-fno-builtin',
             f'-Wl,-soname,{name}',
             *([f'-Wl,--version-script={script}'] if versioned else []),
             '-o', path, source], check=True, stdin=subprocess.DEVNULL)


if __name__ == '__main__':
    try:
        print(folder())
    except NotHere as reason:
        sys.exit(f'skipped: {reason}')
