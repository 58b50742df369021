#include "runtime/posix/entropy.h"

#include <sys/random.h>

#include "base/check.h"

namespace skerry::runtime {

uint64_t DrawRandom64() {
  uint64_t value = 0;
  while (value == 0) {
    SKERRY_CHECK(getrandom(&value, sizeof(value), 0) == sizeof(value));
  }
  return value;
}

}  // namespace skerry::runtime
