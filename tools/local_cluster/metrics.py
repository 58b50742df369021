"""What a daemon tells of itself on its admin port."""

import urllib.request


def read(port):
    """{name of a metric: sum over its labels}."""
    with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics',
                                timeout=10) as answer:
        text = answer.read().decode('utf-8')
    found = {}
    for line in text.splitlines():
        if line and not line.startswith('#'):
            series, value = line.rsplit(' ', 1)
            name = series.split('{', 1)[0]
            found[name] = found.get(name, 0.0) + float(value)
    return found
