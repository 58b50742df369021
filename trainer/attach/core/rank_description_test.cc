#include "trainer/attach/core/rank_description.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::trainer::attach {
namespace {

using ::testing::HasSubstr;

Description Small() {
  return {.element_count = 7,
          .epoch_samples = 100,
          .validation_samples = 10,
          .flops_per_sample = 5,
          .initial_hash = 3,
          .layout_hash = 9,
          .capabilities = {.evaluates = true, .groups = true, .ranks = 77},
          .export_files = {{"config.json", "{}"}},
          .tensors = {{.name = "a",
                       .shape = {2, 3},
                       .dtype = model::Dtype::kBf16,
                       .offset = 0,
                       .tied = {"b"}},
                      {.name = "c",
                       .shape = {},
                       .dtype = model::Dtype::kF32,
                       .offset = 6,
                       .tied = {}}}};
}

// What is said of two ranks that both have `change`.
std::string Complaint(const std::function<void(Description&)>& change) {
  Description one = Small();
  change(one);
  const std::vector<Description> ranks = {one, one};
  const auto merged = MergeDescriptions(ranks, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(merged.status()));
  return std::string(merged.status().message());
}

TEST(MergeDescriptionsTest, SaysWhatRankZeroSays) {
  const std::vector<Description> ranks(3, Small());
  const auto merged = MergeDescriptions(ranks, 55);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->element_count, 7u);
  EXPECT_EQ(merged->epoch_samples, 100u);
  EXPECT_EQ(merged->initial_hash, 0u);
  EXPECT_EQ(merged->layout_hash, LayoutHash(Small().tensors, 9));
  EXPECT_TRUE(merged->capabilities.evaluates);
  EXPECT_FALSE(merged->capabilities.groups);
  EXPECT_EQ(merged->capabilities.ranks, 3u);
  EXPECT_EQ(merged->export_files[0].name, "config.json");
}

TEST(MergeDescriptionsTest, JobSaysHowManySamplesWhereTheProgramDoesNot) {
  Description one = Small();
  one.epoch_samples = 0;
  EXPECT_EQ(MergeDescriptions({&one, 1}, 55)->epoch_samples, 55u);
  EXPECT_THAT(MergeDescriptions({&one, 1}, 0).status().message(),
              HasSubstr("epochSamples is 0"));
}

TEST(MergeDescriptionsTest, RanksThatDifferAreNamed) {
  for (const auto& change : std::vector<std::function<void(Description&)>>{
           [](Description& it) { it.element_count = 8; },
           [](Description& it) { it.layout_hash = 1; },
           [](Description& it) { it.tensors[0].name = "x"; },
           [](Description& it) {
             it.tensors[0].shape = {3, 2};
           },
           [](Description& it) { it.tensors[0].tied.clear(); },
           [](Description& it) { it.tensors[1].dtype = model::Dtype::kF16; },
           [](Description& it) { it.tensors[1].average = true; },
           [](Description& it) { it.tensors.pop_back(); }}) {
    std::vector<Description> ranks(3, Small());
    change(ranks[2]);
    const auto merged = MergeDescriptions(ranks, 0);
    EXPECT_THAT(merged.status().message(), HasSubstr("rank 2 has other"));
  }
}

TEST(MergeDescriptionsTest, TensorsThatDoNotCoverTheStateAreRefused) {
  EXPECT_THAT(Complaint([](Description& it) { it.tensors.clear(); }),
              HasSubstr("it has 0 tensors"));
  EXPECT_THAT(Complaint([](Description& it) { it.element_count = 8; }),
              HasSubstr("elementCount is 8, the tensors have 7"));
  EXPECT_THAT(
      Complaint([](Description& it) { it.tensors[1].offset = 5; }),
      HasSubstr("'c' begins at element 5, the one before it ends at 6"));
  EXPECT_THAT(Complaint([](Description& it) { it.tensors[0].shape = {0}; }),
              HasSubstr("'a' has no element"));
}

// With two tensors that are averaged.
Description Averaging() {
  Description one = Small();
  one.tensors.push_back({.name = "mean",
                         .shape = {4},
                         .offset = 4096,
                         .tied = {},
                         .average = true});
  one.tensors.push_back({.name = "var",
                         .shape = {4},
                         .offset = 4100,
                         .tied = {},
                         .average = true});
  one.element_count = 4104;
  one.average_begin = 4096;
  return one;
}

