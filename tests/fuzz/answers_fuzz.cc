// Any bytes as a receiver's answers: those that are accepted are written back
// to the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "transport/answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto answers = skerry::transport::DecodeAnswers(bytes);
  if (!answers.ok()) return 0;
  SKERRY_CHECK(
      std::ranges::equal(skerry::transport::EncodeAnswers(*answers), bytes));
  return 0;
}
