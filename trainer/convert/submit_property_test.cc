// Jobs at random: what submit accepts, the trainer's and the worker's own
// options accept, and what submit refuses is refused field by field. Half of
// the jobs name a program.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "job/convert/job_spec.h"
#include "job/review.h"
#include "job/testing/specs.h"
#include "model/spec/model_config.h"
#include "trainer/convert/training_options.h"
#include "worker/core/job_settings.h"

namespace skerry::trainer {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kJobs = 20'000;
// Most fields stay as they are, or hardly any job would be accepted.
constexpr uint64_t kChangedOneIn = 12;

// Values near the bounds that fields have, and far from all of them.
template <typename T>
T Whole(Random& random) {
  constexpr uint64_t kValues[] = {
      0,       1,       2,          3,       12,         48,
      63,      64,      65,         1000,    1024,       1025,
      4096,    4097,    65'535,     65'536,  65'537,     100'000,
      1 << 20, 1 << 24, 1ull << 31, 1 << 30, 1ull << 48, ~0ull};
  return static_cast<T>(kValues[random.Below(std::size(kValues))]);
}

double Real(Random& random) {
  constexpr double kValues[] = {0,     -1,        1e-300,  1e-60, 1e-45, 1e-8,
                                1e-3,  0.1,       0.5,     0.9,   0.95,  0.999,
                                1,     1.5,       2,       10,    10.5,  1e30,
                                1e300, 1 - 1e-12, 1 - 1e-7};
  return kValues[random.Below(std::size(kValues))];
}

std::string Codec(Random& random) {
  const std::vector<std::string> names = {"raw_f32",
                                          "bf16",
                                          "int8_block",
                                          "nf4",
                                          "sign1",
                                          "top_k/16",
                                          "top_k/5",
                                          "adaptive",
                                          "ada_top_k/16",
                                          "zip",
                                          "",
                                          "e3m0",
                                          "lloyd2",
                                          "sign1_whole",
                                          "chunk_top_k/64",
                                          "threshold_top_k/4"};
  return names[random.Below(names.size())];
}

void ChangeField(const FieldDescriptor& field, Random& random,
                 Message& message) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.SetUInt32(&message, &field, Whole<uint32_t>(random));
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&message, &field, Whole<int32_t>(random));
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.SetUInt64(&message, &field, Whole<uint64_t>(random));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&message, &field, Real(random));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, random.Below(2) == 1);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto& type = *field.enum_type();
      return reflection.SetEnumValue(
          &message, &field,
          type.value(static_cast<int>(random.Below(type.value_count())))
              ->number());
    }
    default:
      return;
  }
}

void Change(Random& random, Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_repeated()) continue;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      // A starting checkpoint is a folder's business, and whether a job has a
      // program is drawn apart.
      if (field.name() == "checkpoint" || field.name() == "program") continue;
      Change(random,
             *message.GetReflection()->MutableMessage(&message, &field));
    } else if (random.Below(kChangedOneIn) == 0) {
      ChangeField(field, random, message);
    }
  }
}

std::string Parameters(Random& random) {
  const std::vector<std::string> texts = {
      "",   R"({"width": 64})", "{}", R"({"a": [{"b": null}]})",
      "[]", R"({"width": 64)",  "64", "{width: 64}"};
  return texts[random.Below(texts.size())];
}

void DrawModel(Random& random, v1::JobSpec& spec) {
  if (random.Below(2) == 0) {
    spec.mutable_model()->set_config_json(job::kTinyConfig);
    spec.mutable_data()->set_path("/data/text");
    spec.mutable_data()->set_manifest_sha256(std::string(64, 'a'));
    return;
  }
  v1::JobSpec::Program& program = *spec.mutable_model()->mutable_program();
  program.set_name(random.Below(16) == 0 ? "Res Net" : "resnet");
  program.set_parameters_json(Parameters(random));
  if (random.Below(4) == 0) program.set_sha256(std::string(64, 'b'));
  if (random.Below(2) == 0) spec.mutable_data()->set_id("imagenet");
  if (random.Below(16) == 0) spec.mutable_data()->set_path("/data/text");
}

v1::JobSpec Draw(Random& random) {
  v1::JobSpec spec;
  spec.set_name("job");
  DrawModel(random, spec);
  spec.mutable_training()->set_samples(100'000);
  spec.mutable_training()->set_batch_samples(8);
  spec.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_CO2);
  Change(random, spec);
  if (random.Below(4) == 0) spec.mutable_exchange()->set_codec(Codec(random));
  return spec;
}

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
  int refused = 0;
  // Hash of the messages of all reviews, in order.
  uint64_t digest = 0;
};

Count Try(uint64_t seed) {
  Random random(seed);
  Count count;
  for (int i = 0; i < kJobs; ++i) {
    const v1::JobSpec sent = Draw(random);
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
    EXPECT_TRUE(model::ParseModelConfig(filled.model().config_json()).ok());
  }
  return count;
}

TEST(SubmitPropertyTest, WhatSubmitAcceptsATrainerAndAWorkerAccept) {
  const char* given = std::getenv("SKERRY_TEST_SEED");
  const uint64_t seed =
      given == nullptr ? 29 : std::strtoull(given, nullptr, 10);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const Count count = Try(seed);
  std::printf("%d jobs accepted by all, %d of them programs, %d refused\n",
              count.accepted, count.programs_accepted, count.refused);
  EXPECT_GT(count.accepted, kJobs / 50);
  EXPECT_GT(count.programs_accepted, kJobs / 100);
  EXPECT_GT(count.refused, kJobs / 50);
  EXPECT_EQ(Try(seed).digest, count.digest);
}

}  // namespace
}  // namespace skerry::trainer
