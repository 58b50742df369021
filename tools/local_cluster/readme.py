"""The commands that a page of documentation tells its reader to type."""


def commands(page, heading):
    """Lines of the first fenced block under the heading of a page.

    A line that ends in a backslash goes on in the next; blank ones are left
    out. Raises ValueError when there is no such heading, or no block under it.
    """
    lines = iter(page.splitlines())
    for line in lines:
        if line.strip('# ') == heading and line.startswith('#'):
            break
    else:
        raise ValueError(f'no heading "{heading}"')
    block = None
    for line in lines:
        if block is None:
            if line.startswith('#'):
                break
            if line.startswith('```'):
                block = []
        elif line.startswith('```'):
            return _joined(block)
        else:
            block.append(line)
    raise ValueError(f'no block of commands under "{heading}"')


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
