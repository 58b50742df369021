#include "worker/core/job_settings.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

protocol::JobOrders Good() {
  protocol::JobOrders orders;
  orders.spec.outer.method = job::OuterMethod::kCo2;
  orders.spec.outer.undelayed_fraction = 0.25;
  orders.spec.training.samples = 1000;
  orders.spec.training.batch_samples = 4;
  return orders;
}

TEST(JobSettingsTest, DefaultsAreFilledIn) {
  const auto settings = JobSettingsOf(Good());
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->tau, 12u);
  EXPECT_EQ(settings->spans, 64u);
  EXPECT_EQ(settings->codec, compression::CodecId::kInt8Block);
  EXPECT_EQ(settings->outer.delay_rounds, 1);
  EXPECT_EQ(settings->outer.undelayed_rounds_fraction, 0.25);
  EXPECT_EQ(settings->checkpoint_every, 0u);
  EXPECT_FALSE(settings->from_checkpoint);
}

TEST(JobSettingsTest, AJobThatWentBackBeginsThere) {
  protocol::JobOrders orders = Good();
  orders.spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 20, 3};
  orders.restored.emplace().sequence = Sequence(7);
  const auto again = JobSettingsOf(orders);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->checkpoint_every, 20u);
  EXPECT_FALSE(again->from_checkpoint);
  EXPECT_EQ(again->begins_at, std::vector<Sequence>({Sequence(7)}));
  orders.restored->sha256 = "ab";
  EXPECT_TRUE(JobSettingsOf(orders)->from_checkpoint);
  EXPECT_TRUE(JobSettingsOf(orders)->begins_at.empty());
}

TEST(JobSettingsTest, AnAdaptiveJobIsOneOfInt8AndCarriesErrors) {
  job::JobSpec spec = Good().spec;
  spec.exchange.codec = "adaptive";
  spec.outer.beta.reset();
  const auto settings = JobSettingsOf(spec);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->codec, compression::CodecId::kInt8Block);
  EXPECT_EQ(settings->beta, 1.0);
}

TEST(JobSettingsTest, AWrongFieldIsNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, std::function<void(job::JobSpec&)>>>
      changes = {
          {"samples", [](auto& spec) { spec.training.samples = 0; }},
          {"batch_samples",
           [](auto& spec) { spec.training.batch_samples = 0; }},
          {"beta", [nan](auto& spec) { spec.outer.beta = nan; }},
          {"method",
           [](auto& spec) {
             spec.outer.method = job::OuterMethod::kUnspecified;
           }},
          {"codec", [](auto& spec) { spec.exchange.codec = "zip"; }},
      };
  for (const auto& [field, change] : changes) {
    job::JobSpec spec = Good().spec;
    change(spec);
    const absl::Status refused = JobSettingsOf(spec).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << field;
    EXPECT_NE(std::string(refused.message()).find(field), std::string::npos)
        << field << ": " << refused;
  }
}

}  // namespace
}  // namespace skerry::worker
