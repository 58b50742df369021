#include "worker/core/exchange.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "worker/core/testing/fake_ports.h"

namespace skerry::worker {
namespace {

using compression::CodecId;
using compression::FrameKind;

constexpr uint64_t kElements = 4096;

OwedSpan Owing(uint64_t seed) {
  Random random(seed);
  std::vector<float> start(kElements);
  for (float& v : start) v = static_cast<float>(random.Uniform() - 0.5);
  const std::vector<float> live(kElements);
  return AddRound(NothingOwed(kElements), 2, start, live)->owed;
}

OpenExchange Open(uint32_t members, Hops hops, CodecId codec,
                  std::optional<CodecId> result_codec = {}) {
  OpenExchange open;
  open.sequence = Sequence(4);
  open.attempt = Attempt(40);
  open.hops = hops;
  open.total_weight = 2.0 * members;
  open.owners = {0, members - 1};
  for (uint32_t m = 0; m < members; ++m) {
    const std::string name = absl::StrCat("w", m);
    open.members.push_back({ReplicaId(m + 1),
                            Life(m + 1),
                            {},
                            {{0, 2, {name, name, name}}},
                            codec,
                            result_codec});
  }
  return open;
}

// Members of one attempt, each with two spans.
struct Party {
  const Layout layout{{{0, kElements}, {kElements, 2 * kElements}}};
  std::vector<std::unique_ptr<FakePorts>> ports;
  std::vector<std::unique_ptr<Exchange>> members;
  std::vector<absl::Status> ends;
  std::vector<std::vector<OwedSpan>> owed;

  Party(uint32_t count, Hops hops, CodecId codec,
        std::optional<CodecId> result_codec = {}) {
    const OpenExchange open = Open(count, hops, codec, result_codec);
    ends.resize(count, absl::UnknownError("not ended"));
    for (uint32_t m = 0; m < count; ++m) {
      ports.push_back(std::make_unique<FakePorts>());
      owed.push_back({Owing(2 * m), Owing(2 * m + 1)});
      members.push_back(std::make_unique<Exchange>(
          ExchangePlan{JobId(1), open, m, 0, 2, 2048}, layout, owed.back(),
          *ports.back(), *ports.back(),
          [this, m](Instant, absl::Status status) { ends[m] = status; }));
    }
  }

  Exchange& To(const FakePorts::Sent& frame) {
    return *members[frame.worker[1] - '0'];
  }
  // Delivers all that was sent, each `times`, until nothing is sent any more.
  void Run(int times = 1) {
    for (auto& member : members) member->Start();
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& port : ports) port->Run();
      for (auto& port : ports) {
        for (const FakePorts::Sent& frame : std::exchange(port->sent, {})) {
          moved = true;
          for (int i = 0; i < times; ++i) {
            EXPECT_EQ(To(frame).Offer(frame.header, frame.payload),
                      FrameVerdict::kAccepted);
          }
        }
      }
    }
  }
};

TEST(ExchangeTest, AllMembersEndWithTheSameBytesAndTheRightMean) {
  for (const Hops hops : {Hops::kOne, Hops::kTwo}) {
    for (const CodecId codec : {CodecId::kRawF32, CodecId::kInt8Block}) {
      const uint32_t count = hops == Hops::kOne ? 2 : 3;
      Party party(count, hops, codec);
      party.Run();
      const ExchangeResult& first = party.members[0]->result();
      ASSERT_EQ(first.pieces.size(), 2u);
      for (uint32_t m = 0; m < count; ++m) {
        ASSERT_TRUE(party.ends[m].ok()) << party.ends[m];
        for (size_t i = 0; i < 2; ++i) {
          EXPECT_EQ(party.members[m]->result().pieces[i].hash,
                    first.pieces[i].hash);
        }
      }
      for (size_t span = 0; span < 2; ++span) {
        std::vector<float> mean(kElements);
        ASSERT_TRUE(
            DecodeMean(first.pieces[span].bytes.bytes(), 2.0 * count, mean)
                .ok());
        for (size_t i = 0; i < kElements; ++i) {
          double sum = 0;
          for (const auto& owed : party.owed) sum += (*owed[span].values)[i];
          EXPECT_NEAR(mean[i], sum / (2.0 * count), 0.02);
        }
      }
    }
  }
}

TEST(ExchangeTest, RepeatedPartsChangeNothing) {
  Party once(3, Hops::kTwo, CodecId::kInt8Block);
  once.Run(1);
  Party thrice(3, Hops::kTwo, CodecId::kInt8Block);
  thrice.Run(3);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(once.members[0]->result().pieces[i].hash,
              thrice.members[0]->result().pieces[i].hash);
  }
  EXPECT_GT(thrice.members[0]->parts_repeated(), 0u);
}

