// adaptive under a cap on the error, against each codec of the menu for all
// members, on links and machines that have nothing in common.
// Bytes and errors are those of the encoders on a recorded pseudo-gradient, and
// exchanges are simulated without the planner's model of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "compression/codec.h"
#include "coordinator/core/testing/fluid_exchange.h"
#include "gtest/gtest.h"
#include "planner/codec_choice.h"
#include "planner/codec_menu.h"

namespace skerry::coordinator {
namespace {

using testing::Cluster;
using testing::FluidExchange;
using testing::Machine;
using testing::Results;

// The recording: 16 pieces of 4096 values, from all parts of a model.
constexpr size_t kPieces = 16;
constexpr size_t kPiece = 4096;
constexpr size_t kRecorded = kPieces * kPiece;
constexpr const char* kRecording = "compression/testing/pseudo_gradient.f32";
// Elements of the exchanged model for each value of the recording.
constexpr double kScale = 1024;

constexpr uint64_t kSeed = 20;
constexpr int kClusters = 1000;
// Caps on the error. They admit one codec, the codecs that round, those of one
// bit as well, and the whole menu.
constexpr std::array<double, 4> kCaps = {0.01, 0.1, 0.7, 1.0};
// Equals the constant of coordinator/core/rules/codec_plan.cc.
constexpr double kShareBehindRound = 0.8;

using Codecs = std::vector<uint32_t>;  // by member: index in the menu

double Squares(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

// Member m owns the pieces [BeginOf(m), BeginOf(m + 1)).
size_t BeginOf(size_t member, size_t count) { return member * kPieces / count; }
size_t OwnedPieces(size_t member, size_t count) {
  return BeginOf(member + 1, count) - BeginOf(member, count);
}

double OwnedElements(size_t member, size_t count) {
  return kScale * kPiece * static_cast<double>(OwnedPieces(member, count));
}

// What the menu's codecs do to the recording.
class Recording {
 public:
  Recording() : values_(kRecorded) {
    std::ifstream in(kRecording, std::ios::binary);
    in.read(reinterpret_cast<char*>(values_.data()),
            static_cast<std::streamsize>(kRecorded * sizeof(float)));
    EXPECT_TRUE(in.good()) << kRecording;
    for (uint32_t codec = 0; codec < planner::CodecMenu().size(); ++codec) {
      std::vector<float> error;
      bytes_.push_back(static_cast<double>(Send(codec, values_, error)) /
                       static_cast<double>(kRecorded));
      for (size_t i = 0; i < kRecorded; ++i) error[i] -= values_[i];
      errors_.push_back(std::sqrt(Squares(error) / Squares(values_)));
    }
  }

  // Bytes a value, by codec.
  const std::vector<double>& bytes() const { return bytes_; }
  // Returns the relative root mean square error of one encoding.
  double Error(uint32_t codec) const { return errors_[codec]; }

  // Returns the relative root mean square error of the mean that all members
  // decode at the end of a two-hop exchange. Each member contributes the pieces
  // in another order.
  double ErrorOfMean(const Codecs& codecs) {
    const auto [it, is_new] = of_means_.try_emplace(codecs, 0.0);
    if (!is_new) return it->second;
    const size_t count = codecs.size();
    double squares = 0.0;
    double squared_error = 0.0;
    std::vector<float> arrived;
    for (size_t owner = 0; owner < count; ++owner) {
      std::vector<float> exact(OwnedPieces(owner, count) * kPiece);
      std::vector<float> mean(exact.size());
      for (size_t m = 0; m < count; ++m) {
        const std::vector<float> mine = Contribution(m, owner, count);
        arrived = mine;
        if (m != owner) Send(codecs[m], mine, arrived);
        for (size_t i = 0; i < mine.size(); ++i) {
          exact[i] += mine[i] / static_cast<float>(count);
          mean[i] += arrived[i] / static_cast<float>(count);
        }
      }
      Send(codecs[owner], mean, arrived);
      squares += Squares(exact);
      for (size_t i = 0; i < exact.size(); ++i) arrived[i] -= exact[i];
      squared_error += Squares(arrived);
    }
    return it->second = std::sqrt(squared_error / squares);
  }

 private:
  // What arrives of `values`; how many bytes that took.
  static size_t Send(uint32_t codec, std::span<const float> values,
                     std::vector<float>& arrived) {
    const auto id =
        compression::ParseCodecName(planner::CodecMenu()[codec].name);
    const compression::Codec& used = **compression::FindCodec(*id);
    std::vector<std::byte> payload;
    EXPECT_TRUE(used.Encode(values, payload).ok());
    arrived.resize(values.size());
    EXPECT_TRUE(used.Decode(payload, arrived).ok());
    return payload.size();
  }

  std::vector<float> Contribution(size_t member, size_t owner,
                                  size_t count) const {
    std::vector<float> values;
    for (size_t piece = BeginOf(owner, count);
         piece < BeginOf(owner + 1, count); ++piece) {
      const float* from =
          values_.data() + (piece + 5 * member) % kPieces * kPiece;
      values.insert(values.end(), from, from + kPiece);
    }
    return values;
  }

  std::vector<float> values_;
  std::vector<double> bytes_;
  std::vector<double> errors_;
  std::map<Codecs, double> of_means_;
};

// Evenly in its logarithm.
double Between(double low, double high, Random& random) {
  return low * std::pow(high / low, random.Uniform());
}

Cluster RandomCluster(Random& random) {
  Cluster cluster(2 + random.Below(4));
  for (size_t m = 0; m < cluster.size(); ++m) {
    Machine& machine = cluster[m];
    machine.owned = OwnedElements(m, cluster.size());
    machine.up = Between(1e6, 1e9, random);
    machine.down = Between(1e6, 1e9, random);
    const double speed = Between(0.05, 1, random);
    for (const planner::CodecOption& option : planner::CodecMenu()) {
      machine.encode.push_back(option.cost.encode_elements_per_s * speed *
                               Between(0.3, 2, random));
      machine.decode.push_back(option.cost.decode_elements_per_s * speed *
                               Between(0.3, 2, random));
    }
    machine.one_way.resize(cluster.size());
  }
  for (size_t i = 0; i < cluster.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      cluster[i].one_way[j] = cluster[j].one_way[i] =
          Between(0.0002, 0.15, random);
    }
  }
  return cluster;
}

// What a coordinator is told of it.
planner::CodecProblem ProblemOf(const Cluster& cluster, double error_max) {
  planner::CodecProblem problem;
  problem.options = planner::CodecMenu();
  problem.handling = {.beta = 1.0, .momentum = 0.0, .error_max = error_max};
  for (size_t m = 0; m < cluster.size(); ++m) {
    const Machine& machine = cluster[m];
    planner::ExchangeMember member;
    member.replica = ReplicaId(m + 1);
    member.link.up_bytes_per_s = machine.up;
    member.link.down_bytes_per_s = machine.down;
    member.link.round_trip = absl::Seconds(
        2 * *std::max_element(machine.one_way.begin(), machine.one_way.end()));
    member.owned_elements = static_cast<uint64_t>(machine.owned);
    for (uint32_t c = 0; c < planner::CodecMenu().size(); ++c) {
      const planner::CodecCost& cost = planner::CodecMenu()[c].cost;
      member.codec_speeds.push_back(
          {machine.encode[c] / cost.encode_elements_per_s,
           machine.decode[c] / cost.decode_elements_per_s});
    }
    problem.shape.elements += member.owned_elements;
    problem.shape.members.push_back(member);
  }
  return problem;
}

// One codec for all whose error is at most `error_max`, with what it takes.
struct Fixed {
  Codecs codecs;
  double seconds = 0.0;
};

std::vector<Fixed> FixedUnder(double error_max, const Cluster& cluster,
                              const Recording& recording, Results results) {
  std::vector<Fixed> all;
  for (uint32_t codec = 0; codec < planner::CodecMenu().size(); ++codec) {
    if (recording.Error(codec) > error_max) continue;
    Fixed one{Codecs(cluster.size(), codec)};
    one.seconds = FluidExchange(cluster, recording.bytes(), one.codecs, results)
                      .Seconds();
    all.push_back(one);
  }
  return all;
}

double QuickestOf(const std::vector<Fixed>& all) {
  double quickest = std::numeric_limits<double>::infinity();
  for (const Fixed& one : all) quickest = std::min(quickest, one.seconds);
  return quickest;
}

// What a planner is told.
enum class Told { kAll, kNotWhichLinks, kNotWhichMachines };

planner::CodecChoice Choose(planner::CodecProblem problem, Told told) {
  auto& members = problem.shape.members;
  double logarithms = 0.0;
  for (const planner::ExchangeMember& member : members) {
    logarithms += std::log(member.link.up_bytes_per_s) +
                  std::log(member.link.down_bytes_per_s);
  }
  const double mean =
      std::exp(logarithms / 2 / static_cast<double>(members.size()));
  for (planner::ExchangeMember& member : members) {
    if (told == Told::kNotWhichLinks) {
      member.link.up_bytes_per_s = member.link.down_bytes_per_s = mean;
    }
    if (told == Told::kNotWhichMachines) member.codec_speeds.clear();
  }
  const auto choice = planner::ChooseCodecs(problem);
  EXPECT_TRUE(choice.ok()) << choice.status();
  return *choice;
}

// In ascending order.
struct Ratios {
  std::vector<double> all;

