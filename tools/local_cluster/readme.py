"""The commands that a page of documentation tells its reader to type."""

import textwrap


def blocks(page):
    """{heading: [text of each fenced block under it]}, as the page has them.

    A block above the first heading is under ''. Headings without a block are
    left out.
    """
    found, heading, block = {}, '', None
    for line in page.splitlines():
        fence = line.lstrip().startswith('```')
        if block is None and fence:
            block = []
        elif block is None and line.startswith('#'):
            heading = line.strip('# ')
        elif fence:
            found.setdefault(heading, []).append(
                textwrap.dedent('\n'.join(block)))
            block = None
        elif block is not None:
            block.append(line)
    if block is not None:
        raise ValueError(f'a block under "{heading}" does not end')
    return found


def commands(page, heading, number=1):
    """Lines of a fenced block under the heading of a page; blocks count from 1.

    A line that ends in a backslash goes on in the next; blank ones are left
    out. Raises ValueError when there is no such heading, or no such block.
    """
    if not any(line.startswith('#') and line.strip('# ') == heading
               for line in page.splitlines()):
        raise ValueError(f'no heading "{heading}"')
    under = blocks(page).get(heading, [])
    if not 1 <= number <= len(under):
        raise ValueError(f'no block {number} under "{heading}"')
    return _joined(under[number - 1].splitlines())


def _joined(lines):
    found, begun = [], ''
    for line in lines:
        begun += line
        if line.endswith('\\'):
            begun += '\n'
        elif begun.strip():
            found.append(begun)
            begun = ''
        else:
            begun = ''
    return found


class Guide:
    """A page of which a suite uses every block.

    path: the page's file.
    counts: how many blocks the suite uses, by heading.
    """

    def __init__(self, path, counts):
        with open(path, encoding='utf-8') as file:
            self._page = file.read()
        self._left = {(heading, number) for heading, count in counts.items()
                      for number in range(1, count + 1)}
        self._counts = counts

    def _use(self, heading, number):
        if not 1 <= number <= self._counts.get(heading, 0):
            raise ValueError(f'block {number} under "{heading}" is not among '
                             'those that the suite is said to use')
        self._left.discard((heading, number))

    def commands(self, heading, number=1):
        """What `commands` gives; the block counts as used."""
        self._use(heading, number)
        return commands(self._page, heading, number)

    def text(self, heading, number=1):
        """The text of a block, which counts as used."""
        self._use(heading, number)
        return blocks(self._page)[heading][number - 1]

    def left(self):
        """(heading, number) of each block that is not used yet."""
        return sorted(self._left)
