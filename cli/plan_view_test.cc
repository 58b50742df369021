#include "cli/plan_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(PlanViewTest, SaysWhoWorksWhatItCostsAndWhoDoesNot) {
  v1::PlanJobReply plan;
  plan.mutable_spec()->set_name("bible");
  plan.set_starts(true);
  plan.set_reason("2 worker(s) may work on it and 2 are enough");
  for (const char* island : {"east", "north"}) {
    v1::PlannedReplica* replica = plan.add_replicas();
    replica->set_island(island);
    v1::PlannedSeat* seat = replica->add_seats();
    seat->set_worker(std::string(island) + "0");
    seat->set_span_end(8);
    seat->set_elements(32768);
    seat->set_host_bytes(1 << 20);
  }
  v1::LeftOutWorker* left = plan.add_left_out();
  left->set_worker("west0");
  left->set_island("west");
  left->set_reason("it is cordoned");
  v1::PlannedExchange* exchange = plan.mutable_exchange();
  exchange->set_members(2);
  exchange->set_hops(1);
  exchange->set_reason("one hop");
  exchange->set_codec("int8_block");
  exchange->set_model_bytes(33280);
  exchange->set_sent_bytes_each(33280);
  exchange->set_samples_per_round(192);
  exchange->set_rounds(50);
  exchange->set_seconds(1.25);
  EXPECT_EQ(PlanDescription(plan, 32768),
            "Name:            bible\n"
            "Starts:          2 worker(s) may work on it and 2 are enough\n"
            "Parameters:      32768\n"
            "Exchange:        2 replica(s): one hop\n"
            "Codec:           int8_block, 32.5 KiB a model\n"
            "Each sends:      32.5 KiB a round, in 1.25 s over the links as "
            "measured\n"
            "Rounds:          50 of 192 samples\n"
            "\n"
            "Places\n"
            "ISLAND  WORKER  SPANS  ELEMENTS  HOST MEMORY\n"
            "east    east0   0-8       32768      1.0 MiB\n"
            "north   north0  0-8       32768      1.0 MiB\n"
            "\n"
            "Left out\n"
            "WORKER  ISLAND  REASON\n"
            "west0   west    it is cordoned\n");
}

TEST(PlanViewTest, FragmentsAreSentOneAfterTheOther) {
  v1::PlanJobReply plan;
  plan.mutable_spec()->mutable_exchange()->set_fragments(4);
  plan.mutable_exchange()->set_sent_bytes_each(4096);
  EXPECT_THAT(PlanDescription(plan, 5),
              testing::HasSubstr("\nFragments:       4 in turn, 1.0 KiB at a "
                                 "time\n"));
}

TEST(PlanViewTest, AJobThatWaitsSaysForWhat) {
  v1::PlanJobReply plan;
  plan.mutable_spec()->set_name("bible");
  plan.set_reason("0 worker(s) may work on it and 2 are needed");
  EXPECT_EQ(PlanDescription(plan, 5),
            "Name:            bible\n"
            "Waits:           0 worker(s) may work on it and 2 are needed\n"
            "Parameters:      5\n");
}

v1::PlanJobReply ProgramPlan() {
  v1::PlanJobReply plan;
  plan.mutable_spec()->set_name("vision");
  plan.mutable_spec()->mutable_model()->mutable_program()->set_name("resnet");
  plan.set_starts(true);
  plan.set_reason("1 worker(s) may work on it and 1 are enough");
  plan.add_replicas()->add_seats()->set_worker("a0");
  return plan;
}

TEST(PlanViewTest, OfAProgramItSaysWhatIsNotKnown) {
  v1::PlanJobReply plan = ProgramPlan();
  EXPECT_THAT(
      PlanDescription(plan, 0),
      testing::StartsWith(
          "Name:            vision\n"
          "Starts:          1 worker(s) may work on it and 1 are enough\n"
          "Program:         resnet\n"
          "Not known:       how many parameters it trains, and so the spans, "
          "the memory and the bytes of an exchange; measure it with `python "
          "-m skerry describe`, and give what that prints with --description "
          "FILE\n"
          "\n"
          "Places\n"));
  plan.mutable_replicas(0)->add_seats()->set_worker("a1");
  EXPECT_THAT(PlanDescription(plan, 0),
              testing::HasSubstr(
                  "Not known:       whether the program computes with other "
                  "workers of its island; if not, one worker of each island "
                  "trains\n"));
}

TEST(PlanViewTest, OfADescribedProgramItSaysWhatWasMeasured) {
  EXPECT_THAT(PlanDescription(ProgramPlan(), 22,
                              ProgramDescription{22, 1e6, 0.25, 8, 1 << 20}),
              testing::HasSubstr(
                  "Program:         resnet\n"
                  "Step:            0.25 s for 8 samples, as measured where it "
                  "was described\n"
                  "Trainer memory:  1.0 MiB at the most, as measured there\n"
                  "Parameters:      22\n"));
}

}  // namespace
}  // namespace skerry::cli
