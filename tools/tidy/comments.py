"""Finds the comments of a source, whichever way its language marks them."""

import posixpath
import re

from tools.tidy import cpp

_SLASHES = ('.h', '.cuh', '.cc', '.cu', '.proto')
_HASHES = ('.py', '.bzl')

_HASH_TOKEN = re.compile(
    r'(?P<comment>#[^\n]*)'
    r"|'''(?:[^\\]|\\.)*?'''"
    r'|"""(?:[^\\]|\\.)*?"""'
    r"|'(?:[^'\\\n]|\\.)*'"
    r'|"(?:[^"\\\n]|\\.)*"', re.S)


def _has_hashes(path, text):
    """Whether it is Python, BUILD or Starlark; a script may have no ending."""
    return (path.endswith(_HASHES) or posixpath.basename(path) == 'BUILD'
            or re.match(r'#!.*\bpython', text) is not None)


def _after_hashes(text):
    for match in _HASH_TOKEN.finditer(text):
        if match.group('comment'):
            yield match.start(), match.group('comment')


def lines(path, text):
    """[(line number, its words)] of the comments in `text`, without marks."""
    if path.endswith(_SLASHES):
        comments = cpp.comments(text)
    elif _has_hashes(path, text):
        comments = _after_hashes(text)
    else:
        return []
    found = []
    for start, comment in comments:
        first = text.count('\n', 0, start) + 1
        found += [(number, line.strip('/*#! \t'))
                  for number, line in enumerate(comment.split('\n'), first)]
    return found
