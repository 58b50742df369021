"""Files and functions that pages name."""

import re

_PATH = r'`([a-z_0-9]+(?:/[\w.-]+)+\.(?:cc|h|cu|proto|py|bzl|txt))`'
# The functions that are named in brackets behind a file: `a/b.cc` (`F`, `G`).
# Words may stand between the two, but no other name and no full stop.
_FUNCTIONS = re.compile(_PATH + r'[^`.]*?\((`\w+`(?:,\s+`\w+`)*)\)')
# Pages about what was.
_PAST = ('CHANGELOG.md', 'docs/decisions/')


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