// What members no longer owe is what the model received, element by element.
void ExpectBalance(Hops hops, CodecId codec,
                   std::optional<CodecId> result_codec = {}) {
  const uint32_t count = hops == Hops::kOne ? 2 : 3;
  Party party(count, hops, codec, result_codec);
  party.Run();
  for (uint32_t span = 0; span < 2; ++span) {
    std::vector<float> mean(kElements);
    ASSERT_TRUE(
        DecodeMean(party.members[0]->result().pieces[span].bytes.bytes(),
                   2.0 * count, mean)
            .ok());
    std::vector<double> rest(kElements);
    for (uint32_t m = 0; m < count; ++m) {
      const auto sent = party.members[m]->SentOf(span);
      ASSERT_TRUE(sent.has_value());
      const OwedSpan& owed = party.owed[m][span];
      const Settled settled =
          sent->owned ? SettleOwned(owed, *sent->error, 1)
                      : *SettleSent(owed, sent->codec, sent->bytes.bytes(), 1);
      for (size_t i = 0; i < kElements; ++i) {
        rest[i] += (*owed.values)[i] - (*settled.owed.values)[i];
      }
    }
    for (size_t i = 0; i < kElements; ++i) {
      EXPECT_NEAR(rest[i], 2.0 * count * mean[i], 1e-5);
    }
  }
}

TEST(ExchangeTest, WhatIsSentAndWhatIsLeftAddUpToWhatWasOwed) {
  for (const Hops hops : {Hops::kOne, Hops::kTwo}) {
    for (const char* codec :
         {"int8_block", "top_k/8", "chunk_top_k/16", "threshold_top_k/32"}) {
      SCOPED_TRACE(codec);
      ExpectBalance(hops, *compression::ParseCodecName(codec));
    }
  }
}

TEST(ExchangeTest, TheyAddUpWhereResultsHaveACodecOfTheirOwn) {
  for (const Hops hops : {Hops::kOne, Hops::kTwo}) {
    for (const auto& [codec, results] :
         {std::pair("sign1", "nf4"), std::pair("top_k/8", "int8_block"),
          std::pair("nf4", "top_k/16"), std::pair("raw_f32", "sign1")}) {
      SCOPED_TRACE(absl::StrCat(codec, " in, ", results, " out"));
      ExpectBalance(hops, *compression::ParseCodecName(codec),
                    *compression::ParseCodecName(results));
    }
  }
}

// Four bytes a value in, one bit a value out; in one hop there are no results.
TEST(ExchangeTest, ResultsTravelAndAreStoredInTheOwnersResultCodec) {
  for (const Hops hops : {Hops::kOne, Hops::kTwo}) {
    Party party(3, hops, CodecId::kRawF32, CodecId::kSign1);
    for (auto& member : party.members) member->Start();
    std::set<std::pair<FrameKind, CodecId>> seen;
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& port : party.ports) port->Run();
      for (auto& port : party.ports) {
        for (const FakePorts::Sent& frame : std::exchange(port->sent, {})) {
          moved = true;
          seen.emplace(frame.header.kind, frame.header.codec);
          EXPECT_EQ(party.To(frame).Offer(frame.header, frame.payload),
                    FrameVerdict::kAccepted);
        }
      }
    }
    std::set<std::pair<FrameKind, CodecId>> expected = {
        {FrameKind::kContribution, CodecId::kRawF32}};
    if (hops == Hops::kTwo)
      expected.insert({FrameKind::kResult, CodecId::kSign1});
    EXPECT_EQ(seen, expected);
    const size_t stored =
        party.members[1]->result().pieces[0].bytes.bytes().size();
    EXPECT_EQ(stored > kElements * 4, hops == Hops::kOne) << stored;
    for (uint32_t m = 0; m < 3; ++m) {
      ASSERT_TRUE(party.ends[m].ok()) << party.ends[m];
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(party.members[m]->result().pieces[i].hash,
                  party.members[0]->result().pieces[i].hash);
      }
    }
  }
}

// The frames that arrive with another codec than the attempt names for them.
int RefusedAfterSwap(FrameKind kind) {
  Party party(3, Hops::kTwo, CodecId::kInt8Block, CodecId::kNf4);
  for (auto& member : party.members) member->Start();
  int refused = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& port : party.ports) port->Run();
    for (auto& port : party.ports) {
      for (const FakePorts::Sent& frame : std::exchange(port->sent, {})) {
        moved = true;
        auto header = frame.header;
        if (header.kind == kind) {
          header.codec = header.codec == CodecId::kNf4 ? CodecId::kInt8Block
                                                       : CodecId::kNf4;
          const FrameVerdict verdict =
              party.To(frame).Offer(header, frame.payload);
          refused += verdict == FrameVerdict::kRefused ? 1 : 0;
        }
        EXPECT_EQ(party.To(frame).Offer(frame.header, frame.payload),
                  FrameVerdict::kAccepted);
      }
    }
  }
  for (const absl::Status& end : party.ends) EXPECT_TRUE(end.ok()) << end;
  return refused;
}

TEST(ExchangeTest, ResultsInTheCodecOfContributionsAreRefused) {
  // For each of two spans, the owner sends its nf4 result to two other members
  // in two parts. Contributions in int8_block, below, have three parts.
  EXPECT_EQ(RefusedAfterSwap(FrameKind::kResult), 8);
}

