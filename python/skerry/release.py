"""The release of this package."""

import importlib.metadata


def package():
    """`skerry VERSION`, as a rank says it; `skerry checkout` when the package
    is not installed."""
    try:
        return f'skerry {importlib.metadata.version("skerry")}'
    except importlib.metadata.PackageNotFoundError:
        return 'skerry checkout'
