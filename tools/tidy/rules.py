"""The rules, each a function from a tree of files to findings."""

import collections
import fnmatch
import posixpath
import re

from tools.tidy import comments
from tools.tidy import cpp
from tools.tidy import layers
from tools.tidy import messages
from tools.tidy import named_code
from tools.tidy import prose
from tools.tidy import reached
from tools.tidy import words

Finding = collections.namedtuple('Finding', 'path line rule advice')

HEADER_LINES_MAX = 300
SOURCE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 80

_HEADERS = ('.h', '.cuh')
_SOURCES = ('.cc', '.cu')
_CPP = _HEADERS + _SOURCES
_NARROW = _CPP + ('.py', '.proto')
# Spelled in halves, so that this file passes its own rule.
_UNFINISHED = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK)\b')

_PYTHON = '#!/usr/bin/env python3'
_UNBOUNDED = re.compile(r'\btype=(int|float)\b')


class Tree:
    """Files of a checkout: path -> text. BUILD files are read as text too.

    `data` are the paths of files that are no text.
    """

    def __init__(self, files, data=()):
        self.files = files
        self.data = data

    def of(self, *endings):
        for path in sorted(self.files):
            if path.endswith(endings):
                yield path, self.files[path]

    def cpp(self):
        """C++ that is ours: bindings of installed things are not."""
        for path, text in self.of(*_CPP):
            if not layers.inside(path, 'third_party'):
                yield path, text


def include_direction(tree):
    for path, text in tree.cpp():
        for line, header, quoted in cpp.includes(text):
            if quoted and header in tree.files:
                advice = layers.why_not(path, header)
                if advice:
                    yield Finding(path, line, 'layers',
                                  f'{header}: {advice}')
            elif quoted and '/' not in header:
                yield Finding(path, line, 'include-path',
                              f'write the path of "{header}" from the root')
            for ban in words.HEADER_BANS:
                if ban.pattern.search(header) and ban.forbidden_in(path):
                    yield Finding(path, line, ban.rule,
                                  f'{header}: {ban.advice}')


def forbidden_words(tree):
    for path, text in tree.cpp():
        bans = [ban for ban in words.BANS if ban.forbidden_in(path)]
        for number, line in enumerate(cpp.strip(text).split('\n'), 1):
            if line.lstrip().startswith('#'):
                continue
            for ban in bans:
                match = ban.pattern.search(line)
                if match:
                    yield Finding(path, number, ban.rule,
                                  f'{match.group(0)}: {ban.advice}')


def guard_of(path):
    return 'SKERRY_' + re.sub(r'\W', '_', path).upper() + '_'


def header_guards(tree):
    for path, text in tree.cpp():
        if not path.endswith(_HEADERS):
            continue
        # Highway compiles such a file once per instruction set.
        if path.endswith('-inl.h'):
            continue
        guard = guard_of(path)
        opening = f'#ifndef {guard}\n#define {guard}\n'
        if opening not in text:
            yield Finding(path, 1, 'guard',
                          f'open with #ifndef {guard} and #define {guard}')
        elif text.rstrip().split('\n')[-1] != f'#endif  // {guard}':
            yield Finding(path, text.rstrip().count('\n') + 1, 'guard',
                          f'end with `#endif  // {guard}`')


def header_comments(tree):
    for path, text in tree.cpp():
        if not path.endswith(_HEADERS):
            continue
        lines = text.split('\n')
        said = []
        for line in lines[1:]:
            if not line.startswith('//'):
                break
            said.append(line.strip('/ '))
        if lines[0] != f'// {path}' or not any(said):
            yield Finding(path, 1, 'header-comment',
                          f'open with `// {path}`, then what it decides and '
                          'promises')


def comment_openings(tree):
    """A comment that opens with "Of" hides the thing that it is about."""
    for path, text in sorted(tree.files.items()):
        if layers.inside(path, 'third_party'):
            continue
        for number, words in comments.lines(path, text):
            if re.match(r'Of\b', words):
                yield Finding(path, number, 'comment-opening',
                              'open with the thing itself ("The size of ..."),'
                              ' not with "Of"')


def sizes(tree):
    for path, text in tree.of(*_NARROW):
        if layers.inside(path, 'third_party'):
            continue
        count = len(text.splitlines())
        most = (HEADER_LINES_MAX if path.endswith(_HEADERS)
                else SOURCE_LINES_MAX)
        if count > most:
            yield Finding(path, most + 1, 'file-length',
                          f'{count} lines, at most {most}; find the second '
                          'idea and give it a file')
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS_MAX and not re.search(
                    r'https?://|^\s*#\s*(include|ifndef|define|endif)', line):
                yield Finding(path, number, 'columns',
                              f'{len(line)} columns, at most {COLUMNS_MAX}')


