"""Files and functions that pages name, and types that two files define."""

import re

from tools.tidy import layers

_PATH = r'`([a-z_0-9]+(?:/[\w.-]+)+\.(?:cc|h|cu|proto|py|bzl|txt))`'
# The functions that are named in brackets behind a file: `a/b.cc` (`F`, `G`).
# Words may stand between the two, but no other name and no full stop.
_FUNCTIONS = re.compile(_PATH + r'[^`.]*?\((`\w+`(?:,\s+`\w+`)*)\)')
# Pages about what was.
_PAST = ('CHANGELOG.md', 'docs/decisions/')
_TYPE = re.compile(
    r'^(?:struct|class|enum class)\s+(\w+)(?: final)?(?: : [^;{(]*)?'
    r'\s*\{([^{}]*\};|.*?^\};)',
    re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r'//[^\n]*')
_SHARED_MIN = 2


def _line_of(text, at):
    return text.count('\n', 0, at) + 1


def misnamed(files):
    """(page, line, what is wrong) of each name that the code does not have."""
    for page, text in sorted(files.items()):
        if not page.endswith('.md') or page.startswith(_PAST):
            continue
        for match in re.finditer(_PATH, text):
            if match.group(1) not in files:
                yield (page, _line_of(text, match.start()),
                       f'there is no file {match.group(1)}')
        for match in _FUNCTIONS.finditer(text):
            path, names = match.groups()
            for name in re.findall(r'\w+', names):
                if not re.search(rf'\b{name}\(', files.get(path, '')):
                    yield (page, _line_of(text, match.start()),
                           f'{path} has no function {name}')


def _members(body):
    """The declarations of a type, without comments and white space."""
    plain = _COMMENT.sub('', body)
    return {' '.join(one.split()) for one in re.split(r'[;,{}]', plain)
            if one.strip() and 'friend' not in one and 'public' not in one}


def defined_twice(files):
    """(path, line, type, other path) of types that two headers define.

    Two types are one when they have a name and at least half of the smaller
    one's members in common.
    """
    seen = {}
    for path, text in sorted(files.items()):
        if (not path.endswith('.h') or layers.layer(path) is None or
                layers.is_test(path) or layers.inside(path, 'bench')):
            continue
        for match in _TYPE.finditer(text):
            name, members = match.group(1), _members(match.group(2))
            for other, others in seen.setdefault(name, []):
                shared = len(members & others)
                if other != path and shared >= max(
                        _SHARED_MIN, min(len(members), len(others)) / 2):
                    yield (path, _line_of(text, match.start()), name, other)
                    break
            seen[name].append((path, members))
