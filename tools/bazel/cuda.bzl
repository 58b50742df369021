"""CUDA sources, compiled by nvcc when --config=cuda is given."""

load("@cuda//:cuda.bzl", "NVCC")

# sm_80 is A100, sm_90 is H100; newer devices compile the last one's PTX.
_ARCHITECTURES = [
    "arch=compute_80,code=sm_80",
    "arch=compute_90,code=sm_90",
    "arch=compute_90,code=compute_90",
]

_ONLY_WITH_CUDA = {
    "//:gpu": [],
    "//conditions:default": ["//tools/bazel:skipped"],
}

# Without CUDA not even the toolkit's headers are looked at.
_CUDART = {
    "//:gpu": ["@cuda//:cudart"],
    "//conditions:default": [],
}

def _object_impl(ctx):
    if NVCC == None:
        fail("--config=cuda needs a CUDA toolkit; set CUDA_PATH to its folder")
    out = ctx.actions.declare_file(ctx.label.name + ".o")
    headers = depset(
        ctx.files.hdrs,
        transitive = [
            dep[CcInfo].compilation_context.headers
            for dep in ctx.attr.deps
        ],
    )
    args = ctx.actions.args()
    args.add_all([
        "-std=c++20",
        "-O3",
        # A twin gives the bits of its CPU reference.
        "--fmad=false",
        "-Xcompiler",
        "-fPIC,-Wall,-Wextra,-ffp-contract=off",
        "-I.",
    ])
    for architecture in _ARCHITECTURES:
        args.add("-gencode")
        args.add(architecture)
    args.add("-c")
    args.add(ctx.file.src)
    args.add("-o")
    args.add(out)
    ctx.actions.run(
        executable = NVCC,
        arguments = [args],
        inputs = depset([ctx.file.src], transitive = [headers]),
        outputs = [out],
        mnemonic = "CudaCompile",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]))]

_cuda_object = rule(
    implementation = _object_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".cu"]),
        "hdrs": attr.label_list(allow_files = [".h"]),
        "deps": attr.label_list(providers = [CcInfo]),
    },
)

def cuda_library(name, src, hdrs, deps = []):
    """A library from one .cu file; without --config=cuda it is skipped.

    Args:
      name: the target.
      src: the .cu file.
      hdrs: its public headers.
      deps: libraries that it includes.
    """
    _cuda_object(
        name = name + "_object",
        src = src,
        hdrs = hdrs,
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps,
    )
    native.cc_library(
        name = name,
        srcs = [name + "_object"],
        hdrs = hdrs,
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps + select(_CUDART),
    )

def cuda_test(name, src, deps, size = "small"):
    """A test of CUDA code; without --config=cuda it is skipped.

    Args:
      name: the target.
      src: the .cc file; it skips itself where there is no device.
      deps: as of cc_test.
      size: as of cc_test.
    """
    native.cc_test(
        name = name,
        size = size,
        srcs = [src],
        tags = ["exclusive", "gpu"],
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps + select(_CUDART),
    )

def cuda_test_library(name, srcs, hdrs, deps):
    """What tests of CUDA code share; without --config=cuda it is skipped.

    Args:
      name: the target.
      srcs: .cc files.
      hdrs: its public headers.
      deps: as of cc_library.
    """
    native.cc_library(
        name = name,
        testonly = True,
        srcs = srcs,
        hdrs = hdrs,
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps + select(_CUDART),
    )
