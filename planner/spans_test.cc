#include "planner/spans.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

TEST(SpansTest, EveryElementIsInOneAlignedNonEmptySpan) {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const uint64_t elements = 1 + random.Below(trial < 1000 ? 100 : 1 << 30);
    const auto count = static_cast<uint32_t>(1 + random.Below(70));
    const uint64_t alignment = 1 + random.Below(trial < 1000 ? 8 : 5000);
    const auto spans = CutSpans(elements, count, alignment);
    ASSERT_TRUE(spans.ok());
    ASSERT_LE(spans->size(), count);
    uint64_t at = 0;
    uint64_t smallest = ~uint64_t{0};
    uint64_t largest = 0;
    for (const SpanRange& span : *spans) {
      ASSERT_EQ(span.begin, at);
      ASSERT_EQ(span.begin % alignment, 0u);
      ASSERT_GT(span.size(), 0u);
      at = span.end;
      const uint64_t units = (span.size() + alignment - 1) / alignment;
      smallest = std::min(smallest, units);
      largest = std::max(largest, units);
    }
    ASSERT_EQ(at, elements);
    ASSERT_LE(largest - smallest, 1u);
  }
}

TEST(SpansTest, ASmallFragmentHasFewerSpans) {
  const auto spans = CutSpans(5000);
  ASSERT_TRUE(spans.ok());
  EXPECT_EQ(*spans, (std::vector<SpanRange>{{0, 4096}, {4096, 5000}}));
}

TEST(SpansTest, AUsualFragmentHasSixtyFour) {
  EXPECT_EQ(CutSpans(124'000'000)->size(), 64u);
}

TEST(SpansTest, ZeroesAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(CutSpans(0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(CutSpans(1, 0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(CutSpans(1, 1, 0).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(CutSpans((uint64_t{1} << 48) + 1).status()));
}

TEST(SpansTest, FragmentsTouchAndHaveTheSameNumberOfSpans) {
  const auto cut = CutFragments(10 * 4096 + 5, 3, 64);
  ASSERT_TRUE(cut.ok());
  uint64_t end = 0;
  ASSERT_EQ(cut->size(), 3u);
  for (const auto& spans : *cut) {
    ASSERT_EQ(spans.size(), 3u);
    for (const SpanRange& span : spans) {
      EXPECT_EQ(span.begin, end);
      EXPECT_GT(span.size(), 0u);
      end = span.end;
    }
  }
  EXPECT_EQ(end, 10u * 4096 + 5);
}

TEST(SpansTest, OneFragmentIsCutAsBefore) {
  for (const uint64_t elements :
       {uint64_t{1}, uint64_t{4097}, uint64_t{1} << 20}) {
    EXPECT_EQ(CutFragments(elements, 1, 64)->front(), *CutSpans(elements, 64));
  }
}

TEST(SpansTest, AModelThatIsTooSmallForItsFragmentsIsRefused) {
  EXPECT_TRUE(CutFragments(3 * 4096, 3, 64).ok());
  EXPECT_FALSE(CutFragments(2 * 4096, 3, 64).ok());
  EXPECT_FALSE(CutFragments(4096, 0, 64).ok());
}

TEST(SpansTest, AveragedElementsHaveSpansOfTheLastFragment) {
  Random random(2);
  int cut_apart = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const uint64_t alignment = 1 + random.Below(9);
    const uint64_t begin = alignment * (1 + random.Below(60));
    const uint64_t elements = begin + 1 + random.Below(40 * alignment);
    const auto fragments = static_cast<uint32_t>(1 + random.Below(5));
    const auto count = static_cast<uint32_t>(1 + random.Below(12));
    const auto cut = CutFragments(elements, fragments, count, begin, alignment);
    const uint64_t units = (elements + alignment - 1) / alignment;
    ASSERT_EQ(cut.ok(),
              units >= fragments && begin / alignment >= fragments - 1)
        << elements << " from " << begin << " in " << fragments;
    if (!cut.ok()) continue;
    ++cut_apart;
    uint64_t at = 0;
    int edges = 0;
    for (const auto& spans : *cut) {
      ASSERT_EQ(spans.size(), cut->front().size());
      ASSERT_LE(spans.size(), std::max(count, fragments == 1 ? 2u : 1u));
      for (const SpanRange& span : spans) {
        ASSERT_EQ(span.begin, at);
        ASSERT_EQ(span.begin % alignment, 0u);
        ASSERT_GT(span.size(), 0u);
        edges += span.begin == begin ? 1 : 0;
        at = span.end;
      }
    }
    ASSERT_EQ(at, elements);
    ASSERT_EQ(edges, 1);
    ASSERT_LE(cut->back().front().begin, begin);
  }
  EXPECT_GT(cut_apart, 4000);
}

TEST(SpansTest, AFewAveragedElementsHaveOneSpan) {
  const auto cut = CutFragments(100 * 4096 + 64, 1, 64, 100 * 4096);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->front().size(), 64u);
  EXPECT_EQ(cut->front().back(), (SpanRange{100 * 4096, 100 * 4096 + 64}));
  EXPECT_EQ(CutFragments(4096 + 1, 1, 1, 4096)->front().size(), 2u);
}

TEST(SpansTest, AveragedElementsThatBeginInsideASpanAreRefused) {
  for (const uint64_t begin : {4095, 3 * 4096, 4 * 4096}) {
    const auto cut = CutFragments(3 * 4096, 1, 64, begin);
    EXPECT_TRUE(absl::IsInvalidArgument(cut.status())) << begin;
  }
}

}  // namespace
}  // namespace skerry::planner
