"""Splits the prose of a Markdown page into sentences."""

import re

WORDS_MAX = 40

_FENCE = re.compile(r'\s*(```|~~~)')
_HEADING_OR_TABLE = re.compile(r'\s*(#|\||!\[)')
_INDENTED_CODE = re.compile(r' {4}|\t')
_LIST_ITEM = re.compile(r'\s*([-*+]|\d+\.)\s+')
# A sentence ends at a stop, with what may close behind it, before a space.
_END = re.compile(r'(?<=[.!?])[)"*_]*\s+')


def _paragraphs(text):
    """(line, text) of each paragraph and list item, without code or tables."""
    fenced = False
    start, parts = 0, []
    for number, line in enumerate(text.split('\n') + [''], 1):
        fence = _FENCE.match(line)
        item = _LIST_ITEM.match(line)
        ends = (fence or fenced or not line.strip()
                or _HEADING_OR_TABLE.match(line)
                or not parts and _INDENTED_CODE.match(line) and not item)
        if (ends or item) and parts:
            yield start, '\n'.join(parts)
            parts = []
        if fence:
            fenced = not fenced
        if ends:
            continue
        if not parts:
            start = number
        parts.append(line[item.end():] if item else line)


def _plain(text):
    """`text` with a code span as one word and a link as its words."""
    text = re.sub(r'`[^`]*`', lambda m: 'code' + '\n' * m[0].count('\n'), text)
    return re.sub(r'\]\([^)\s]*\)', '', text)


def sentences(text):
    """Yields (line, number of words) of each sentence of a page."""
    for start, paragraph in _paragraphs(text):
        line = start
        plain = _plain(paragraph)
        at = 0
        for end in [m.end() for m in _END.finditer(plain)] + [len(plain)]:
            words = [word for word in plain[at:end].split()
                     if re.search(r'\w', word)]
            if words:
                yield line, len(words)
            line += plain.count('\n', at, end)
            at = end
