"""Python tests that need nothing but python3.

Bazel 4.2.3 starts its own py_test through a command named `python`, which
Debian does not have.
"""

def skerry_py_test(name, src, deps = [], size = "small", tags = []):
    """A file of unittest cases, each counted by itself.

    Args:
      name: the target.
      src: the file; it imports by path from the root (`tools.tidy.rules`).
      deps: py_library targets.
      size: as for any test.
      tags: as for any test.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/bazel:run_unittest.py"],
        args = ["$(rootpath %s)" % src],
        data = [src] + deps,
        tags = tags,
    )
