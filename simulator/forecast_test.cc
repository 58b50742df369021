#include "simulator/forecast.h"

#include <string>

#include "base/check.h"
#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"

namespace skerry::sim {
namespace {

constexpr uint64_t kElements = 200'000;
// In bf16.
constexpr double kModelBytes = 2.0 * kElements;
constexpr uint32_t kTau = 10;
constexpr uint32_t kBatch = 4;
// No evaluation but the last, which is behind the last commit.
constexpr uint32_t kNever = 1'000'000;
// No deadline ends an exchange within such a lease.
constexpr absl::Duration kLong = absl::Minutes(10);

job::JobSpec Spec(uint64_t rounds, uint32_t workers, job::OuterMethod method,
                  const std::string& codec = "bf16") {
  job::JobSpec spec;
  spec.name = "job";
  spec.model.config_json = job::kTinyConfig;
  spec.data.path = "/data";
  spec.data.manifest_sha256 = std::string(64, 'a');
  spec.training.samples = rounds * workers * kTau * kBatch;
  spec.training.batch_samples = kBatch;
  spec.training.tau = kTau;
  spec.training.evaluate_every = kNever;
  spec.outer.method = method;
  spec.exchange.codec = codec;
  spec.placement.workers_min = workers;
  const auto reviewed = job::ReviewJobSpec(spec);
  SKERRY_CHECK(reviewed.ok());
  return reviewed->spec;
}

constexpr auto kSync = job::OuterMethod::kLocalSgd;
constexpr auto kOverlapped = job::OuterMethod::kCo2;

// Islands of one worker each.
ForecastProblem Problem(uint32_t islands, absl::Duration compute,
                        const job::JobSpec& spec) {
  ForecastProblem problem;
  problem.spec = spec;
  problem.elements = kElements;
  problem.cluster.host_ns_per_element = 0;
  problem.seed = 1;
  for (uint32_t i = 0; i < islands; ++i) {
    IslandShape island;
    island.name = std::string(1, static_cast<char>('a' + i));
    island.compute = compute;
    problem.cluster.islands.push_back(island);
  }
  return problem;
}

Forecast Make(const ForecastProblem& problem) {
  const auto forecast = MakeForecast(problem);
  SKERRY_CHECK(forecast.ok());
  return *forecast;
}

double Sent(const Forecast& forecast) {
  double all = 0;
  for (const double bytes : forecast.bytes_sent) all += bytes;
  return all;
}

TEST(ForecastTest, OneWorkerIsAsQuickAsItsTrainer) {
  const Forecast forecast =
      Make(Problem(1, absl::Milliseconds(20), Spec(30, 1, kSync)));
  EXPECT_NEAR(forecast.samples_per_s, 50, 1);
  EXPECT_EQ(forecast.commits, 30);
  EXPECT_EQ(forecast.lives, 1);
  EXPECT_EQ(Sent(forecast), 0);
}

TEST(ForecastTest, WithoutOverlapARoundIsComputeAndExchange) {
  ForecastProblem problem =
      Problem(2, absl::Milliseconds(25), Spec(20, 2, kSync));
  for (IslandShape& island : problem.cluster.islands) {
    island.down_bytes_per_s = kModelBytes;
    island.round_trip = absl::Milliseconds(50);
  }
  // 1 s of training, 1 s of exchange both ways at once, a delay there and one
  // back for whom it tells.
  const Forecast forecast = Make(problem);
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.measured) / 19, 1 + 1 + 0.05,
              0.06);
  EXPECT_NEAR(forecast.stall_share, 0.51, 0.03);
}

TEST(ForecastTest, ALinkThatIsSlowEnoughSetsTheTime) {
  ForecastProblem problem =
      Problem(2, absl::Microseconds(10), Spec(10, 2, kSync));
  problem.cluster.lease = kLong;
  problem.cluster.islands[0].up_bytes_per_s = kModelBytes / 100;
  EXPECT_NEAR(absl::ToDoubleSeconds(Make(problem).measured) / 9, 100, 3);
  problem.cluster.islands[0].up_bytes_per_s = 0;
  problem.cluster.links[{0, 1}].bytes_per_s = kModelBytes / 50;
  EXPECT_NEAR(absl::ToDoubleSeconds(Make(problem).measured) / 9, 50, 2);
}

