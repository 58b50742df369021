"""The tables of docs/methods.md: part of `messages`.

What the page says a job can name is accepted, what it says is refused is
refused, and the tests that it names exist.
"""

import copy
import json
import os
import re

from local_cluster import job

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
_PAGE = os.path.join(_ROOT, 'docs', 'methods.md')
_CAN, _CANNOT = 'What a job can name', 'What a job cannot name'
_INVALID = 7  # docs/skerryctl.md
_SETTING = re.compile(r'`([a-z]+)\.([a-z_]+): ([^`]+)`')
_TEST = re.compile(r'`//([a-z_/]+):([a-z_]+)`')
_CLUSTER = {'islands': [{'name': name, 'samples_per_s': 100, 'up_mbit_s': 100,
                         'down_mbit_s': 100} for name in ('a', 'b')]}


def tables(page):
    """{heading: [{column: cell}]} of the tables of a page."""
    found, heading, columns = {}, '', None
    for line in page.splitlines():
        if line.startswith('#'):
            heading = line.strip('# ')
        if not line.startswith('| ') and not line.startswith('|-'):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if columns is None:
            columns = cells
        elif not line.startswith('|-'):
            found.setdefault(heading, []).append(dict(zip(columns, cells)))
    return found


def settings(cell):
    """[(section, field, value)] of the settings in a cell, as they come."""
    found = []
    for section, field, text in _SETTING.findall(cell):
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = text
        found.append((section, field, value))
    return found


def with_settings(spec, chosen):
    """A copy of the job with these settings."""
    made = copy.deepcopy(spec)
    for section, field, value in chosen:
        made[section][field] = value
    return made


def _said(chosen):
    return ', '.join(f'{section}.{field}: {json.dumps(value)}'
                     for section, field, value in chosen)


class _Page:
    """Asks skerryctl about the page's settings."""

    def __init__(self, programs):
        self._programs = programs
        programs.file('islands.yaml', json.dumps(_CLUSTER))
        self._base = job.job('base', 'data', job.gpt2_config(2, 64, 2, 16), 192,
                             8, 12)
        self._base['data']['manifest_sha256'] = '0' * 64
        self._base['outer'] = {}

    def _ask(self, chosen):
        self._programs.file('method.yaml', json.dumps(
            with_settings(self._base, chosen), indent=1))
        return self._programs.run('skerryctl', 'simulate', '-f', 'method.yaml',
                                  '--cluster', 'islands.yaml')

    def accepted(self, name, chosen):
        code, said = self._ask(chosen)
        self._programs.cases.check(
            f'{name}: {_said(chosen)} is accepted', chosen and code == 0,
            '' if code == 0 else f'exit {code}: {said}')

    def refused(self, name, chosen):
        """One line names the place in the job file."""
        code, said = self._ask(chosen)
        good = (code == _INVALID and '\n' not in said
                and said.startswith('skerryctl: method.yaml:'))
        self._programs.cases.check(f'{name}: {_said(chosen)} is refused', good,
                                   '' if good else f'exit {code}: {said}')

    def exists(self, package, name):
        path = os.path.join(_ROOT, package, 'BUILD')
        text = ''
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                text = file.read()
        self._programs.cases.check(f'//{package}:{name} exists',
                                   f'name = "{name}",' in text)


def check(programs):
    """Every setting and every test that the page names."""
    with open(_PAGE, encoding='utf-8') as file:
        text = file.read()
    page, found = _Page(programs), tables(text)
    for row in found[_CAN]:
        named = settings(row['what the job says'])
        page.accepted(row['method'], named)
        for one in settings(row["how Skerry's form differs"]):
            page.accepted(row['method'], [*named, one])
        for one in settings(row['refused with it']):
            page.refused(row['method'], [*named, one])
    for row in found[_CANNOT]:
        tried = settings(row['what a job that tries it says'])
        if tried:
            page.refused(row['method'], tried)
    for package, name in sorted(set(_TEST.findall(text))):
        page.exists(package, name)
