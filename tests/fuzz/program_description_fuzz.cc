// Any text as the description of a training program: what is accepted has
// numbers that a plan and a simulation can compute with.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/program_description.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto description = skerry::cli::ParseProgramDescription(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!description.ok()) return 0;
  SKERRY_CHECK(description->elements > 0);
  SKERRY_CHECK(description->samples_per_step > 0);
  SKERRY_CHECK(std::isfinite(description->step_s) && description->step_s > 0);
  SKERRY_CHECK(std::isfinite(description->flops_per_sample));
  return 0;
}
