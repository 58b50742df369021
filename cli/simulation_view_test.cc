#include "cli/simulation_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Simulation::Plan Plan(uint32_t tau) {
  Simulation::Plan plan;
  plan.set_tau(tau);
  plan.set_codec("bf16");
  plan.set_method("co2");
  plan.set_islands(2);
  plan.set_tokens_per_s(1234.4);
  plan.set_stall_share(0.125);
  plan.set_sent_bytes(3 << 20);
  plan.set_seconds(90);
  plan.set_commits(40);
  plan.set_live_share(1);
  plan.set_goodput(1);
  plan.set_goodput_of_live(1);
  plan.set_lives(2);
  plan.set_members_mean(2);
  Simulation::IslandTraffic* traffic = plan.add_traffic();
  traffic->set_island("east");
  traffic->set_sent_bytes(1 << 20);
  return plan;
}

TEST(SimulationViewTest, ARowAPlanWithTheBestMarked) {
  Simulation simulation;
  *simulation.add_plans() = Plan(6);
  *simulation.add_plans() = Plan(12);
  simulation.mutable_plans(1)->set_best(true);
  EXPECT_EQ(SimulationTable(simulation),
            "BEST  TAU  CODEC  METHOD  ISLANDS  TOKENS/S  STALLED     SENT   "
            "TIME  COMMITS  MEMBERS\n"
            "-       6  bf16   co2           2      1234    12.5%  3.0 MiB  "
            "1m30s       40      2.0\n"
            "*      12  bf16   co2           2      1234    12.5%  3.0 MiB  "
            "1m30s       40      2.0\n");
}

TEST(SimulationViewTest, ChurnHasColumnsOfItsOwn) {
  Simulation simulation;
  *simulation.add_plans() = Plan(6);
  EXPECT_THAT(SimulationTable(simulation), Not(HasSubstr("GOODPUT")));
  simulation.mutable_plans(0)->set_live_share(0.9);
  simulation.mutable_plans(0)->set_goodput(0.88);
  const std::string text = SimulationTable(simulation);
  EXPECT_THAT(text, HasSubstr("GOODPUT"));
  EXPECT_THAT(text, HasSubstr("88.0%"));
}

TEST(SimulationViewTest, OnePlanShowsWhatIslandsSend) {
  Simulation simulation;
  *simulation.add_plans() = Plan(6);
  EXPECT_THAT(SimulationTable(simulation),
              HasSubstr("\nISLAND     SENT\neast    1.0 MiB\n"));
}

}  // namespace
}  // namespace skerry::cli
