#include "worker/core/owed_sums.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/random.h"
#include "compression/codec.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using compression::Codec;

constexpr size_t kSpans = 5;
constexpr size_t kElements = 300;  // of one span: a whole block and a part

using Slice = std::vector<float>;

// What a history may get wrong; each has to break conservation.
enum class Mistake {
  kNone,
  kForgetOwnerError,
  kSubtractWhatWasMeantNotSent,
  kKeepOwedOfEndedLife,
};

// Several virtual replicas, a random history of attempts, and both sides of the
// conservation law in float64.
class History {
 public:
  History(uint64_t seed, size_t replicas, float beta, Mistake mistake)
      : random_(seed), beta_(beta), mistake_(mistake), replicas_(replicas) {
    for (Replica& replica : replicas_) {
      replica.owed.assign(kSpans, Slice(kElements, 0.0f));
    }
  }

  void Run(int sequences) {
    for (int n = 0; n < sequences; ++n) {
      for (Replica& replica : replicas_) {
        if (!replica.pending) FinishRound(replica);
      }
      // Some attempts end without a commit; nothing may change then.
      while (random_.Below(3) == 0) Attempt(/*commits=*/false);
      Attempt(/*commits=*/true);
      for (Replica& replica : replicas_) {
        if (replica.pending && random_.Below(4) == 0) Drop(replica);
        if (random_.Below(20) == 0) EndLife(replica);
      }
    }
  }

  // The largest error of the law, relative to all that was produced there.
  double WorstImbalance() const {
    double worst = 0.0;
    for (size_t j = 0; j < kSpans * kElements; ++j) {
      double owed = 0.0;
      for (const Replica& replica : replicas_) {
        owed += replica.owed[j / kElements][j % kElements];
      }
      const double imbalance = produced_[j] - committed_[j] - owed - lost_[j];
      worst = std::max(worst, std::fabs(imbalance) / produced_size_[j]);
    }
    return worst;
  }

  double LostByElements() const {
    double sum = 0.0;
    for (const double lost : lost_) sum += lost;
    return sum;
  }
  double LostAsReported() const { return reported_.sum; }
  double Committed() const {
    double sum = 0.0;
    for (const double value : committed_) sum += std::fabs(value);
    return sum;
  }

 private:
  struct Replica {
    std::vector<Slice> owed;
    float weight = 0.0f;
    bool pending = false;
  };

  void FinishRound(Replica& replica) {
    const auto samples = static_cast<float>(1 + random_.Below(512));
    for (size_t s = 0; s < kSpans; ++s) {
      Slice start(kElements);
      Slice live(kElements);
      for (size_t i = 0; i < kElements; ++i) {
        start[i] = static_cast<float>(random_.Uniform() - 0.5);
        live[i] = start[i] + static_cast<float>(1e-2 * random_.Uniform());
        const double made = static_cast<double>(samples) * (start[i] - live[i]);
        produced_[s * kElements + i] += made;
        produced_size_[s * kElements + i] += std::fabs(made);
      }
      AccumulateOwed(samples, start, live, replica.owed[s]);
    }
    replica.weight = samples;
    replica.pending = true;
  }

  // A random set of members, random owners and a random codec.
  void Attempt(bool commits) {
    std::vector<Replica*> members;
    float total_weight = 0.0f;
    for (Replica& replica : replicas_) {
      if (!replica.pending || random_.Below(4) == 0) continue;
      members.push_back(&replica);
      total_weight += replica.weight;
    }
    if (members.empty()) return;
    const Codec& codec = *codecs_[random_.Below(codecs_.size())];
    for (size_t s = 0; s < kSpans; ++s) {
      Exchange(members, random_.Below(members.size()), codec, s, total_weight,
               commits);
    }
    if (!commits) return;
    for (Replica* member : members) {
      for (size_t s = 0; s < kSpans; ++s) {
        Discard(beta_, s, member->owed[s]);
      }
      member->pending = false;
    }
  }

