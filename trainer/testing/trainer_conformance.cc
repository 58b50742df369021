#include "trainer/testing/trainer_conformance.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "trainer/service/posix_inner_file.h"
#include "transport/memory/memory_group.h"
#include "transport/testing/group_runner.h"

namespace skerry::trainer {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

ElementRange All(Trainer& trainer) {
  return {0, trainer.description().element_count};
}

// Trains `request` on `ranks` trainers together; the state of each.
std::vector<std::vector<float>> RunTogether(const TrainerFactory& make,
                                            int ranks,
                                            const RunRequest& request) {
  transport::GroupMembers members = transport::MakeMemoryGroup(ranks, kTimeout);
  std::vector<std::vector<float>> states(static_cast<size_t>(ranks));
  std::vector<double> losses(static_cast<size_t>(ranks));
  transport::RunMembers(members, [&](transport::Group& group) {
    const std::unique_ptr<Trainer> trainer = make();
    ASSERT_TRUE(trainer->JoinGroup(&group).ok());
    const auto result = trainer->Run(request, NeverStop);
    ASSERT_TRUE(result.ok()) << result.status();
    states[static_cast<size_t>(group.rank())] = StateOf(*trainer);
    losses[static_cast<size_t>(group.rank())] = result->loss;
  });
  for (const double loss : losses) EXPECT_EQ(loss, losses[0]);
  return states;
}

bool JoinsGroups(const TrainerFactory& make) {
  return make()->description().capabilities.groups;
}

}  // namespace

std::vector<float> StateOf(Trainer& trainer) {
  std::vector<float> state(trainer.description().element_count);
  const ElementRange all[] = {All(trainer)};
  EXPECT_TRUE(trainer.Snapshot(all, state).ok());
  return state;
}

RunRequest Samples(uint64_t begin, uint64_t end, uint64_t batch) {
  return {.ranges = {{begin, end}}, .replica_batch_samples = batch};
}

bool NeverStop() { return false; }

TEST_P(TrainerConformance, DescriptionTellsOfTheInitialState) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  const Description& description = trainer->description();
  EXPECT_GE(description.epoch_samples, 100u);
  EXPECT_GT(description.validation_samples, 0u);
  EXPECT_GT(description.flops_per_sample, 0);
  const std::vector<float> state = StateOf(*trainer);
  EXPECT_EQ(Hash64Of(std::span<const float>(state)), description.initial_hash);
  EXPECT_EQ(GetParam()()->description().initial_hash, description.initial_hash);
}

TEST_P(TrainerConformance, LearnsAndCountsWhatItDid) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  const auto before = trainer->Evaluate(0, NeverStop);
  const auto run = trainer->Run(Samples(0, 20 * 16 + 5, 16), NeverStop);
  const auto after = trainer->Evaluate(0, NeverStop);
  ASSERT_TRUE(before.ok() && run.ok() && after.ok()) << run.status();
  EXPECT_EQ(run->samples, 325u);
  EXPECT_EQ(run->inner_steps, 21u);
  EXPECT_GT(run->gradient_norm, 0);
  EXPECT_GT(run->learning_rate, 0);
  EXPECT_TRUE(run->has_loss);
  EXPECT_LT(after->loss, 0.8 * before->loss);
  EXPECT_EQ(after->samples, trainer->description().validation_samples);
}

TEST_P(TrainerConformance, SameCallsGiveTheSameBits) {
  const std::unique_ptr<Trainer> one = GetParam()();
  const std::unique_ptr<Trainer> two = GetParam()();
  for (uint64_t round = 0; round < 3; ++round) {
    const RunRequest request = Samples(round * 20, round * 20 + 20, 8);
    const auto a = one->Run(request, NeverStop);
    const auto b = two->Run(request, NeverStop);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->loss, b->loss);
  }
  EXPECT_EQ(StateOf(*one), StateOf(*two));
  EXPECT_EQ(one->Evaluate(7, NeverStop)->loss,
            two->Evaluate(7, NeverStop)->loss);
}

TEST_P(TrainerConformance, LoadedValuesAreLive) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  const std::vector<float> initial = StateOf(*trainer);
  const double initial_loss = trainer->Evaluate(0, NeverStop)->loss;
  ASSERT_TRUE(trainer->Run(Samples(0, 32, 16), NeverStop).ok());
  const std::vector<float> trained = StateOf(*trainer);
  ASSERT_NE(trained, initial);
  const uint64_t half = initial.size() / 2;
  const ElementRange low[] = {{0, half}};
  ASSERT_TRUE(trainer->Load(low, {}, initial).ok());
  const std::vector<float> mixed = StateOf(*trainer);
  EXPECT_TRUE(std::equal(mixed.begin(), mixed.begin() + half, initial.begin()));
  EXPECT_TRUE(
      std::equal(mixed.begin() + half, mixed.end(), trained.begin() + half));
  const ElementRange high[] = {{half, initial.size()}};
  ASSERT_TRUE(trainer->Load(high, {}, initial).ok());
  EXPECT_EQ(trainer->Evaluate(0, NeverStop)->loss, initial_loss);
}