  double AtShare(double share) const {
    return all[static_cast<size_t>(share *
                                   static_cast<double>(all.size() - 1))];
  }
  double ShareAbove(double ratio) const {
    return static_cast<double>(
               all.end() - std::upper_bound(all.begin(), all.end(), ratio)) /
           static_cast<double>(all.size());
  }
  std::string Summary() const {
    return absl::StrFormat(
        "median %.3f, 95 in 100 below %.3f, worst %.3f, %.1f %% above 1.1",
        AtShare(0.5), AtShare(0.95), all.back(), 100 * ShareAbove(1.1));
  }
  friend bool operator==(const Ratios&, const Ratios&) = default;
};

// With no time to hide in: what is chosen over the quickest fixed codec, in
// simulated time, in each of kClusters clusters.
Ratios TimesOverTheBest(double error_max, Told told, const Recording& recording,
                        Results results = Results::kWhenReady) {
  Random random(kSeed);
  Ratios ratios;
  for (int draw = 0; draw < kClusters; ++draw) {
    const Cluster cluster = RandomCluster(random);
    const auto choice = Choose(ProblemOf(cluster, error_max), told);
    for (const uint32_t codec : choice.codec) {
      EXPECT_LE(recording.Error(codec), error_max);
    }
    ratios.all.push_back(
        FluidExchange(cluster, recording.bytes(), choice.codec, results)
            .Seconds() /
        QuickestOf(FixedUnder(error_max, cluster, recording, results)));
  }
  std::sort(ratios.all.begin(), ratios.all.end());
  return ratios;
}

Cluster Alike(size_t count, double bytes_per_s, double elements_per_s) {
  Machine machine{bytes_per_s, bytes_per_s};
  machine.owned = kScale * kRecorded / static_cast<double>(count);
  machine.encode.assign(planner::CodecMenu().size(), elements_per_s);
  machine.decode = machine.encode;
  machine.one_way.assign(count, 0.0);
  return Cluster(count, machine);
}

TEST(CodecCapTest, TheSimulationCountsBytesDelaysAndTurns) {
  const Recording recording;
  constexpr double kElements = kScale * kRecorded;
  // Two members in step: each sends a half, and once more.
  Cluster two = Alike(2, 1e7, 1e8);
  two[0].one_way[1] = two[1].one_way[0] = 0.25;
  EXPECT_NEAR(
      FluidExchange(two, recording.bytes(), {0, 0}).Seconds(),
      2 * (kElements / 2 * (recording.bytes()[0] / 1e7 + 2 / 1e8) + 0.25),
      1e-9);
  // Three others send all that one slow way in takes: contributions to its
  // elements and then the results of theirs.
  Cluster four = Alike(4, 1e15, 1e15);
  four[0].down = 1e6;
  EXPECT_NEAR(FluidExchange(four, recording.bytes(), {1, 1, 1, 1}).Seconds(),
              6 * kElements / 4 * recording.bytes()[1] / 1e6, 1e-3);
  // A decoder takes one after the other.
  Cluster slow = Alike(4, 1e15, 1e15);
  slow[0].decode[0] = 1e6;
  EXPECT_NEAR(FluidExchange(slow, recording.bytes(), {0, 0, 0, 0}).Seconds(),
              6 * kElements / 4 / 1e6, 1e-3);
  // Results to one whose way in is slow go behind contributions to it, or its
  // own result would come later to the one that takes long to decode it.
  Cluster queue = Alike(4, 1e15, 1e15);
  queue[0].down = 1e6;
  const double in = 3 * kElements / 4 * recording.bytes()[0] / 1e6;
  queue[1].decode[1] = kElements / 4 / (1.5 * in);
  EXPECT_NEAR(FluidExchange(queue, recording.bytes(), {1, 0, 0, 0}).Seconds(),
              2 * 1.5 * in, 1e-3);
}

TEST(CodecCapTest, ATenthMoreThanTheBestFixedCodecAtMostInMostClusters) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Recording recording;
  for (const double error_max : kCaps) {
    SCOPED_TRACE(::testing::Message() << "error_max " << error_max);
    const Ratios ratios = TimesOverTheBest(error_max, Told::kAll, recording);
    EXPECT_EQ(ratios, TimesOverTheBest(error_max, Told::kAll, recording));
    std::printf("error_max %.2f: %s\n", error_max, ratios.Summary().c_str());
    EXPECT_LE(ratios.ShareAbove(1.1), error_max < 1.0 ? 0.05 : 0.20);
    EXPECT_LE(ratios.ShareAbove(1.5), 0.005);
    // What is left is the planner's: it counts results from when all owners
    // are ready, and uses time that there is not.
    const Ratios together =
        TimesOverTheBest(error_max, Told::kAll, recording, Results::kTogether);
    std::printf("results sent together: %s\n", together.Summary().c_str());
    EXPECT_LE(together.ShareAbove(1.1), error_max < 1.0 ? 0.01 : 0.06);
  }
}

TEST(CodecCapTest, WhoTakesLinksOrMachinesForAlikeChoosesWorse) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Recording recording;
  for (const double error_max : kCaps) {
    SCOPED_TRACE(::testing::Message() << "error_max " << error_max);
    const Ratios ratios = TimesOverTheBest(error_max, Told::kAll, recording);
    const Ratios links =
        TimesOverTheBest(error_max, Told::kNotWhichLinks, recording);
    const Ratios machines =
        TimesOverTheBest(error_max, Told::kNotWhichMachines, recording);
    std::printf("error_max %.2f: links %s; machines %s\n", error_max,
                links.Summary().c_str(), machines.Summary().c_str());
    if (error_max == kCaps.front()) continue;  // there is one codec to choose
    EXPECT_GT(links.ShareAbove(1.1), ratios.ShareAbove(1.1));
    EXPECT_GT(links.ShareAbove(1.5), 0.01);
    if (error_max < 1.0) continue;
    EXPECT_GT(machines.ShareAbove(1.1), 1.3 * ratios.ShareAbove(1.1));
    EXPECT_GT(machines.all.back(), 1.5);
  }
}

