#include "compression/top_k/selection.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "compression/testing/every_simd_target.h"
#include "compression/top_k/cpu/candidates.h"
#include "compression/top_k/cpu/gaps.h"
#include "compression/top_k/cpu/select.h"
#include "compression/top_k/cpu/sent.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 41;
// Above the size from which a sample is taken.
constexpr size_t kCount = 200'000;

struct Input {
  std::string name;
  std::vector<float> values;
};

std::vector<Input> Inputs() {
  Random random(kSeed);
  std::vector<Input> inputs = {
      {"heavy tail", std::vector<float>(kCount)},
      {"few magnitudes", std::vector<float>(kCount)},
      {"constant", std::vector<float>(kCount, -2.5f)},
      {"zeros", std::vector<float>(kCount, 0.0f)},
      {"mostly zeros", std::vector<float>(kCount, 0.0f)},
      {"what a stride of samples misses", std::vector<float>(kCount, 0.25f)},
      {"small", std::vector<float>(1000)},
  };
  for (float& value : inputs[0].values) {
    value = static_cast<float>((random.Uniform() - 0.5) /
                               (0.01 + random.Uniform()));
  }
  for (float& value : inputs[1].values) {
    value = static_cast<float>(random.Below(9)) - 4.0f;
  }
  for (size_t i = 5; i < kCount; i += 7000) inputs[4].values[i] = 1e-3f;
  // Samples are taken behind multiples of 128 here.
  for (size_t i = 0; i < kCount; ++i) {
    if (i % 128 >= 4) inputs[5].values[i] = 1.0f + random.Uniform();
  }
  for (float& value : inputs[6].values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return inputs;
}

// All that is selected, with places in the slice.
std::vector<uint64_t> Places(const Selection& selection,
                             const Workspace& workspace,
                             const std::vector<float>& values) {
  std::vector<uint64_t> places;
  std::vector<float> sent(cpu::kSentRoom);
  for (size_t p = 0; p < selection.parts; ++p) {
    const PartScratch& part = workspace.parts[p];
    EXPECT_EQ(part.at, places.size());
    const size_t begin = p * selection.part_size;
    std::vector<std::byte> gaps(3 * part.sent + cpu::kCandidateSlack);
    std::byte* written = gaps.data();
    std::vector<float> mine;
    cpu::SentCursor cursor = BeginOf(part);
    while (const size_t count =
               cpu::ReadSent(CandidatesOf(part), part.word_count,
                             selection.above, cursor, sent.data(), written)) {
      mine.insert(mine.end(), sent.begin(),
                  sent.begin() + static_cast<ptrdiff_t>(count));
    }
    EXPECT_EQ(mine.size(), part.sent);
    if (mine.empty()) continue;
    std::span<const std::byte> bytes(gaps.data(), written);
    std::vector<uint64_t> behind(mine.size() - 1);
    uint64_t next = begin + cursor.first + 1;
    EXPECT_TRUE(cpu::ReadGaps(bytes, values.size(), next, behind));
    EXPECT_TRUE(bytes.empty());
    places.push_back(begin + cursor.first);
    places.insert(places.end(), behind.begin(), behind.end());
    for (size_t i = 0; i < mine.size(); ++i) {
      EXPECT_EQ(mine[i], values[places[part.at + i]]);
    }
  }
  EXPECT_EQ(selection.sent, places.size());
  return places;
}

std::vector<uint64_t> Expected(const std::vector<float>& values, size_t k) {
  std::vector<uint64_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    return std::fabs(values[a]) > std::fabs(values[b]);
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

// With each set of instructions, and cut for so many threads.
void ExpectTopK(const std::vector<float>& values, size_t k,
                std::initializer_list<int> threads) {
  const std::vector<uint64_t> expected = Expected(values, k);
  cpu::OnEverySimdTarget([&] {
    for (const int some : threads) {
      BackwardExecutor executor(some);
      Workspace workspace(executor);
      const auto selection = SelectTopK(values, k, workspace);
      ASSERT_TRUE(selection.has_value());
      ASSERT_EQ(Places(*selection, workspace, values), expected)
          << k << " of " << values.size() << ", " << some << " threads";
    }
  });
}

TEST(SelectionTest, TopKIsThatOfAStableSortHoweverItIsCut) {
  for (const Input& input : Inputs()) {
    SCOPED_TRACE(input.name);
    for (const double density : {0.00001, 0.004, 0.25, 0.49, 0.9}) {
      ExpectTopK(input.values,
                 static_cast<size_t>(std::ceil(
                     density * static_cast<double>(input.values.size()))),
                 {1, 2, 16});
    }
  }
}

// Enough for a second sample of what the first one leaves open, and a third.
TEST(SelectionTest, TopKOfManyIsThatOfAStableSort) {
  Random random(kSeed);
  std::vector<float> drawn(size_t{3} << 20);
  std::vector<float> few(size_t{1} << 20);
  for (float& value : drawn) value = static_cast<float>(random.Uniform() - 0.5);
  // A band has some whole numbers, but for what is about as often beside them.
  for (float& value : few) {
    value = random.Below(2) == 0 ? static_cast<float>(random.Below(9)) - 4.0f
                                 : 9.0f * drawn[&value - few.data()];
  }
  for (const std::vector<float>& values : {drawn, few}) {
    ExpectTopK(values, values.size() / 4, {1, 16});
  }
}

TEST(SelectionTest, OneValueThatIsNotFiniteIsFoundWhereverItIs) {
  for (const Input& input : Inputs()) {
    std::vector<float> values = input.values;
    for (const size_t at :
         {size_t{0}, size_t{12}, size_t{777}, values.size() - 1}) {
      values[at] = std::numeric_limits<float>::quiet_NaN();
      cpu::OnEverySimdTarget([&] {
        for (const size_t k : {size_t{1}, values.size() / 64, values.size()}) {
          Workspace workspace;
          EXPECT_FALSE(SelectTopK(values, k, workspace).has_value())
              << input.name << " at " << at;
          EXPECT_FALSE(EveryFinite(values, workspace));
        }
      });
      values[at] = 0.5f;
    }
  }
}

TEST(SelectionTest, AtLeastTakesTheFirstWhenThereAreTooMany) {
  for (const Input& input : Inputs()) {
    const uint32_t bits = cpu::MagnitudeBits(0.3f);
    std::vector<uint64_t> reach;
    for (size_t i = 0; i < input.values.size(); ++i) {
      if (std::fabs(input.values[i]) >= 0.3f) reach.push_back(i);
    }
    for (const size_t most : {size_t{0}, size_t{10}, size_t{5000}, kCount}) {
      std::vector<uint64_t> expected = reach;
      expected.resize(std::min(expected.size(), most));
      cpu::OnEverySimdTarget([&] {
        for (const int threads : {1, 3}) {
          BackwardExecutor executor(threads);
          Workspace workspace(executor);
          const Selection selection =
              SelectAtLeast(input.values, bits, most, workspace);
          EXPECT_EQ(Places(selection, workspace, input.values), expected)
              << input.name << ", " << most << ", " << threads;
        }
      });
    }
  }
}

}  // namespace
}  // namespace skerry::compression
