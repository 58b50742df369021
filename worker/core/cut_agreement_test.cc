#include "worker/core/cut_agreement.h"

#include <optional>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

const Life kLife(5);

// Declared before the agreement, whose end still answers who waits.
struct Asked {
  std::optional<absl::StatusOr<CutReply>> answer;
  CutAgreement::Answer Take() {
    return [this](absl::StatusOr<CutReply> reply) { answer = reply; };
  }
};

CutRequest By(uint32_t rank, uint64_t stored, uint64_t round = 1) {
  return {kLife, rank, Round(round), {Sequence(stored)}};
}

TEST(CutAgreementTest, CutIsTheNewestThatAllHaveAndAllHearTheSame) {
  Asked first, second;
  CutAgreement agreement;
  agreement.Begin(kLife, 2);
  agreement.Ask(By(0, 7), first.Take());
  EXPECT_FALSE(agreement.Agreed().has_value());
  agreement.Ask(By(1, 5), second.Take());
  EXPECT_EQ(agreement.Agreed()->front(), Sequence(5));
  EXPECT_FALSE(first.answer.has_value());
  const CutReply reply{Epoch(2), {{0, Sequence(5)}}, {}};
  agreement.Decide(reply);
  EXPECT_EQ(first.answer->value(), reply);
  EXPECT_EQ(second.answer->value(), reply);
}

TEST(CutAgreementTest, ARankOfAnEarlierReleaseDoesNotStop) {
  Asked first, second, again;
  CutAgreement agreement;
  agreement.Begin(kLife, 2);
  CutRequest stops = By(0, 7);
  stops.stops = true;
  agreement.Ask(stops, first.Take());
  EXPECT_FALSE(agreement.AllStop());
  agreement.Ask(By(1, 5), second.Take());
  EXPECT_FALSE(agreement.AllStop());
  stops.rank = 1;
  agreement.Ask(stops, again.Take());
  EXPECT_TRUE(agreement.AllStop());
}

TEST(CutAgreementTest, LostAnswerIsGivenAgain) {
  Asked first, again;
  CutAgreement agreement;
  agreement.Begin(kLife, 1);
  agreement.Ask(By(0, 3), first.Take());
  agreement.Decide({Epoch(1), {{0, Sequence(3)}}, {}});
  agreement.Ask(By(0, 4), again.Take());
  EXPECT_EQ(again.answer->value(), first.answer->value());
}

TEST(CutAgreementTest, NewerRequestOfARankReplacesTheOlder) {
  Asked older, newer, other;
  CutAgreement agreement;
  agreement.Begin(kLife, 2);
  agreement.Ask(By(1, 3), older.Take());
  agreement.Ask(By(1, 4), newer.Take());
  EXPECT_TRUE(absl::IsUnavailable(older.answer->status()));
  agreement.Ask(By(0, 9), other.Take());
  EXPECT_EQ(agreement.Agreed()->front(), Sequence(4));
}

TEST(CutAgreementTest, OtherLivesRoundsAndRanksAreTurnedAway) {
  Asked old_life, new_life, ahead, stranger, past;
  CutAgreement agreement;
  agreement.Begin(kLife, 1);
  agreement.Ask({Life(4), 0, Round(1), {}}, old_life.Take());
  agreement.Ask({Life(6), 0, Round(1), {}}, new_life.Take());
  agreement.Ask(By(0, 1, 2), ahead.Take());
  agreement.Ask(By(3, 1), stranger.Take());
  EXPECT_TRUE(absl::IsAborted(old_life.answer->status()));
  EXPECT_TRUE(absl::IsUnavailable(new_life.answer->status()));
  EXPECT_TRUE(absl::IsUnavailable(ahead.answer->status()));
  EXPECT_TRUE(absl::IsInvalidArgument(stranger.answer->status()));
  for (uint64_t round = 1; round <= 2; ++round) {
    agreement.Ask(By(0, 1, round), [](absl::StatusOr<CutReply>) {});
    agreement.Decide({});
  }
  agreement.Ask(By(0, 1, 1), past.Take());
  EXPECT_TRUE(absl::IsAborted(past.answer->status()));
}

TEST(CutAgreementTest, EndOfTheLifeAnswersWhoWaits) {
  Asked waiting;
  {
    CutAgreement agreement;
    agreement.Begin(kLife, 2);
    agreement.Ask(By(0, 1), waiting.Take());
  }
  EXPECT_TRUE(absl::IsAborted(waiting.answer->status()));
}

TEST(CutAgreementTest, TheCutIsOfEachFragment) {
  Asked first, second, odd;
  CutAgreement agreement;
  agreement.Begin(kLife, 2);
  agreement.Ask({kLife, 0, Round(1), {Sequence(7), Sequence(2)}}, first.Take());
  agreement.Ask({kLife, 1, Round(1), {Sequence(7)}}, odd.Take());
  EXPECT_TRUE(absl::IsInvalidArgument(odd.answer->status()));
  agreement.Ask({kLife, 1, Round(1), {Sequence(5), Sequence(3)}},
                second.Take());
  EXPECT_EQ(*agreement.Agreed(),
            (std::vector<Sequence>{Sequence(5), Sequence(2)}));
  agreement.Decide({Epoch(2), {{0, Sequence(5)}}, {}, 1});
  EXPECT_EQ(second.answer->value().turn, 1u);
}

}  // namespace
}  // namespace skerry::worker