TEST_P(TrainerConformance, IslandAgreesBitForBitAndWithOneTrainer) {
  if (!JoinsGroups(GetParam())) GTEST_SKIP() << "it joins no group";
  // The last step has one sample: two of three members get none of it.
  const RunRequest request = Samples(3, 3 + 33, 8);
  const std::vector<float> alone = RunTogether(GetParam(), 1, request)[0];
  for (const int ranks : {2, 3}) {
    const auto states = RunTogether(GetParam(), ranks, request);
    for (const std::vector<float>& state : states) {
      ASSERT_EQ(state, states[0]);
    }
    float apart = 0;
    for (size_t i = 0; i < alone.size(); ++i) {
      apart = std::max(apart, std::abs(states[0][i] - alone[i]));
    }
    EXPECT_LE(apart, 1e-5f);
  }
}

TEST_P(TrainerConformance, OwnersShareWhatTheyLoad) {
  if (!JoinsGroups(GetParam())) GTEST_SKIP() << "it joins no group";
  transport::GroupMembers members = transport::MakeMemoryGroup(2, kTimeout);
  std::vector<std::vector<float>> states(2);
  transport::RunMembers(members, [&](transport::Group& group) {
    const std::unique_ptr<Trainer> trainer = GetParam()();
    ASSERT_TRUE(trainer->JoinGroup(&group).ok());
    const uint64_t count = trainer->description().element_count;
    const uint64_t cut = count / 3;
    const RankRange owners[] = {{{0, cut}, 1}, {{cut, count}, 0}};
    const ElementRange mine[] = {group.rank() == 1 ? owners[0].range
                                                   : owners[1].range};
    const std::vector<float> state(count,
                                   static_cast<float>(group.rank()) + 0.5f);
    ASSERT_TRUE(trainer->Load(mine, owners, state).ok());
    states[static_cast<size_t>(group.rank())] = StateOf(*trainer);
    EXPECT_TRUE(absl::IsInvalidArgument(
        trainer->Load(mine, std::span(owners).first(1), state)));
    EXPECT_TRUE(absl::IsInvalidArgument(trainer->Load({}, owners, state)));
  });
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0].front(), 1.5f);
  EXPECT_EQ(states[0].back(), 0.5f);
}

TEST_P(TrainerConformance, BrokenIslandIsAnErrorAndNoHang) {
  if (!JoinsGroups(GetParam())) GTEST_SKIP() << "it joins no group";
  transport::GroupMembers members = transport::MakeMemoryGroup(2, kTimeout);
  const std::unique_ptr<Trainer> trainer = GetParam()();
  members[1]->Abort();
  trainer->JoinGroup(members[0].get()).IgnoreError();
  EXPECT_TRUE(
      absl::IsAborted(trainer->Run(Samples(0, 8, 8), NeverStop).status()));
  ASSERT_TRUE(trainer->JoinGroup(nullptr).ok());
  EXPECT_TRUE(trainer->Run(Samples(0, 8, 8), NeverStop).ok());
}

TEST_P(TrainerConformance, GroupThatItCannotJoinIsRefusedAndChangesNothing) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  if (trainer->description().capabilities.groups) {
    GTEST_SKIP() << "it joins groups";
  }
  transport::GroupMembers members = transport::MakeMemoryGroup(2, kTimeout);
  const std::vector<float> before = StateOf(*trainer);
  EXPECT_TRUE(absl::IsUnimplemented(trainer->JoinGroup(members[0].get())));
  EXPECT_EQ(StateOf(*trainer), before);
  EXPECT_TRUE(trainer->Run(Samples(0, 8, 8), NeverStop).ok());
  EXPECT_TRUE(trainer->JoinGroup(nullptr).ok());
}

TEST_P(TrainerConformance, StopEndsARunBetweenBatches) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  // More steps than a trainer takes that asks only now and then.
  int asked = 0;
  const auto run =
      trainer->Run(Samples(0, 80'000, 8), [&] { return ++asked > 4; });
  EXPECT_TRUE(absl::IsAborted(run.status()));
  EXPECT_TRUE(trainer->Run(Samples(80, 88, 8), NeverStop).ok());
}

TEST_P(TrainerConformance, WrongRequestsAreRefusedAndChangeNothing) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  const std::vector<float> before = StateOf(*trainer);
  const uint64_t count = before.size();
  std::vector<float> state(count, 1.f);
  for (const RunRequest& request :
       {RunRequest{{}, 8}, Samples(5, 5, 8), Samples(9, 5, 8), Samples(0, 8, 0),
        Samples(0, ~uint64_t{0}, 8), Samples(0, 8, ~uint64_t{0})}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(trainer->Run(request, NeverStop).status()));
  }
  for (const ElementRange range :
       {ElementRange{0, count + 1}, ElementRange{5, 5}, ElementRange{6, 5},
        ElementRange{count, ~uint64_t{0}}}) {
    const ElementRange ranges[] = {{0, 1}, range};
    EXPECT_TRUE(absl::IsInvalidArgument(trainer->Load(ranges, {}, state)));
    EXPECT_TRUE(absl::IsInvalidArgument(trainer->Snapshot(ranges, state)));
  }
  EXPECT_EQ(StateOf(*trainer), before);
}

