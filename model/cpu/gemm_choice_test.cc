#include "model/cpu/gemm_choice.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

// A backend that takes as long as it is told, by a clock of its own.
class Paced final : public GemmBackend {
 public:
  Paced(double* now, double seconds) : now_(now), seconds_(seconds) {}
  std::string_view name() const override { return "paced"; }
  void Multiply(const GemmShape&, const float*, int, const float*, int, float,
                float*, int) const override {
    ++calls_;
    *now_ += calls_ == 1 ? 50 * seconds_ : seconds_;  // a cold first call
  }

 private:
  double* const now_;
  const double seconds_;
  mutable int calls_ = 0;
};

TEST(GemmChoiceTest, TheFasterBackendIsChosenDespiteAColdStart) {
  double now = 0;
  const Paced slow(&now, 2e-3);
  const Paced fast(&now, 1e-3);
  const GemmBackend* backends[] = {&slow, &fast};
  const auto shapes = TypicalGemmShapes(8, 32, 16);
  const auto measured = MeasureGemm(backends, shapes, [&now] { return now; });
  ASSERT_EQ(measured.size(), 2);
  EXPECT_EQ(ChooseGemm(measured).backend, &fast);
  EXPECT_NEAR(ChooseGemm(measured).StepSeconds(), 3e-3, 1e-9);
  EXPECT_NEAR(ChooseGemm(measured).FlopsPerSecond(),
              3 * 2.0 * 8 * 32 * 16 / 3e-3, 1);
}

TEST(GemmChoiceTest, CallsWeighShapes) {
  const GemmMeasurement wide{nullptr, {{{}, 1.0, 1}, {{}, 3.0, 10}}};
  const GemmMeasurement tall{nullptr, {{{}, 3.0, 1}, {{}, 1.0, 10}}};
  const GemmMeasurement both[] = {wide, tall};
  EXPECT_EQ(&ChooseGemm(both), &both[1]);
}

TEST(GemmChoiceTest, TheEarlierWinsWhenEqual) {
  const GemmMeasurement same[] = {{nullptr, {{{}, 1.0, 1}}},
                                  {nullptr, {{{}, 1.0, 1}}}};
  EXPECT_EQ(&ChooseGemm(same), &same[0]);
}

TEST(GemmChoiceTest, TheRealBackendsCanBeMeasured) {
  double now = 0;
  const auto measured =
      MeasureGemm(AllGemmBackends(), TypicalGemmShapes(16, 64, 32),
                  [&now] { return now += 1e-6; });
  EXPECT_EQ(measured.size(), AllGemmBackends().size());
}

TEST(GemmChoiceTest, OnlyAvx512OutsideIntelNeedsItsCoreTypeNamed) {
  EXPECT_EQ(OpenBlasCoreType({"AuthenticAMD", true}), "SkylakeX");
  EXPECT_EQ(OpenBlasCoreType({"AuthenticAMD", false}), "");
  EXPECT_EQ(OpenBlasCoreType({"GenuineIntel", true}), "");
}

}  // namespace
}  // namespace skerry::model::cpu
