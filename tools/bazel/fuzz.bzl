"""Fuzz targets: built with clang by --config=fuzz, run by `tools/test fuzz`."""

def skerry_fuzz(name, src, deps = [], seconds = 10):
    """Defines the libFuzzer binary `name`.

    Args:
      name: the target; seeds lie in tests/fuzz/corpus/`name`.
      src: defines LLVMFuzzerTestOneInput.
      deps: what it fuzzes.
      seconds: for how long it runs in CI: 10, or 60 when it is its turn.
    """
    # The usual build compiles it, so that no change breaks it unseen.
    native.cc_library(
        name = name + "_entry",
        testonly = True,
        srcs = [src],
        deps = deps,
        alwayslink = True,
    )
    native.cc_binary(
        name = name,
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        # g++ has no fuzzer, so the usual build does not link these.
        tags = ["fuzz", "fuzz_%d_s" % seconds, "manual"],
        deps = [":" + name + "_entry"],
    )