TEST(ExchangeTest, ContributionsInTheCodecOfResultsAreRefused) {
  EXPECT_EQ(RefusedAfterSwap(FrameKind::kContribution), 12);
}

TEST(ExchangeTest, OwnersSparsifyWhatTheySendBack) {
  const auto sent_by = [](uint32_t count) {
    Party party(count, Hops::kTwo, *compression::ParseCodecName("top_k/16"));
    party.Run();
    size_t largest = 0;
    for (const ExchangeResult::Piece& piece :
         party.members[0]->result().pieces) {
      std::vector<float> mean(kElements);
      EXPECT_TRUE(DecodeMean(piece.bytes.bytes(), 2.0 * count, mean).ok());
      EXPECT_EQ(std::count_if(mean.begin(), mean.end(),
                              [](float v) { return v != 0.0f; }),
                static_cast<ptrdiff_t>(kElements / 16));
      largest = std::max(largest, piece.bytes.size());
    }
    return largest;
  };
  // However many places the members' terms have together.
  EXPECT_LT(sent_by(4), kElements / 4);
  EXPECT_NEAR(static_cast<double>(sent_by(4)), static_cast<double>(sent_by(2)),
              40);
}

TEST(ExchangeTest, FramesOfStrangersAreRefused) {
  Party party(3, Hops::kTwo, CodecId::kRawF32);
  for (auto& member : party.members) member->Start();
  party.ports[1]->Run();
  ASSERT_FALSE(party.ports[1]->sent.empty());
  const FakePorts::Sent frame = party.ports[1]->sent.front();
  auto header = frame.header;
  header.sender = 9;
  EXPECT_EQ(party.To(frame).Offer(header, frame.payload),
            FrameVerdict::kRefused);
  header = frame.header;
  header.span = 2;
  EXPECT_EQ(party.To(frame).Offer(header, frame.payload),
            FrameVerdict::kRefused);
  header = frame.header;
  header.sequence = 5;
  EXPECT_EQ(party.To(frame).Offer(header, frame.payload),
            FrameVerdict::kRefused);
  header = frame.header;
  header.kind = FrameKind::kResult;
  EXPECT_EQ(party.To(frame).Offer(header, frame.payload),
            FrameVerdict::kRefused);
  EXPECT_EQ(party.To(frame).Offer(frame.header, frame.payload),
            FrameVerdict::kAccepted);
}

TEST(ExchangeTest, UndecodableBytesEndTheAttemptHere) {
  Party party(2, Hops::kTwo, CodecId::kInt8Block);
  for (auto& member : party.members) member->Start();
  party.ports[1]->Run();
  for (FakePorts::Sent& frame : party.ports[1]->sent) {
    const std::vector<std::byte> garbage(frame.payload.size(), std::byte{255});
    EXPECT_EQ(party.To(frame).Offer(frame.header, SharedBytes(garbage)),
              FrameVerdict::kAccepted);
  }
  party.ports[0]->Run();
  EXPECT_TRUE(absl::IsDataLoss(party.ends[0])) << party.ends[0];
  EXPECT_FALSE(party.members[0]->complete());
}

TEST(ExchangeTest, ProgressNamesWhoIsWaitedFor) {
  Party party(3, Hops::kTwo, CodecId::kRawF32);
  const auto before = party.members[0]->Progress();
  ASSERT_EQ(before.size(), 2u);  // contributions to span 0, the mean of span 1
  EXPECT_EQ(before[0].bytes, 0u);
  EXPECT_EQ(before[0].bytes_expected, kElements * 4);
  party.Run();
  for (const protocol::Progress& progress : party.members[0]->Progress()) {
    EXPECT_EQ(progress.bytes, progress.bytes_expected);
  }
}

TEST(ExchangeTest, OpenThatDoesNotFitTheModelIsInvalid) {
  const Layout layout{{{0, kElements}, {kElements, 2 * kElements}}};
  const OpenExchange good = Open(2, Hops::kTwo, CodecId::kRawF32);
  EXPECT_TRUE(ValidateOpen(good, layout, 0, 2).ok());
  OpenExchange bad = good;
  bad.owners.pop_back();
  EXPECT_TRUE(absl::IsInvalidArgument(ValidateOpen(bad, layout, 0, 2)));
  bad = good;
  bad.members[1].holders[0].span_end = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(ValidateOpen(bad, layout, 0, 2)));
  EXPECT_TRUE(ValidateOpen(bad, layout, 0, 1).ok());
  bad = good;
  bad.members[1].result_codec = static_cast<CodecId>(255);
  EXPECT_FALSE(ValidateOpen(bad, layout, 0, 2).ok());
  bad = good;
  bad.total_weight = 1e-60;
  EXPECT_TRUE(absl::IsInvalidArgument(ValidateOpen(bad, layout, 0, 2)));
  EXPECT_TRUE(absl::IsInvalidArgument(ValidateOpen(good, layout, 0, 3)));
}

}  // namespace
}  // namespace skerry::worker
