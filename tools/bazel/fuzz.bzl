"""Fuzz targets: built with clang by --config=fuzz, run by `tools/test fuzz`."""

def skerry_fuzz(name, src, deps = []):
    """Defines the libFuzzer binary `name`.

    Args:
      name: the target; seeds lie in tests/fuzz/corpus/`name`.
      src: defines LLVMFuzzerTestOneInput.
      deps: what it fuzzes.
    """
    native.cc_binary(
        name = name,
        srcs = [src],
        linkopts = ["-fsanitize=fuzzer"],
        # g++ has no fuzzer, so the usual build leaves these out.
        tags = ["fuzz", "manual"],
        deps = deps,
    )