def function_lengths(tree):
    for path, text in tree.cpp():
        for line, name, count in cpp.functions(text):
            if count > FUNCTION_LINES_MAX:
                yield Finding(path, line, 'function-length',
                              f'{name} has {count} lines, at most '
                              f'{FUNCTION_LINES_MAX}; move plain work into '
                              'leaves')


def _reached_by_tests(tree, folders):
    """Stems of `folders` whose headers their tests include, also through
    others.

    A class made of several small ones is tested through its own door.
    """
    waiting = [path for path, _ in tree.of('.cc')
               if posixpath.dirname(path) in folders and layers.is_test(path)]
    reached = set()
    while waiting:
        path = waiting.pop()
        for _, header, quoted in cpp.includes(tree.files.get(path, '')):
            stem = header[:-2]
            if (quoted and posixpath.dirname(header) in folders
                    and stem not in reached):
                reached.add(stem)
                waiting += [stem + '.h', stem + '.cc']
                # Parts of one class: x_impl.h is shared by the x_*.cc.
                if stem.endswith('_impl'):
                    parts = [part[:-3] for part, _ in tree.of('.cc')
                             if part.startswith(stem[:-len('impl')])
                             and posixpath.dirname(part) in folders]
                    reached.update(parts)
                    waiting += [part + '.cc' for part in parts]
    return reached


def tests_beside(tree):
    reached = {}
    for path, _ in tree.of('.cc'):
        own = layers.layer(path)
        if own is None or own > layers.CORE or layers.is_test(path):
            continue
        folder, name = posixpath.split(path)
        wanted = [posixpath.join(folder, name[:-3] + '_test.cc')]
        # cpu/ and cuda/ twins share the test above them.
        if posixpath.basename(folder) == 'cpu':
            wanted.append(posixpath.join(posixpath.dirname(folder),
                                         name[:-3] + '_test.cc'))
        house = layers.house(folder)
        if house not in reached:
            reached[house] = _reached_by_tests(tree, house)
        if (path[:-3] not in reached[house]
                and not any(test in tree.files for test in wanted)):
            yield Finding(path, 1, 'test-beside', f'write {wanted[0]}, or '
                          'reach it from a test of its folder')


def kernel_twins(tree):
    for path, _ in tree.of('.cu'):
        folder, name = posixpath.split(path)
        if posixpath.basename(folder) != 'cuda' or layers.is_test(path):
            continue
        above = posixpath.dirname(folder)
        stems = [posixpath.join(above, 'cpu', name[:-3]),
                 posixpath.join(above, name[:-3])]
        if not any(stem + end in tree.files
                   for stem in stems for end in ('.cc', '.h')):
            yield Finding(path, 1, 'twin',
                          f'write the reference {stems[0]}.cc')


def unfinished(tree):
    for path, text in sorted(tree.files.items()):
        for number, line in enumerate(text.split('\n'), 1):
            match = _UNFINISHED.search(line)
            if match:
                yield Finding(path, number, 'unfinished',
                              f'{match.group(0)}: finish it, or open an issue '
                              'and leave the code whole')


def _markdown_lines(text):
    """Numbered lines outside code fences."""
    fenced = False
    for number, line in enumerate(text.split('\n'), 1):
        if line.lstrip().startswith('```'):
            fenced = not fenced
        elif not fenced:
            yield number, line


def documents(tree):
    folders = {posixpath.dirname(path) for path in tree.files}
    known = {*tree.files, *tree.data} | folders | {
        '/'.join(f.split('/')[:n]) for f in folders
        for n in range(1, f.count('/') + 1)}
    for path, text in tree.of('.md'):
        titles = [n for n, line in _markdown_lines(text)
                  if re.match(r'# ', line)]
        if len(titles) != 1:
            yield Finding(path, titles[1] if titles else 1, 'one-title',
                          f'{len(titles)} titles (`# `), exactly one')
        for number, line in _markdown_lines(text):
            for link in re.findall(r'\]\(([^)\s#]+)[^)]*\)', line):
                target = posixpath.normpath(
                    posixpath.join(posixpath.dirname(path), link))
                if '://' not in link and not link.startswith('mailto:') and (
                        target not in known):
                    yield Finding(path, number, 'link',
                                  f'{link} leads nowhere')


def long_sentences(tree):
    for path, text in tree.of('.md'):
        if path != 'README.md' and not layers.inside(path, 'docs'):
            continue
        for line, count in prose.sentences(text):
            if count > prose.WORDS_MAX:
                yield Finding(path, line, 'long-sentence',
                              f'{count} words, at most {prose.WORDS_MAX}; '
                              'make it two sentences')


_MAPS = 'README.md', 'docs/architecture.md'