// Ratios from one round of each of kClusters clusters.
struct Behind {
  Ratios seconds;  // of exchanges that the planner hides, over the round
  Ratios errors;   // over the least of fixed codecs that hide
  friend bool operator==(const Behind&, const Behind&) = default;
};

// A planner may spend kShareBehindRound of a round that is drawn between the
// quickest fixed codec's time and more than the slowest's; a fixed codec hides
// if it takes that share of the round at most.
Behind BehindRounds(double error_max, Told told, Recording& recording) {
  Random random(kSeed);
  Behind behind;
  for (int draw = 0; draw < kClusters; ++draw) {
    const Cluster cluster = RandomCluster(random);
    const std::vector<Fixed> all =
        FixedUnder(error_max, cluster, recording, Results::kWhenReady);
    double slowest = 0.0;
    for (const Fixed& one : all) slowest = std::max(slowest, one.seconds);
    const double budget = Between(QuickestOf(all), 1.2 * slowest, random);
    planner::CodecProblem problem = ProblemOf(cluster, error_max);
    problem.budget = absl::Seconds(budget);
    const auto choice = Choose(problem, told);
    double least = std::numeric_limits<double>::infinity();
    for (const Fixed& one : all) {
      if (one.seconds > budget) continue;
      least = std::min(least, recording.ErrorOfMean(one.codecs));
    }
    behind.errors.all.push_back(recording.ErrorOfMean(choice.codec) / least);
    if (!choice.hides) continue;
    behind.seconds.all.push_back(
        FluidExchange(cluster, recording.bytes(), choice.codec).Seconds() /
        (budget / kShareBehindRound));
  }
  std::sort(behind.seconds.all.begin(), behind.seconds.all.end());
  std::sort(behind.errors.all.begin(), behind.errors.all.end());
  return behind;
}

