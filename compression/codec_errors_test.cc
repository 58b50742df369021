#include "compression/codec_errors.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

TEST(NotFiniteErrorTest, NamesTheFirstValueAndWhatItIs) {
  std::vector<float> values = {
      1.0f, 2.0f, std::numeric_limits<float>::infinity(), std::nanf("")};
  EXPECT_EQ(NotFiniteError(values, "bf16"),
            absl::InvalidArgumentError(
                "value 2 of 4 is infinite, which bf16 cannot carry"));
  values[1] = std::nanf("");
  EXPECT_EQ(NotFiniteError(values, "nf4"),
            absl::InvalidArgumentError(
                "value 1 of 4 is NaN, which nf4 cannot carry"));
}

}  // namespace
}  // namespace skerry::compression