def folders_on_the_map(tree):
    """Every folder of the root is named on the pages that show the way."""
    folders = {path.split('/')[0] for path in tree.files
               if '/' in path and not path.startswith('.')}
    for page in _MAPS:
        named = set(re.findall(r'`([a-z_]+)/?(?:[a-z_{},/]+)?`',
                               tree.files.get(page, '')))
        for folder in sorted(folders - named):
            if page in tree.files:
                yield Finding(page, 1, 'map',
                              f'say what the folder `{folder}` holds')


def _package(tree, path):
    """(folder, text) of the BUILD file that a source belongs to."""
    folder = posixpath.dirname(path)
    while True:
        build = posixpath.join(folder, 'BUILD')
        if build in tree.files:
            return folder, tree.files[build]
        if not folder:
            return '', ''
        folder = posixpath.dirname(folder)


def dead_files(tree):
    for path, _ in tree.of(*_CPP, '.proto'):
        folder, build = _package(tree, path)
        name = posixpath.relpath(path, folder or '.')
        quoted = re.findall(r'"([^"\n]+)"', build)
        if not any(word.lstrip(':') == name or
                   ('*' in word and fnmatch.fnmatch(name, word))
                   for word in quoted):
            where = posixpath.join(folder, 'BUILD')
            yield Finding(path, 1, 'dead-file',
                          f'name it in {where}, or delete it')


def python_targets(tree):
    for path, text in tree.files.items():
        if posixpath.basename(path) != 'BUILD':
            continue
        for number, line in enumerate(text.split('\n'), 1):
            match = re.match(r'py_(test|binary)\(', line)
            if match:
                yield Finding(path, number, 'python-target',
                              'Debian has no `python`; use skerry_py_test of '
                              'tools/bazel/python.bzl, or an sh_binary')


def bounded_arguments(tree):
    """Numbers on the command lines of scripts have bounds (flags.py)."""
    for path, text in sorted(tree.files.items()):
        if not (path.endswith('.py') or text.startswith(_PYTHON)):
            continue
        for number, line in enumerate(text.split('\n'), 1):
            if _UNBOUNDED.search(line):
                yield Finding(path, number, 'bounded-arguments',
                              'use flags.whole or flags.real of '
                              'tools/local_cluster/flags.py')


def unreached_libraries(tree):
    builds = {posixpath.dirname(path): text
              for path, text in tree.files.items()
              if posixpath.basename(path) == 'BUILD'}
    for target in reached.unreached(builds):
        yield Finding(posixpath.join(target.package, 'BUILD'), target.line,
                      'unreached', f'no program links {target.name}; wire it, '
                      'delete it, or move it to research/')


def code_that_pages_name(tree):
    for page, line, what in named_code.misnamed(tree.files):
        yield Finding(page, line, 'named-code', what + '; name what there is')


_EVENT = re.compile(r'\bLog\(\s*[\w:]+,\s*"([a-z_]+(?:\.[a-z_]+)+)"')


def events_on_a_page(tree):
    """An operator who meets a line of a log finds it on a page."""
    pages = ''.join(text for path, text in tree.of('.md')
                    if path.startswith('docs/'))
    for path, text in tree.cpp():
        if path.endswith('_test.cc') or layers.inside(path, 'tests'):
            continue
        for match in _EVENT.finditer(text):
            if f'`{match.group(1)}`' not in pages:
                yield Finding(path, text.count('\n', 0, match.start()) + 1,
                              'event', f'say in docs when `{match.group(1)}` '
                              'is logged')


def messages_that_help(tree):
    """Where one goes to a user: not from fakes and tests."""
    for path, text in tree.cpp():
        if (layers.is_test(path) or layers.layer(path) is None or
                layers.inside(path, 'bench', 'simulator')):
            continue
        for line, advice in messages.faults(text):
            yield Finding(path, line, 'message', advice)


def types_defined_twice(tree):
    for path, line, name, other in named_code.defined_twice(tree.files):
        yield Finding(path, line, 'defined-twice',
                      f'{other} defines {name} as well; move one of them down '
                      'a layer, and delete the other')


def visible_to_all(tree):
    """Whoever is outside the house may use what its programs are alone."""
    for path, text in tree.files.items():
        if (posixpath.basename(path) != 'BUILD' or
                layers.inside(path, 'third_party')):
            continue
        for number, line in enumerate(text.split('\n'), 1):
            if 'default_visibility' in line and '//visibility:public' in line:
                yield Finding(path, number, 'visibility',
                              'name the folders that use the package')


RULES = [
    include_direction, forbidden_words, header_guards, header_comments,
    comment_openings, sizes, function_lengths, tests_beside, kernel_twins,
    unfinished, documents, long_sentences, folders_on_the_map, dead_files,
    python_targets, bounded_arguments, unreached_libraries,
    code_that_pages_name, types_defined_twice, visible_to_all,
    events_on_a_page, messages_that_help,
]


def check(tree):
    """All findings in `tree`, by path and line."""
    return sorted(finding for rule in RULES for finding in rule(tree))
