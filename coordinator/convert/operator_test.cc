#include "coordinator/convert/operator.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(OperatorConvertTest, AJobIsShownWithItsReplicasAndLosses) {
  JobView view;
  view.id = JobId(3);
  view.phase = JobPhase::kSucceeded;
  view.age = absl::Milliseconds(1500);
  view.own_share = 0.5;
  view.late_steps = 3.5;
  view.losses = {{Sequence(1), 8, 3.0, std::nullopt},
                 {Sequence(2), 16, 2.0, 2.5}};
  view.replicas = {
      {ReplicaId(1),
       Life(5),
       "a",
       {{"w", "active", "", Sequence(2), 0, 4, 9, {1, 2}, 0.5, "", {}}},
       true}};
  v1::JobView out;
  out.add_losses();
  JobViewToProto(view, &out);
  EXPECT_EQ(out.id(), 3u);
  EXPECT_EQ(out.phase(), v1::JOB_PHASE_SUCCEEDED);
  EXPECT_EQ(out.age_ms(), 1500u);
  EXPECT_EQ(out.own_share(), 0.5);
  EXPECT_EQ(out.late_steps(), 3.5);
  ASSERT_EQ(out.losses_size(), 2);
  EXPECT_FALSE(out.losses(0).has_validation_loss());
  EXPECT_EQ(out.losses(1).validation_loss(), 2.5);
  EXPECT_EQ(out.replicas(0).seats(0).worker(), "w");
  EXPECT_TRUE(out.replicas(0).suspected());
}

TEST(OperatorConvertTest, TimesAreNeverNegative) {
  WorkerView view;
  view.silence = -absl::Seconds(1);
  v1::WorkerView out;
  WorkerViewToProto(view, &out);
  EXPECT_EQ(out.silence_ms(), 0u);
}

TEST(OperatorConvertTest, AnAuditShowsWhatIsMissing) {
  AuditReport report;
  report.samples_total = 10;
  report.missing = {{8, 10}};
  v1::AuditDataReply out;
  AuditReportToProto(report, &out);
  EXPECT_EQ(out.samples_total(), 10u);
  EXPECT_EQ(out.missing(0).begin(), 8u);
}

TEST(OperatorConvertTest, AStateIsShownWithItsHolders) {
  StateView view;
  view.id = JobId(3);
  view.spec.name = "bible";
  view.sequence = Sequence(8);
  view.samples_committed = 640;
  view.element_count = 5000;
  view.pieces = {{11, {"a", "b"}}, {12, {"b"}}};
  view.directory = {{"a", {"a:1"}}, {"b", {"b:1"}}};
  v1::StateView out;
  out.add_pieces();
  StateViewToProto(view, &out);
  EXPECT_EQ(out.job(), 3u);
  EXPECT_EQ(out.spec().name(), "bible");
  EXPECT_EQ(out.sequence(), 8u);
  EXPECT_EQ(out.samples_committed(), 640u);
  EXPECT_EQ(out.parameters(), 5000u);
  ASSERT_EQ(out.pieces_size(), 2);
  EXPECT_EQ(out.pieces(0).workers(1), "b");
  EXPECT_EQ(out.pieces(0).addresses(1), "b:1");
  ASSERT_EQ(out.directory_size(), 2);
  EXPECT_EQ(out.directory(1).worker(), "b");
  EXPECT_EQ(out.directory(1).endpoints(0), "b:1");
  EXPECT_EQ(out.pieces(1).hash(), 12u);
}

}  // namespace
}  // namespace skerry::coordinator
