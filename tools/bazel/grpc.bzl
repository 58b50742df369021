"""C++ messages and gRPC stubs of one .proto file."""

def skerry_proto(name, src, deps = [], grpc = False):
    """Defines `name`_proto and `name`_cc, and with `grpc` also `name`_grpc.

    Args:
      name: base name of the targets.
      src: the .proto file.
      deps: base names of the files it imports.
      grpc: whether it declares services.
    """
    native.proto_library(
        name = name + "_proto",
        srcs = [src],
        deps = [":" + d + "_proto" for d in deps],
    )
    native.cc_proto_library(
        name = name + "_cc",
        deps = [":" + name + "_proto"],
    )
    if not grpc:
        return
    base = src[:-len(".proto")]
    native.genrule(
        name = name + "_grpc_gen",
        srcs = [src] + [d + ".proto" for d in deps],
        outs = [base + ".grpc.pb.h", base + ".grpc.pb.cc"],
        cmd = "/usr/bin/protoc -I. " +
              "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin " +
              "--grpc_out=$(GENDIR) " +
              "$(location %s)" % src,
    )
    native.cc_library(
        name = name + "_grpc",
        srcs = [base + ".grpc.pb.cc"],
        hdrs = [base + ".grpc.pb.h"],
        deps = [":" + name + "_cc", "@sys//:grpc++"],
    )
