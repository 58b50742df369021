"""What can be told by a program of whether an error message helps.

A message goes on a line behind a program's name and a place. So it begins in
lower case and ends without a full stop. A word that only says that something is
not right stands where a reason and a cure belong.
"""

import re

from tools.tidy import cpp

_MADE = re.compile(r'\babsl::[A-Z]\w+Error\(')
_LITERALS = re.compile(r'"((?:[^"\\]|\\.)*)"')
# A name may come first: AdamW, LAMB, a method of a seam.
_SENTENCE = re.compile(r'(?!Describe|Megatron)[A-Z][a-z]+(?![\w:])')
_EMPTY_WORDS = re.compile(
    r'\b(invalid|illegal|bad|malformed|oops|please|sorry|something)\b',
    re.IGNORECASE)


def _argument(text, begin):
    """What stands in the brackets that were opened just before `begin`."""
    depth, at = 1, begin
    while at < len(text):
        if text[at] == '"':
            literal = _LITERALS.match(text, at)
            if not literal:
                break
            at = literal.end()
            continue
        depth += {'(': 1, ')': -1}.get(text[at], 0)
        if not depth:
            return text[begin:at]
        at += 1
    return text[begin:at]


def faults(text):
    """(line, what to do) of each message in a source file that does not help.
    """
    plain = cpp.strip_comments(text)
    for made in _MADE.finditer(plain):
        argument = _argument(plain, made.end()).strip()
        literals = _LITERALS.findall(argument)
        line = plain.count('\n', 0, made.start()) + 1
        if not literals:
            continue
        first = argument.startswith(('"', 'absl::StrCat("'))
        if first and _SENTENCE.match(literals[0]):
            yield line, 'begin the message in lower case'
        if argument.rstrip(') ').endswith('."'):
            yield line, 'end the message without a full stop'
        word = _EMPTY_WORDS.search(' '.join(literals))
        if word:
            yield line, (f'in place of "{word.group()}" say what is wrong, '
                         'where, and what to do')
