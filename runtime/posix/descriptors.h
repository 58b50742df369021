// runtime/posix/descriptors.h
//
// Sets how many files and connections a daemon may have open.
#ifndef SKERRY_RUNTIME_POSIX_DESCRIPTORS_H_
#define SKERRY_RUNTIME_POSIX_DESCRIPTORS_H_

namespace skerry::runtime {

// Raises the soft limit of descriptors to the hard one, for this process and
// the programs that it starts. gRPC 1.51 closes a port for good when accept()
// finds no free descriptor, so that the usual 1024 would let strangers end the
// service of a daemon. Leaves the limit as it is where the system refuses.
void RaiseDescriptorLimit();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_DESCRIPTORS_H_
