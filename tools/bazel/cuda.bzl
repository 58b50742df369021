"""CUDA sources: compiled by nvcc when --config=cuda is given, and always for the
processor as well.

Beside each target X there is X_emulated, of the same source, whose kernels run
as //compression/cuda/emulation has it. What a target needs of others that have
such a twin is in `cuda_deps`, without that ending.
"""

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

# The runtime library of the emulated targets.
_EMULATION = "//compression/cuda/emulation:runtime"

def _emulated(labels):
    return [label + "_emulated" for label in labels]

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
        # Functions that the compiler can run, a device can.
        "--expt-relaxed-constexpr",
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

def cuda_library(name, src, hdrs, deps = [], cuda_deps = []):
    """A library from one .cu file; without --config=cuda it is skipped.

    Args:
      name: the target, and NAME_emulated.
      src: the .cu file.
      hdrs: its public headers.
      deps: libraries that it includes.
      cuda_deps: of these, the ones that have an emulated twin.
    """
    _cuda_object(
        name = name + "_object",
        src = src,
        hdrs = hdrs,
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps + cuda_deps,
    )
    native.cc_library(
        name = name,
        srcs = [name + "_object"],
        hdrs = hdrs,
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps + cuda_deps + select(_CUDART),
    )

    # Bazel asks for an ending that it knows.
    native.genrule(
        name = name + "_source",
        srcs = [src],
        outs = [name + "_emulated.cc"],
        cmd = "cp $< $@",
    )
    native.cc_library(
        name = name + "_emulated",
        srcs = [name + "_emulated.cc"],
        hdrs = hdrs,
        deps = deps + _emulated(cuda_deps) + [_EMULATION],
    )

def cuda_test(name, src, cuda_deps, deps = [], size = "small"):
    """A test of CUDA code; without --config=cuda it is skipped.

    Args:
      name: the target, and NAME_emulated, which runs everywhere.
      src: the .cc file; it skips itself where there is no device.
      cuda_deps: what it tests, and other targets with an emulated twin.
      deps: as of cc_test.
      size: as of cc_test.
    """
    native.cc_test(
        name = name,
        size = size,
        srcs = [src],
        tags = ["exclusive", "gpu"],
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps + cuda_deps + select(_CUDART),
    )
    native.cc_test(
        name = name + "_emulated",
        size = size,
        srcs = [src],
        deps = deps + _emulated(cuda_deps) + [_EMULATION],
    )

def cuda_binary(name, src, cuda_deps, deps = []):
    """A program that needs a device; without --config=cuda it is skipped.

    Args:
      name: the target.
      src: the .cc file.
      cuda_deps: what it calls of CUDA libraries.
      deps: as of cc_binary.
    """
    native.cc_binary(
        name = name,
        srcs = [src],
        target_compatible_with = select(_ONLY_WITH_CUDA),
        deps = deps + cuda_deps + select(_CUDART),
    )

def cuda_test_library(name, srcs, hdrs, deps):
    """What tests of CUDA code share; without --config=cuda it is skipped.

    Args:
      name: the target, and NAME_emulated.
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
    native.cc_library(
        name = name + "_emulated",
        testonly = True,
        srcs = srcs,
        hdrs = hdrs,
        deps = deps + [_EMULATION],
    )
