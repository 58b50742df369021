"""Binds an installed CUDA toolkit, or an empty repository where there is none."""

_FOUND = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include", "include/cccl"],
)

cc_import(
    name = "cudart_import",
    shared_library = "lib/libcudart.so",
)

cc_library(
    name = "cudart",
    deps = [":headers", ":cudart_import"],
)
"""

def _impl(ctx):
    path = ctx.os.environ.get("CUDA_PATH", "/usr/local/cuda")
    root = ctx.path(path)
    if root.exists and root.get_child("bin").get_child("nvcc").exists:
        ctx.symlink(root.get_child("include"), "include")
        lib = root.get_child("lib64")
        ctx.symlink(lib if lib.exists else root.get_child("lib"), "lib")
        ctx.file("BUILD", _FOUND)
        ctx.file("cuda.bzl", "NVCC = %r\n" % str(root.get_child("bin").get_child("nvcc")))
    else:
        ctx.file("BUILD", "package(default_visibility = [\"//visibility:public\"])\n\ncc_library(name = \"cudart\")\n\ncc_library(name = \"headers\")\n")
        ctx.file("cuda.bzl", "NVCC = None\n")

cuda_configure = repository_rule(
    implementation = _impl,
    environ = ["CUDA_PATH"],
    local = True,
)
