// runtime/posix/thread_name.h
//
// Names threads as the kernel shows them, in `top -H` and in core dumps.
#ifndef SKERRY_RUNTIME_POSIX_THREAD_NAME_H_
#define SKERRY_RUNTIME_POSIX_THREAD_NAME_H_

#include <string>

namespace skerry::runtime {

// Names the calling thread; what is beyond 15 characters is cut.
void NameThisThread(const std::string& name);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_THREAD_NAME_H_