TEST(CodecCapTest, HidesAndErrsAsTheBestFixedCodecAtMostInNineOfTenClusters) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Recording recording;
  for (const double error_max : kCaps) {
    SCOPED_TRACE(::testing::Message() << "error_max " << error_max);
    const Behind behind = BehindRounds(error_max, Told::kAll, recording);
    EXPECT_EQ(behind, BehindRounds(error_max, Told::kAll, recording));
    std::printf("error_max %.2f: error %s, %.1f %% above 1.01; time %s\n",
                error_max, behind.errors.Summary().c_str(),
                100 * behind.errors.ShareAbove(1.01),
                behind.seconds.Summary().c_str());
    EXPECT_LE(behind.errors.ShareAbove(1.01), 0.10);
    EXPECT_LE(behind.seconds.all.back(), 1.0);
    if (error_max == kCaps.front()) continue;  // there is one codec to choose
    EXPECT_LE(behind.errors.AtShare(0.5), 0.96);
    const Behind blind =
        BehindRounds(error_max, Told::kNotWhichLinks, recording);
    EXPECT_GT(blind.seconds.all.back(), 1.5);
    EXPECT_GT(blind.seconds.ShareAbove(1.0), 0.02);
  }
}

}  // namespace
}  // namespace skerry::coordinator
