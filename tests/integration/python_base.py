"""A Debian 12 with PyTorch: what a user may put the worker's image upon."""

import os
import shutil
import subprocess

import torch_here
from local_cluster import bare_root

_BUILD_S = 900
_PYTHON = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))), 'python')
_PACKAGES = '/usr/local/lib/python3.11/dist-packages'


class NotToBeHad(Exception):
    """Why there is no such root here."""


def fetch(path):
    """Makes the tar file `path` of a root with Python, unless it is there, and
    fetches PyTorch."""
    try:
        torch_here.folder()
    except torch_here.NotHere as why:
        raise NotToBeHad(str(why)) from why
    if os.path.exists(path):
        return path
    if not shutil.which('mmdebstrap'):
        raise NotToBeHad('a base with Python needs the package mmdebstrap')
    done = subprocess.run(
        ['mmdebstrap', '--quiet', '--variant=minbase', '--include=python3',
         'bookworm', path + '.part.tar',
         *(f'deb {site} {release} main'
           for site, release in bare_root.sources())],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=_BUILD_S)
    if done.returncode != 0:
        raise NotToBeHad(f'mmdebstrap: {done.stderr.strip()[-500:]}')
    os.replace(path + '.part.tar', path)
    return path


def build(podman, path, image, directory):
    """Builds `image` of what fetch() has made; without a network."""
    podman.call('import', path, 'only-python')
    below = 'only-python'
    for name, context, copied in (
            ('with-torch', torch_here.folder(), '.'),
            (image, _PYTHON, 'skerry')):
        made = os.path.join(directory, f'{name}.Dockerfile')
        with open(made, 'w', encoding='utf-8') as file:
            target = _PACKAGES + ('' if copied == '.' else f'/{copied}')
            file.write(f'FROM {below}\nCOPY {copied} {target}\n')
        podman.build(context, name, '--file', made)
        below = name
