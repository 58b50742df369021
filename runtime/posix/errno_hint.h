// runtime/posix/errno_hint.h
//
// Tells an operator what to do about an error of the file system.
#ifndef SKERRY_RUNTIME_POSIX_ERRNO_HINT_H_
#define SKERRY_RUNTIME_POSIX_ERRNO_HINT_H_

#include <string>

namespace skerry::runtime {

// Returns "No space left on device; make room there": the system's words for
// `error`, and what to do where that is known.
std::string ErrnoText(int error);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_ERRNO_HINT_H_
