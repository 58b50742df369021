#include "cli/model_place.h"

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

v1::JobView Ended() {
  v1::JobView job;
  job.mutable_spec()->set_name("bible");
  job.set_sequence(12);
  v1::ModelPlace* model = job.mutable_model();
  model->set_sequence(12);
  model->add_workers("a");
  model->add_workers("b");
  model->set_kept_ms(3600 * 1000);
  model->set_keep_ended_bytes(uint64_t{64} << 30);
  return job;
}

TEST(ModelPlaceTest, AJobThatHasEndedSaysWhereItsModelIsAndUntilWhen) {
  EXPECT_EQ(ModelPlaceText(Ended()),
            "state 12 of 12 is on workers a, b for 1h00m more (less when the "
            "ended jobs there exceed 64.0 GiB)\n"
            "  take it out with: skerryctl checkpoint create bible --to "
            "FOLDER\n"
            "  and make model files of that with: skerryctl checkpoint export "
            "FOLDER --out MODEL\n");
}

TEST(ModelPlaceTest, OnlyWorkersSaveTheModelOfAProgram) {
  v1::JobView job = Ended();
  job.mutable_spec()->mutable_model()->mutable_program()->set_name("resnet");
  EXPECT_EQ(ModelPlaceText(job),
            "state 12 of 12 is on workers a, b for 1h00m more (less when the "
            "ended jobs there exceed 64.0 GiB)\n");
}

TEST(ModelPlaceTest, ACheckpointStays) {
  v1::JobView job = Ended();
  job.mutable_model()->clear_workers();
  job.set_checkpoint(10);
  job.mutable_spec()->mutable_checkpoint()->set_directory("/models");
  EXPECT_EQ(ModelPlaceText(job),
            "no worker that is there has state 12 whole; start those that "
            "served the job\n"
            "checkpoint 10 is in /models until you remove it\n"
            "  make model files of it with: skerryctl checkpoint export "
            "/models --out MODEL\n");
}

TEST(ModelPlaceTest, AJobThatGoesOnSaysNothing) {
  EXPECT_EQ(ModelPlaceText(v1::JobView()), "");
  v1::JobView job = Ended();
  job.set_sequence(0);
  EXPECT_EQ(ModelPlaceText(job), "nothing was committed: there is no model\n");
}

}  // namespace
}  // namespace skerry::cli
