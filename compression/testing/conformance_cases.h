// compression/testing/conformance_cases.h
//
// Pairs every codec with its scalar twin, for the conformance kit.
#ifndef SKERRY_COMPRESSION_TESTING_CONFORMANCE_CASES_H_
#define SKERRY_COMPRESSION_TESTING_CONFORMANCE_CASES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "compression/codec.h"

namespace skerry::compression {

struct ConformanceCase {
  std::string name;
  std::shared_ptr<const Codec> codec;
  // The payload of finite values as docs/formats/codecs.md has it, and what it
  // decodes to.
  std::function<std::vector<std::byte>(std::span<const float>)> encode;
  std::function<std::vector<float>(std::span<const float>)> decoded;
};

// One for each number that FindCodec knows.
std::vector<ConformanceCase> NumberedCases();
// Those of them whose size follows from the element count.
std::vector<ConformanceCase> DenseCases();
// Sparse codecs with options that no number fixes, over several inner codecs.
std::vector<ConformanceCase> SparseOptionCases();

// For the names of tests.
std::ostream& operator<<(std::ostream& out, const ConformanceCase& one);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_CONFORMANCE_CASES_H_