  void Exchange(const std::vector<Replica*>& members, size_t owner,
                const Codec& codec, size_t s, float total_weight,
                bool commits) {
    Slice sum(kElements, 0.0f);
    std::vector<Slice> sent(members.size(), Slice(kElements));
    std::vector<std::byte> payload;
    for (size_t m = 0; m < members.size(); ++m) {
      if (m == owner) {
        AddOwed(members[m]->owed[s], sum);
        continue;
      }
      ASSERT_TRUE(codec.Encode(members[m]->owed[s], payload).ok());
      ASSERT_TRUE(codec.DecodeAdd(payload, sum).ok());
      ASSERT_TRUE(codec.Decode(payload, sent[m]).ok());
    }
    Slice mean(kElements);
    Slice result(kElements);
    MeanOfSum(sum, total_weight, mean);
    ASSERT_TRUE(codec.Encode(mean, payload).ok());
    ASSERT_TRUE(codec.Decode(payload, result).ok());
    if (!commits) return;
    for (size_t i = 0; i < kElements; ++i) {
      committed_[s * kElements + i] +=
          static_cast<double>(total_weight) * result[i];
    }
    Slice error(kElements, 0.0f);
    OwnerError(sum, total_weight, result, error);
    if (mistake_ == Mistake::kForgetOwnerError) error.assign(kElements, 0.0f);
    for (size_t m = 0; m < members.size(); ++m) {
      Slice& owed = members[m]->owed[s];
      if (m == owner) {
        SettleOwned(error, owed);
      } else if (mistake_ == Mistake::kSubtractWhatWasMeantNotSent) {
        SettleSent(Slice(owed), owed);
      } else {
        SettleSent(sent[m], owed);
      }
    }
  }

  void Discard(float beta, size_t s, Slice& owed) {
    const Slice before = owed;
    reported_ += beta == 0.0f ? DropOwed(owed) : DecayOwed(beta, owed);
    for (size_t i = 0; i < kElements; ++i) {
      lost_[s * kElements + i] += static_cast<double>(before[i]) - owed[i];
    }
  }

  void Drop(Replica& replica) {
    for (size_t s = 0; s < kSpans; ++s) Discard(0.0f, s, replica.owed[s]);
    replica.pending = false;
  }

  void EndLife(Replica& replica) {
    const std::vector<Slice> before = replica.owed;
    Drop(replica);
    // What PROTOCOL 10 forbids: a new life that still owes the old one's mass.
    if (mistake_ == Mistake::kKeepOwedOfEndedLife) replica.owed = before;
  }

  // Every dense codec, every sparse one, and a sparse one over quantised
  // values.
  static std::vector<const Codec*> AllCodecs() {
    std::vector<const Codec*> all;
    for (int number = 0; number < 256; ++number) {
      const auto codec =
          compression::FindCodec(static_cast<compression::CodecId>(number));
      if (codec.ok()) all.push_back(*codec);
    }
    return all;
  }

  const std::vector<const Codec*> codecs_ = AllCodecs();
  Random random_;
  const float beta_;
  const Mistake mistake_;
  std::vector<Replica> replicas_;
  std::vector<double> produced_ = std::vector<double>(kSpans * kElements);
  std::vector<double> produced_size_ = std::vector<double>(kSpans * kElements);
  std::vector<double> committed_ = std::vector<double>(kSpans * kElements);
  std::vector<double> lost_ = std::vector<double>(kSpans * kElements);
  LostMass reported_;
};

TEST(OwedPropertyTest, WhatIsProducedIsDecodedOwedOrLost) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    for (const float beta : {1.0f, 0.9f, 0.0f}) {
      History history(seed, 2 + seed % 4, beta, Mistake::kNone);
      history.Run(40);
      EXPECT_LT(history.WorstImbalance(), 1e-6);
      EXPECT_NEAR(history.LostAsReported(), history.LostByElements(),
                  1e-9 * std::fabs(history.LostByElements()) + 1e-9);
      EXPECT_GT(history.Committed(), 0.0);
    }
  }
}

TEST(OwedPropertyTest, TheSameSeedGivesTheSameHistory) {
  History a(3, 4, 0.9f, Mistake::kNone);
  History b(3, 4, 0.9f, Mistake::kNone);
  a.Run(20);
  b.Run(20);
  EXPECT_EQ(a.WorstImbalance(), b.WorstImbalance());
  EXPECT_EQ(a.Committed(), b.Committed());
}

TEST(OwedPropertyTest, EveryPlantedMistakeBreaksTheLaw) {
  for (const Mistake mistake :
       {Mistake::kForgetOwnerError, Mistake::kSubtractWhatWasMeantNotSent,
        Mistake::kKeepOwedOfEndedLife}) {
    History history(5, 4, 1.0f, mistake);
    history.Run(40);
    EXPECT_GT(history.WorstImbalance(), 1e-5) << static_cast<int>(mistake);
  }
}

TEST(OwedTest, DecayReturnsWhatItDiscards) {
  Slice owed = {4.0f, -2.0f};
  const LostMass lost = DecayOwed(0.75f, owed);
  EXPECT_EQ(owed, (Slice{3.0f, -1.5f}));
  EXPECT_EQ(lost.sum, 0.5);
  EXPECT_EQ(lost.squared_norm, 1.25);
  EXPECT_EQ(DecayOwed(1.0f, owed).squared_norm, 0.0);
  EXPECT_EQ(DropOwed(owed).sum, 1.5);
  EXPECT_EQ(owed, (Slice{0.0f, 0.0f}));
}

}  // namespace
}  // namespace skerry::worker
