#include "worker/core/owed_book.h"

#include <limits>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "worker/core/testing/fake_ports.h"

namespace skerry::worker {
namespace {

constexpr uint64_t kElements = 4096;

class OwedBookTest : public ::testing::Test {
 protected:
  OwedBookTest() { book_.Begin(layout_, 0, 1); }

  absl::Status Add(uint64_t round, float moved) {
    auto live = std::make_shared<std::vector<float>>(kElements, -moved);
    absl::Status result = absl::UnknownError("");
    book_.Add({Round(round), Sequence(0), 2, {}, {}},
              {{std::make_shared<const std::vector<float>>(kElements),
                {live, *live},
                {0, kElements}}},
              [&](Instant, absl::Status status) { result = status; });
    ports_.Run();
    return result;
  }

  // An attempt in which nobody else is a member.
  std::unique_ptr<Exchange> Alone() {
    OpenExchange open;
    open.attempt = Attempt(1);
    open.sequence = Sequence(1);
    open.members = {{ReplicaId(1),
                     Life(1),
                     {},
                     {{0, 1, {"w", "w", "w"}}},
                     compression::CodecId::kInt8Block}};
    open.owners = {0};
    open.total_weight = 2;
    return std::make_unique<Exchange>(ExchangePlan{JobId(1), open, 0, 0, 1},
                                      layout_, book_.owed(), ports_, ports_,
                                      [](Instant, absl::Status) {});
  }

  const Layout layout_{{{0, kElements}}};
  FakePorts ports_;
  OwedBook book_{ports_};
};

TEST_F(OwedBookTest, RoundIsPendingUntilItsOutcome) {
  ASSERT_TRUE(Add(1, 0.5f).ok());
  EXPECT_EQ(book_.pending()->round, Round(1));
  EXPECT_EQ(book_.pending()->scalars.delta_squared_norm, 0.25 * kElements);
  EXPECT_EQ((*book_.owed()[0].values)[7], 1.0f);
  const auto exchange = Alone();
  EXPECT_FALSE(book_.Settle(*exchange, 1, [](Instant, absl::Status) {}));
  exchange->Start();
  ports_.Run();
  EXPECT_EQ((*book_.owed()[0].values)[7], 1.0f);
  EXPECT_TRUE(book_.Settle(*exchange, 1, [](Instant, absl::Status) {}));
  ports_.Run();
  EXPECT_FALSE(book_.pending().has_value());
  const Audit audit = book_.GetAudit();
  EXPECT_NEAR(audit.produced, audit.taken + audit.owed, 1e-3);
  EXPECT_NEAR(audit.taken, kElements, 1.0);
}

TEST_F(OwedBookTest, DroppedIsCountedAsLost) {
  ASSERT_TRUE(Add(1, 0.5f).ok());
  book_.Drop();
  EXPECT_FALSE(book_.pending().has_value());
  EXPECT_EQ(book_.owed_norm(), 0.0);
  EXPECT_DOUBLE_EQ(book_.lost_norm(), 64.0);
  EXPECT_EQ(book_.GetAudit().lost, book_.GetAudit().produced);
}

TEST_F(OwedBookTest, EndOfTheLifeMeetsWorkUnderWay) {
  auto live = std::make_shared<std::vector<float>>(kElements, 1.0f);
  absl::Status result;
  book_.Add({Round(1), Sequence(0), 2, {}, {}},
            {{std::make_shared<const std::vector<float>>(kElements),
              {live, *live},
              {0, kElements}}},
            [&](Instant, absl::Status status) { result = status; });
  book_.Abandon();
  book_.Begin(layout_, 0, 1);
  ports_.Run();
  EXPECT_TRUE(absl::IsAborted(result));
  EXPECT_FALSE(book_.pending().has_value());
  EXPECT_EQ(book_.owed_norm(), 0.0);
}

// They have no start, no distance, and keep no error whatever beta is.
TEST(OwedBookAverageTest, ValuesAreOwedUntilTheyAreSettled) {
  const Layout layout{{{0, kElements}, {kElements, 2 * kElements}}, kElements};
  FakePorts ports;
  OwedBook book(ports);
  book.Begin(layout, 0, 2);
  auto live = std::make_shared<std::vector<float>>(2 * kElements, 0.3f);
  const auto start = std::make_shared<const std::vector<float>>(kElements);
  absl::Status added = absl::UnknownError("");
  book.Add({Round(1), Sequence(0), 3, {}, {}},
           {{start, {live, *live}, {0, kElements}},
            {nullptr, {live, *live}, {kElements, 2 * kElements}}},
           [&](Instant, absl::Status status) { added = status; });
  ports.Run();
  ASSERT_TRUE(added.ok()) << added;
  const double squared = 0.3f * 0.3f * static_cast<double>(kElements);
  EXPECT_NEAR(book.pending()->scalars.delta_squared_norm, squared, 1e-3);
  EXPECT_NEAR(book.owed_norm() * book.owed_norm(), 9 * squared, 1e-2);
  EXPECT_EQ((*book.owed()[1].values)[7], -3 * 0.3f);
  OpenExchange open;
  open.attempt = Attempt(1);
  open.sequence = Sequence(1);
  open.members = {{ReplicaId(1),
                   Life(1),
                   {},
                   {{0, 2, {"w", "w", "w"}}},
                   compression::CodecId::kInt8Block}};
  open.owners = {0, 0};
  open.total_weight = 3;
  Exchange exchange({JobId(1), open, 0, 0, 2}, layout, book.owed(), ports,
                    ports, [](Instant, absl::Status) {});
  exchange.Start();
  ports.Run();
  EXPECT_EQ(exchange.SentOf(0)->codec, compression::CodecId::kInt8Block);
  EXPECT_EQ(exchange.SentOf(1)->codec, compression::CodecId::kRawF32);
  EXPECT_NEAR(exchange.result().squared_norm, squared, 0.02 * squared);
  ASSERT_TRUE(book.Settle(exchange, 1, [](Instant, absl::Status) {}));
  ports.Run();
  EXPECT_EQ(*book.owed()[1].values, std::vector<float>(kElements));
  const Audit audit = book.GetAudit();
  EXPECT_NEAR(audit.produced, audit.taken + audit.owed + audit.lost, 1e-2);
}

TEST_F(OwedBookTest, NonFiniteRoundAddsNothing) {
  ASSERT_TRUE(
      absl::IsInvalidArgument(Add(1, std::numeric_limits<float>::quiet_NaN())));
  EXPECT_FALSE(book_.pending().has_value());
  EXPECT_EQ(book_.owed_norm(), 0.0);
  EXPECT_TRUE(Add(2, 1.0f).ok());
}

}  // namespace
}  // namespace skerry::worker
