// tests/integration/another_release.h
//
// Takes the place of base/release.h in programs of a made-up release.
#ifndef SKERRY_TESTS_INTEGRATION_ANOTHER_RELEASE_H_
#define SKERRY_TESTS_INTEGRATION_ANOTHER_RELEASE_H_

// The real one is not read after this.
#define SKERRY_BASE_RELEASE_H_

#include <cstdint>

namespace skerry {

inline constexpr char kRelease[] = "99.0.0";
inline constexpr uint32_t kProtocolVersion = 99;

}  // namespace skerry

#endif  // SKERRY_TESTS_INTEGRATION_ANOTHER_RELEASE_H_