TEST(ForecastTest, AnExchangeThatIsLongerThanALeaseKeepsItsMembers) {
  for (const job::OuterMethod method : {kSync, kOverlapped}) {
    // 20 s of training, 15 s of exchange.
    ForecastProblem problem =
        Problem(2, absl::Milliseconds(500), Spec(20, 2, method));
    problem.cluster.lease = absl::Seconds(3);
    problem.cluster.islands[0].down_bytes_per_s = kModelBytes / 15;
    EXPECT_GT(Make(problem).members_mean, 1.85);
  }
}

TEST(ForecastTest, AReplicaThatIsALittleSlowerTakesPartInEveryExchange) {
  for (const job::OuterMethod method : {kSync, kOverlapped}) {
    // Rounds of 40 and 48 s.
    ForecastProblem problem = Problem(3, absl::Seconds(1), Spec(20, 3, method));
    problem.cluster.lease = absl::Seconds(3);
    problem.cluster.islands[2].compute = absl::Seconds(1.2);
    EXPECT_GT(Make(problem).members_mean, 2.7);
  }
}

TEST(ForecastTest, AnExchangeThatIsLongerThanManyRoundsLeavesMembersOut) {
  ForecastProblem problem =
      Problem(2, absl::Milliseconds(10), Spec(20, 2, kOverlapped));
  problem.cluster.lease = absl::Seconds(3);
  problem.cluster.islands[0].down_bytes_per_s = kModelBytes / 30;
  EXPECT_LT(Make(problem).members_mean, 1.5);
  problem.cluster.lease = kLong;
  // But for samples that are left at the end.
  EXPECT_GT(Make(problem).members_mean, 1.85);
}

TEST(ForecastTest, AnExchangeThatIsShorterThanARoundCostsNothing) {
  ForecastProblem problem =
      Problem(2, absl::Milliseconds(50), Spec(40, 2, kOverlapped));
  // 2 s of training, 1 s of exchange.
  for (IslandShape& island : problem.cluster.islands) {
    island.down_bytes_per_s = kModelBytes;
  }
  // A tenth of the rounds waits for its own result.
  EXPECT_NEAR(Make(problem).samples_per_s, 40 / (1 + 0.1 * 0.5), 1);
}

TEST(ForecastTest, BytesAreThoseOfTheRealModel) {
  for (const uint64_t elements : {kElements, uint64_t{124'439'808}}) {
    ForecastProblem problem =
        Problem(2, absl::Milliseconds(100), Spec(6, 2, kSync, "int8_block"));
    problem.elements = elements;
    const Forecast forecast = Make(problem);
    // One hop: each sends the model once a commit; a scale every 256 values.
    // Frames of the small one are of 4 KiB, with a head of 160 bytes.
    const double model = static_cast<double>(elements) * (1 + 4.0 / 256);
    EXPECT_NEAR(Sent(forecast) / (2.0 * 6 * model), 1.02, 0.025) << elements;
  }
}

TEST(ForecastTest, ALargeModelTakesTheTimeOfItsBytes) {
  ForecastProblem problem =
      Problem(3, absl::Microseconds(10), Spec(6, 3, kSync, "bf16"));
  problem.elements = 124'439'808;
  problem.cluster.lease = kLong;
  for (IslandShape& island : problem.cluster.islands) {
    island.down_bytes_per_s = 10e6;
    island.up_bytes_per_s = 10e6;
  }
  // Two hops of three move M (1 + 1/3) each way.
  const double bytes = 2.0 * 124'439'808 * 4 / 3;
  EXPECT_NEAR(
      absl::ToDoubleSeconds(Make(problem).measured) / 5 / (bytes / 10e6), 1,
      0.05);
}

