// Jobs at random: what submit accepts, the trainer's and the worker's own
// options accept, and what submit refuses is refused field by field.
// trainer/service/job_engine_test.cc goes on from here to the engine itself.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "job/convert/job_spec.h"
#include "job/review.h"
#include "model/spec/batch_tokens.h"
#include "model/spec/model_config.h"
#include "trainer/convert/training_options.h"
#include "trainer/testing/random_jobs.h"
#include "worker/core/job_settings.h"

namespace skerry::trainer {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr int kJobs = 20'000;

// Whether the schema has a field of that path.
bool IsField(absl::string_view path) {
  const Descriptor* type = v1::JobSpec::descriptor();
  for (const absl::string_view word : absl::StrSplit(path, '.')) {
    if (type == nullptr) return false;
    const FieldDescriptor* field = type->FindFieldByName(std::string(word));
    if (field == nullptr) return false;
    type = field->message_type();
  }
  return true;
}

struct Count {
  int accepted = 0;
  int programs_accepted = 0;
  int llamas_accepted = 0;
  int refused = 0;
  // Hash of the messages of all reviews, in order.
  uint64_t digest = 0;
};

Count Try(uint64_t seed) {
  Random random(seed);
  Count count;
  for (int i = 0; i < kJobs; ++i) {
    const v1::JobSpec sent = RandomJob(random);
    const auto spec = job::JobSpecFromProto(sent);
    EXPECT_TRUE(spec.ok()) << spec.status();
    const auto reviewed = job::ReviewJobSpec(*spec);
    for (const char c : reviewed.status().message()) {
      count.digest = Mix64(count.digest + static_cast<unsigned char>(c));
    }
    if (!reviewed.ok()) {
      ++count.refused;
      for (const absl::string_view line :
           absl::StrSplit(reviewed.status().message(), '\n')) {
        const size_t end = line.find(": ");
        EXPECT_TRUE(end != line.npos && IsField(line.substr(0, end))) << line;
      }
      continue;
    }
    ++count.accepted;
    v1::JobSpec filled;
    job::JobSpecToProto(reviewed->spec, &filled);
    // As it was sent, and as orders carry it.
    const bool has_program = sent.model().has_program();
    count.programs_accepted += has_program ? 1 : 0;
    for (const v1::JobSpec* one : {&sent, &std::as_const(filled)}) {
      // Skerry's own engine refuses every job of a program.
      const auto trains = TrainingOptionsFromProto(*one);
      EXPECT_NE(trains.ok(), has_program)
          << trains.status() << one->DebugString();
      const auto works = worker::JobSettingsOf(*job::JobSpecFromProto(*one));
      EXPECT_TRUE(works.ok()) << works.status() << one->DebugString();
    }
    if (has_program) continue;
    const auto config = model::ParseModelConfig(filled.model().config_json());
    EXPECT_TRUE(config.ok()) << config.status();
    count.llamas_accepted +=
        config.ok() && config->model_type == "llama" ? 1 : 0;
    EXPECT_LE(uint64_t{filled.training().micro_batch_samples()} *
                  filled.data().sequence_tokens(),
              uint64_t{model::kBatchTokensMax});
  }
  return count;
}

TEST(SubmitPropertyTest, WhatSubmitAcceptsATrainerAndAWorkerAccept) {
  const char* given = std::getenv("SKERRY_TEST_SEED");
  const uint64_t seed =
      given == nullptr ? 29 : std::strtoull(given, nullptr, 10);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const Count count = Try(seed);
  std::printf(
      "%d jobs accepted by all, %d of them programs and %d Llama models, "
      "%d refused\n",
      count.accepted, count.programs_accepted, count.llamas_accepted,
      count.refused);
  EXPECT_GT(count.accepted, kJobs / 50);
  EXPECT_GT(count.programs_accepted, kJobs / 100);
  EXPECT_GT(count.llamas_accepted, kJobs / 400);
  EXPECT_GT(count.refused, kJobs / 50);
  EXPECT_EQ(Try(seed).digest, count.digest);
}

}  // namespace
}  // namespace skerry::trainer