TEST(MergeDescriptionsTest, AveragedTensorsComeLastAndBeginAtAnEdge) {
  const std::vector<Description> ranks(2, Averaging());
  const auto merged = MergeDescriptions(ranks, 0);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->average_begin, 4096u);
  const auto complaint = [](const auto& change) {
    return Complaint([&](Description& it) {
      it = Averaging();
      change(it);
    });
  };
  EXPECT_THAT(complaint([](Description& it) { it.average_begin = 0; }),
              HasSubstr("averageBegin is 0, the averaged tensors begin at"));
  EXPECT_THAT(complaint([](Description& it) { it.tensors[2].offset = 7; }),
              HasSubstr("begins at element 7, the averaged ones begin at"));
  EXPECT_THAT(complaint([](Description& it) { it.tensors[3].offset = 8192; }),
              HasSubstr("the one before it ends at 4100"));
  EXPECT_THAT(complaint([](Description& it) {
                it.tensors[2].average = false;
                it.tensors[2].offset = 7;
              }),
              HasSubstr("averaged"));
  EXPECT_THAT(complaint([](Description& it) { it.tensors[3].average = false; }),
              HasSubstr("'var' comes after averaged ones"));
  EXPECT_THAT(complaint([](Description& it) { it.tensors[0].average = true; }),
              HasSubstr("'a' is averaged, and is the first"));
  EXPECT_THAT(complaint([](Description& it) { it.element_count = 4103; }),
              HasSubstr("elementCount is 4103, the tensors have 4104"));
}

TEST(LayoutHashTest, TellsAveragedTensorsFromOthers) {
  Description other = Averaging();
  other.tensors[2].average = false;
  EXPECT_NE(LayoutHash(other.tensors, 0), LayoutHash(Averaging().tensors, 0));
}

TEST(MergeDescriptionsTest, SizesThatOverflowAreRefused) {
  const uint64_t large = uint64_t{1} << 33;
  EXPECT_THAT(Complaint([&](Description& it) {
                it.tensors[0].shape = {large, large};
              }),
              HasSubstr("'a' has no element, or the model has more than"));
  EXPECT_THAT(
      Complaint([&](Description& it) { it.tensors[0].shape = {kElementsMax}; }),
      HasSubstr("'c' has no element, or the model has more than"));
  EXPECT_THAT(Complaint([&](Description& it) {
                it.tensors[0].shape.assign(kDimensionsMax + 1, 1);
              }),
              HasSubstr("has 33 dimensions"));
}

TEST(MergeDescriptionsTest, NamesThatNoFileCanHaveAreRefused) {
  EXPECT_THAT(Complaint([](Description& it) { it.tensors[0].name = ""; }),
              HasSubstr("the name '' of a tensor"));
  EXPECT_THAT(Complaint([](Description& it) { it.tensors[0].name = "a\nb"; }),
              HasSubstr("the name 'a b' of a tensor"));
  EXPECT_THAT(Complaint([](Description& it) { it.tensors[0].tied = {"c"}; }),
              HasSubstr("'c' is there twice"));
  for (const char* name : {"", ".", "..", "a/b", "/etc/passwd", "a\nb"}) {
    EXPECT_THAT(
        Complaint([&](Description& it) { it.export_files[0].name = name; }),
        HasSubstr("has no plain file name"));
  }
  EXPECT_THAT(Complaint([](Description& it) {
                it.export_files.push_back(it.export_files[0]);
              }),
              HasSubstr("'config.json' is there twice"));
  EXPECT_THAT(Complaint([](Description& it) {
                it.export_files[0].content.resize(kExportBytesMax + 1);
              }),
              HasSubstr("have 16777217 bytes"));
}

TEST(MergeDescriptionsTest, NumbersThatAreNoneAreRefused) {
  EXPECT_THAT(Complaint([](Description& it) { it.flops_per_sample = -1; }),
              HasSubstr("flopsPerSample"));
  EXPECT_THAT(Complaint([](Description& it) {
                it.flops_per_sample = std::numeric_limits<double>::infinity();
              }),
              HasSubstr("flopsPerSample"));
}

TEST(LayoutHashTest, DependsOnNamesShapesOrderAndTheProgramsOwn) {
  const std::vector<ModelTensor> tensors = Small().tensors;
  const uint64_t hash = LayoutHash(tensors, 0);
  EXPECT_NE(hash, 0u);
  std::vector<ModelTensor> other = tensors;
  other[0].name = "x";
  EXPECT_NE(LayoutHash(other, 0), hash);
  other = tensors;
  other[0].shape = {3, 2};
  EXPECT_NE(LayoutHash(other, 0), hash);
  other = {tensors[1], tensors[0]};
  EXPECT_NE(LayoutHash(other, 0), hash);
  EXPECT_NE(LayoutHash(tensors, 1), hash);
  // The dtype may differ from worker to worker.
  other = tensors;
  other[0].dtype = model::Dtype::kF32;
  EXPECT_EQ(LayoutHash(other, 0), hash);
}

// docs/formats/attach.md defines the hash; other implementations rely on it.
TEST(LayoutHashTest, StaysAsItIs) {
  EXPECT_EQ(LayoutHash(Small().tensors, 0), 11644679757035131448u);
  EXPECT_EQ(LayoutHash(Small().tensors, 9), 15386694445743201031u);
}

}  // namespace
}  // namespace skerry::trainer::attach