TEST(ForecastTest, TheSameProblemGivesTheSameForecast) {
  ForecastProblem problem =
      Problem(3, absl::Milliseconds(5), Spec(8, 3, kOverlapped));
  problem.cluster.jitter = 0.1;
  const Forecast one = Make(problem);
  const Forecast again = Make(problem);
  EXPECT_EQ(one.samples_per_s, again.samples_per_s);
  EXPECT_EQ(one.bytes_sent, again.bytes_sent);
  EXPECT_EQ(one.stall_share, again.stall_share);
  problem.seed = 2;
  EXPECT_NE(one.samples_per_s, Make(problem).samples_per_s);
}

TEST(ForecastTest, WhoIsTakenAwayIsMissedForAsLong) {
  ForecastProblem problem =
      Problem(2, absl::Milliseconds(50), Spec(60, 2, kOverlapped));
  const Forecast calm = Make(problem);
  problem.absences = {{1, absl::Seconds(30), absl::Seconds(60)}};
  const Forecast forecast = Make(problem);
  EXPECT_EQ(calm.live_share, 1);
  EXPECT_EQ(calm.lives, 2);
  EXPECT_EQ(calm.members_mean, 2);
  EXPECT_LT(forecast.members_mean, 2);
  EXPECT_EQ(forecast.lives, 3);
  EXPECT_NEAR(forecast.live_share,
              1 - 15 / absl::ToDoubleSeconds(forecast.measured), 1e-6);
  EXPECT_LT(forecast.samples_per_s, 0.98 * calm.samples_per_s);
  EXPECT_GT(forecast.samples_per_s,
            0.85 * calm.samples_per_s * forecast.live_share);
}

// While the third is away, the others make more than 64 exchanges of 0.1 s, so
// that an attempt has a second. With the third it takes 2.7 s, as its way out
// says once it is measured.
TEST(ForecastTest, WhoIsFarSlowerThanTheOthersIsTakenInAgain) {
  ForecastProblem problem =
      Problem(3, absl::Milliseconds(5), Spec(150, 3, kSync));
  for (IslandShape& island : problem.cluster.islands) {
    island.up_bytes_per_s = island.down_bytes_per_s = 10 * kModelBytes;
  }
  IslandShape& slow = problem.cluster.islands[2];
  slow.up_bytes_per_s = kModelBytes / 2;
  problem.absences = {{2, absl::Seconds(10), absl::Seconds(40)}};
  const Forecast forecast = Make(problem);
  EXPECT_EQ(forecast.lives, 4);
  EXPECT_GT(forecast.members_mean, 2.25);
}

TEST(ForecastTest, ALongJobIsCutToRounds) {
  ForecastProblem problem =
      Problem(2, absl::Milliseconds(5), Spec(1000, 2, kSync));
  problem.rounds_max = 12;
  const Forecast forecast = Make(problem);
  EXPECT_EQ(forecast.samples, 12 * 2 * kTau * kBatch);
  EXPECT_EQ(forecast.commits, 12);
}

TEST(ForecastTest, AJobThatCannotStartIsRefused) {
  ForecastProblem problem =
      Problem(2, absl::Milliseconds(5), Spec(10, 3, kSync));
  EXPECT_TRUE(absl::IsInvalidArgument(MakeForecast(problem).status()));
  problem.spec = Spec(10, 2, kSync);
  problem.spec.placement.islands = {"z"};
  EXPECT_TRUE(absl::IsInvalidArgument(MakeForecast(problem).status()));
}

TEST(ForecastTest, AJobWhoseWorkersStayAwayDoesNotEnd) {
  ForecastProblem problem =
      Problem(1, absl::Milliseconds(50), Spec(10, 1, kSync));
  problem.absences = {{0, absl::Seconds(3), absl::Hours(100'000)}};
  EXPECT_TRUE(absl::IsFailedPrecondition(MakeForecast(problem).status()));
}

}  // namespace
}  // namespace skerry::sim
