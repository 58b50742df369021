"""Reads C++ just well enough to check its shape.

No parser: comments, literals and directives are blanked, so that what is left
can be searched line by line and its braces counted.
"""

import re

_TOKEN = re.compile(
    r'(?P<line>//(?:\\\n|[^\n])*)'
    r'|(?P<block>/\*.*?\*/)'
    r'|(?P<raw>R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)")'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<number>\b\d(?:'?[\w.])*)"
    r"|(?P<char>'(?:[^'\\\n]|\\.)+')", re.S)

_DIRECTIVE = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.M)
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
_TYPE = re.compile(r'\b(namespace|class|struct|union|enum|extern)\b')
# A constructor's initializer list that stops at a member's opening brace.
_MEMBER_BRACE = re.compile(r'\)[\w\s]*:(?!:).*[\w>]\s*$', re.S)


def _blank(text):
    """Keeps line breaks, so that positions still give line numbers."""
    return re.sub(r'[^\n]', ' ', text)


def strip(text):
    """`text` without comments, literals and, in their place, blanks."""
    def replace(match):
        return match.group(0) if match.group('number') else _blank(
            match.group(0))
    return _TOKEN.sub(replace, text)


def strip_comments(text):
    """`text` without comments; literals stay."""
    def replace(match):
        if match.group('line') or match.group('block'):
            return _blank(match.group(0))
        return match.group(0)
    return _TOKEN.sub(replace, text)


def comments(text):
    """(position, comment with its marks) of each comment in `text`."""
    for match in _TOKEN.finditer(text):
        if match.group('line') or match.group('block'):
            yield match.start(), match.group(0)


def includes(text):
    """[(line number, header, is quoted)] of the includes in `text`."""
    found = []
    for number, line in enumerate(strip_comments(text).split('\n'), 1):
        match = _INCLUDE.match(line)
        if match:
            found.append((number, match.group(2), match.group(1) == '"'))
    return found


def _kind(header):
    """What an opening brace after `header` opens, outside any function."""
    header = header.strip()
    if _MEMBER_BRACE.search(header) and not header.endswith(')'):
        return 'member'
    if header.endswith('='):
        return 'data'
    before_parameters = header.split('(')[0]
    if _TYPE.search(re.sub(r'<[^<>]*>', '', before_parameters)):
        if re.search(r'\benum\b', before_parameters):
            return 'data'
        # `struct X F() {` is a function, `class alignas(64) X {` is not.
        if '(' not in header or re.search(
                r'\b(alignas|__attribute__|final)\b|ABSL_', header):
            return 'scope'
    return 'function' if '(' in header else 'data'


def functions(text):
    """[(first line, name, number of lines)] of the functions in `text`.

    A function counts from its signature to its closing brace. Functions in
    functions (lambdas, local classes) belong to the outer one.
    """
    code = _DIRECTIVE.sub(lambda m: _blank(m.group(0)), strip(text))
    found = []
    scopes = []  # kinds of the open braces
    start = 0    # where the text before the next brace begins
    opened_at = 0
    for match in re.finditer(r'[{};]', code):
        char, at = match.group(0), match.start()
        opaque = bool(scopes) and scopes[-1] != 'scope'
        if char == '{':
            if opaque:
                scopes.append('inner')
                continue
            kind = _kind(code[start:at])
            scopes.append(kind)
            if kind in ('function', 'data'):
                lead = code[start:at]
                opened_at = start + len(lead) - len(lead.lstrip())
            elif kind == 'scope':
                start = at + 1
        elif char == '}':
            kind = scopes.pop() if scopes else 'scope'
            if kind == 'function':
                first = code.count('\n', 0, opened_at) + 1
                last = code.count('\n', 0, at) + 1
                found.append((first, _name(code[opened_at:at]),
                              last - first + 1))
            if kind not in ('inner', 'member'):
                start = at + 1
        elif not opaque:
            start = at + 1
    return found


def _name(signature):
    match = re.search(r'([\w:~]+)\s*\(([^()]*)', signature)
    if not match:
        return '?'
    if match.group(1).startswith('TEST'):
        return '.'.join(match.group(2).replace('\n', ' ').split(', '))
    return match.group(1)
