#include "optimizer/outer/outer_options.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

OuterOptions Preset(std::string_view name) {
  const auto options = OuterPreset(name);
  EXPECT_TRUE(options.ok()) << options.status();
  return options.value_or(OuterOptions());
}

bool Refused(const OuterOptions& options) {
  return absl::IsInvalidArgument(ValidateOuter(options).status());
}

TEST(OuterOptionsTest, EveryPresetIsAcceptedWithoutWarning) {
  for (const auto name : {"local_sgd", "diloco", "co2", "dasgd",
                          "average_plus_local_delta", "late"}) {
    const auto review = ValidateOuter(Preset(name));
    ASSERT_TRUE(review.ok()) << name << ": " << review.status();
    EXPECT_TRUE(review->warnings.empty()) << name;
  }
  EXPECT_EQ(ValidateOuter(Preset("co2"))->delayed_gain, 0.5);
  EXPECT_TRUE(Preset("co2").clip.has_value());
}

TEST(OuterOptionsTest, AnUnknownMethodIsAnsweredWithTheNames) {
  const auto status = OuterPreset("adam").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("diloco"), absl::string_view::npos);
}

TEST(OuterOptionsTest, ADelayedLoopIsRefusedFromTheBoundaryOn) {
  OuterOptions options = Preset("co2");
  options.learning_rate = 0.7;
  options.momentum = 0.2;
  EXPECT_FALSE(Refused(options));
  options.momentum = 0.3;  // 0.3 + 0.7 = 1
  EXPECT_TRUE(Refused(options));
  options.penalty = 2.0;  // 0.3 + 0.35
  EXPECT_FALSE(Refused(options));
  options.penalty_rule = StalenessPenalty::kDistance;  // may be 1
  EXPECT_TRUE(Refused(options));
  options.delay_rounds = 0;
  EXPECT_FALSE(Refused(options));
}

TEST(OuterOptionsTest, AStableButUndampedLoopIsWarnedAboutWithItsNumber) {
  OuterOptions options = Preset("co2");
  options.learning_rate = 0.6;
  const auto review = ValidateOuter(options);
  ASSERT_TRUE(review.ok());
  ASSERT_EQ(review->warnings.size(), 1u);
  EXPECT_NE(review->warnings[0].find("0.6"), std::string::npos);
}

TEST(OuterOptionsTest, DelayedDiLoCoIsRefused) {
  OuterOptions options = Preset("diloco");
  options.delay_rounds = 1;
  EXPECT_TRUE(Refused(options));
}

TEST(OuterOptionsTest, MergeRulesThatKeepTheMeanTakeNothingThatMovesIt) {
  for (const auto name : {"dasgd", "average_plus_local_delta", "late"}) {
    OuterOptions options = Preset(name);
    options.momentum = 0.1;
    EXPECT_TRUE(Refused(options)) << name;
    options = Preset(name);
    options.clip = 1.0;
    EXPECT_TRUE(Refused(options)) << name;
    options = Preset(name);
    options.learning_rate = 0.9;
    EXPECT_TRUE(Refused(options)) << name;
  }
}

TEST(OuterOptionsTest, AMixHasItsBoundsAndIsTheRate) {
  const auto with = [](double mix) {
    OuterOptions options = Preset("dasgd");
    options.mix = mix;
    options.learning_rate = mix;
    return options;
  };
  for (const double mix : {kMixMin, 0.25, 0.5, kMixMax}) {
    EXPECT_FALSE(Refused(with(mix))) << mix;
  }
  for (const double mix : {0.0, 0.04, 0.96, 1.0}) {
    EXPECT_TRUE(Refused(with(mix))) << mix;
  }
  OuterOptions options = with(0.5);
  options.learning_rate = 0.25;
  const absl::Status status = ValidateOuter(options).status();
  EXPECT_NE(status.message().find("learning_rate 0.5"),
            absl::string_view::npos);
  options.mix.reset();
  EXPECT_TRUE(Refused(options));
  for (const auto name : {"local_sgd", "diloco", "co2", "late"}) {
    OuterOptions other = Preset(name);
    other.mix = 0.25;
    EXPECT_TRUE(Refused(other)) << name;
  }
}

TEST(OuterOptionsTest, AShareOfItsOwnIsForTheLateMergeAlone) {
  OuterOptions options = Preset("co2");
  options.own_share = 0.5;
  EXPECT_TRUE(Refused(options));
  options = Preset("late");
  options.own_share = 0.5;
  ASSERT_FALSE(Refused(options));
  EXPECT_TRUE(ValidateOuter(options)->warnings.empty());
  options.own_share = 0.0;
  EXPECT_TRUE(Refused(options));
  options.own_share = 1.1;
  EXPECT_TRUE(Refused(options));
}

TEST(OuterOptionsTest, ApplyPointsAreForTheLateMergeAlone) {
  OuterOptions options = Preset("co2");
  options.apply_points = 2;
  EXPECT_TRUE(Refused(options));
  EXPECT_EQ(Preset("average_plus_local_delta").apply_points, 1u);
  options = Preset("late");
  EXPECT_FALSE(options.apply_points.has_value());
  for (const uint32_t points : {1u, 4u, 1000u}) {
    options.apply_points = points;
    EXPECT_FALSE(Refused(options)) << points;
  }
  for (const uint32_t points : {0u, 1001u}) {
    options.apply_points = points;
    EXPECT_TRUE(Refused(options)) << points;
  }
}

TEST(OuterOptionsTest, ASmallShareIsWarnedAboutWithItsNumber) {
  OuterOptions options = Preset("late");
  options.own_share = 0.25;
  const auto review = ValidateOuter(options);
  ASSERT_TRUE(review.ok());
  ASSERT_EQ(review->warnings.size(), 1u);
  EXPECT_NE(review->warnings[0].find("0.75"), std::string::npos);
}

TEST(OuterOptionsTest, NumbersOutOfTheirDomainAreRefused) {
  const auto with = [](auto change) {
    OuterOptions options;
    change(options);
    return options;
  };
  using O = OuterOptions;
  EXPECT_TRUE(Refused(with([](O& o) { o.learning_rate = 0.0; })));
  EXPECT_TRUE(Refused(with([](O& o) { o.momentum = 1.0; })));
  EXPECT_TRUE(Refused(with([](O& o) { o.nesterov = true; })));
  EXPECT_TRUE(Refused(with([](O& o) { o.penalty = 0.5; })));
  EXPECT_TRUE(Refused(with([](O& o) { o.clip = 0.0; })));
  EXPECT_TRUE(Refused(with([](O& o) { o.delay_rounds = 2; })));
  EXPECT_TRUE(Refused(with([](O& o) { o.mix = 1.5; })));
  EXPECT_TRUE(Refused(with([](O& o) { o.undelayed_rounds_fraction = -1; })));
}

}  // namespace
}  // namespace skerry::optimizer