TEST_P(TrainerConformance, InnerStateGoesOnBitForBit) {
  const std::unique_ptr<Trainer> one = GetParam()();
  const std::string path =
      absl::StrCat(::testing::TempDir(), "/inner-", getpid(), "-",
                   one->description().initial_hash);
  PosixInnerFile file(path, [] {});
  const uint64_t layout = one->description().layout_hash;
  if (!one->description().capabilities.saves_inner) {
    EXPECT_TRUE(absl::IsUnimplemented(one->SaveInner({}, file).status()));
    EXPECT_TRUE(absl::IsUnimplemented(one->LoadInner(layout, file).status()));
    GTEST_SKIP() << "it saves no inner state";
  }
  ASSERT_TRUE(one->Run(Samples(0, 48, 8), NeverStop).ok());
  const auto bytes = one->SaveInner({layout, 12}, file);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(file.Read()->size(), *bytes);
  const std::vector<float> middle = StateOf(*one);
  ASSERT_TRUE(one->Run(Samples(48, 88, 8), NeverStop).ok());
  for (const bool loads : {true, false}) {
    const std::unique_ptr<Trainer> other = GetParam()();
    const ElementRange all[] = {All(*other)};
    ASSERT_TRUE(other->Load(all, {}, middle).ok());
    if (loads) {
      const auto loaded = other->LoadInner(layout, file);
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      EXPECT_EQ(loaded->sequence, 12u);
      EXPECT_EQ(loaded->steps, 6u);
    }
    ASSERT_TRUE(other->Run(Samples(48, 88, 8), NeverStop).ok());
    EXPECT_EQ(StateOf(*other) == StateOf(*one), loads);
  }
  EXPECT_EQ(remove(path.c_str()), 0);
}

TEST_P(TrainerConformance, WrongInnerStatesAreRefusedAndChangeNothing) {
  const std::unique_ptr<Trainer> one = GetParam()();
  const std::unique_ptr<Trainer> other = GetParam()();
  if (!one->description().capabilities.saves_inner) {
    GTEST_SKIP() << "it saves no inner state";
  }
  const std::string path =
      absl::StrCat(::testing::TempDir(), "/wrong-inner-", getpid(), "-",
                   one->description().initial_hash);
  PosixInnerFile file(path, [] {});
  const uint64_t layout = one->description().layout_hash;
  const auto refuses = [&](uint64_t hash) {
    return absl::IsInvalidArgument(other->LoadInner(hash, file).status());
  };
  EXPECT_TRUE(refuses(layout));  // there is no file
  ASSERT_TRUE(one->Run(Samples(0, 8, 8), NeverStop).ok());
  ASSERT_TRUE(one->SaveInner({layout, 1}, file).ok());
  EXPECT_TRUE(refuses(layout + 1));
  const auto bytes = file.Read();
  const std::vector<std::byte> whole(bytes->begin(), bytes->end());
  for (const size_t size :
       {size_t{0}, size_t{7}, whole.size() / 2, whole.size() - 1}) {
    PosixInnerFile cut(path, [] {});
    const std::span<const std::byte> piece[] = {std::span(whole).first(size)};
    ASSERT_TRUE(cut.Write(piece).ok());
    EXPECT_TRUE(refuses(layout)) << size;
  }
  EXPECT_EQ(remove(path.c_str()), 0);
  const std::unique_ptr<Trainer> fresh = GetParam()();
  ASSERT_TRUE(other->Run(Samples(0, 8, 8), NeverStop).ok());
  ASSERT_TRUE(fresh->Run(Samples(0, 8, 8), NeverStop).ok());
  EXPECT_EQ(StateOf(*other), StateOf(*fresh));
}

TEST_P(TrainerConformance, GeneratesAsManyBytesAsAsked) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  GenerateRequest request{
      .prompt = "the sea", .tokens = 40, .temperature = 0.8, .seed = 3};
  const auto text = trainer->Generate(request, NeverStop);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->size(), 40u);
  EXPECT_EQ(*trainer->Generate(request, NeverStop), *text);
  request.prompt.clear();
  EXPECT_TRUE(trainer->Generate(request, NeverStop).ok());
}

}  // namespace skerry::trainer
