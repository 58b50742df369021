// base/release.h
//
// The release of this program, and the version of the protocol that it speaks.
#ifndef SKERRY_BASE_RELEASE_H_
#define SKERRY_BASE_RELEASE_H_

#include <cstdint>

namespace skerry {

inline constexpr char kRelease[] = "0.1.0";

// The version of proto/skerry/v1. Two processes talk only when they agree on
// it.
inline constexpr uint32_t kProtocolVersion = 1;

}  // namespace skerry

#endif  // SKERRY_BASE_RELEASE_H_
