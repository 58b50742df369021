// runtime/posix/start_failure.h
//
// Turns the failure to start a program into a status.
#ifndef SKERRY_RUNTIME_POSIX_START_FAILURE_H_
#define SKERRY_RUNTIME_POSIX_START_FAILURE_H_

#include <string>

#include "absl/status/status.h"

namespace skerry::runtime {

// `error` is the errno of the attempt. NotFound: there is no such file.
// PermissionDenied: it is none that may be run, or none that can be.
// ResourceExhausted: the machine had no room for it.
absl::Status StartFailure(const std::string& program, int error);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_START_FAILURE_H_
