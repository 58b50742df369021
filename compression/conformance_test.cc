// Every codec against the one kit: whatever FindCodec knows, and the sparse
// families with options of their own.
#include "compression/testing/codec_conformance.h"
#include "compression/testing/conformance_cases.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

INSTANTIATE_TEST_SUITE_P(Numbered, CodecConformance,
                         ::testing::ValuesIn(NumberedCases()));
INSTANTIATE_TEST_SUITE_P(Options, CodecConformance,
                         ::testing::ValuesIn(SparseOptionCases()));
INSTANTIATE_TEST_SUITE_P(Dense, DenseCodecConformance,
                         ::testing::ValuesIn(DenseCases()));

TEST(ConformanceCasesTest, TheKitHasEveryNumber) {
  EXPECT_EQ(NumberedCases().size(), 32u);
  EXPECT_EQ(DenseCases().size(), 11u);
}

}  // namespace
}  // namespace skerry::compression
