#include "job/convert/job_spec.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"

namespace skerry::job {
namespace {

TEST(JobSpecConvertTest, UnsetAndZeroStayDifferent) {
  v1::JobSpec in;
  in.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_CO2);
  in.mutable_outer()->set_momentum(0);
  in.mutable_training()->set_clip_norm(0);
  in.mutable_exchange()->set_carry(0);
  in.mutable_queue()->set_priority(-7);
  in.mutable_queue()->set_owner("vision");
  const auto spec = JobSpecFromProto(in);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->outer.momentum, 0.0);
  EXPECT_FALSE(spec->outer.learning_rate.has_value());
  EXPECT_EQ(spec->training.clip_norm, 0.0);
  EXPECT_EQ(spec->training.warmup_fraction, 0.05);
  EXPECT_EQ(spec->exchange.carry, 0u);
  EXPECT_EQ(spec->queue.priority, -7);
  EXPECT_EQ(spec->queue.owner, "vision");
  v1::JobSpec out;
  JobSpecToProto(*spec, &out);
  const auto again = JobSpecFromProto(out);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *spec);
}

TEST(JobSpecConvertTest, EveryMethodComesBack) {
  for (int method = v1::JobSpec::OuterMethod_MIN;
       method <= v1::JobSpec::OuterMethod_MAX; ++method) {
    v1::JobSpec in;
    in.mutable_outer()->set_method(
        static_cast<v1::JobSpec::OuterMethod>(method));
    in.mutable_outer()->set_mix(0.5);
    v1::JobSpec out;
    JobSpecToProto(JobSpecFromProto(in).value(), &out);
    EXPECT_EQ(out.outer().method(), method);
    EXPECT_EQ(out.outer().mix(), 0.5);
  }
}

// Who does not know the field leaves it out.
TEST(JobSpecConvertTest, ACapThatIsNotSetIsNone) {
  v1::JobSpec in;
  in.mutable_exchange()->set_codec("adaptive");
  const auto none = JobSpecFromProto(in);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->exchange.error_max.has_value());
  v1::JobSpec out;
  JobSpecToProto(*none, &out);
  EXPECT_FALSE(out.exchange().has_error_max());
  in.mutable_exchange()->set_error_max(0.0);
  EXPECT_EQ(JobSpecFromProto(in)->exchange.error_max, 0.0);
}

TEST(JobSpecConvertTest, EveryOptimizerAndScheduleComesBack) {
  for (int optimizer = v1::JobSpec::InnerOptimizer_MIN;
       optimizer <= v1::JobSpec::InnerOptimizer_MAX; ++optimizer) {
    for (int schedule = v1::JobSpec::Schedule_MIN;
         schedule <= v1::JobSpec::Schedule_MAX; ++schedule) {
      v1::JobSpec in;
      v1::JobSpec::Training* training = in.mutable_training();
      training->set_optimizer(
          static_cast<v1::JobSpec::InnerOptimizer>(optimizer));
      training->set_schedule(static_cast<v1::JobSpec::Schedule>(schedule));
      training->set_weight_decay(0);
      training->set_momentum(0);
      training->set_nesterov(false);
      training->set_decay_fraction(0);
      training->set_recompute(true);
      v1::JobSpec out;
      JobSpecToProto(JobSpecFromProto(in).value(), &out);
      EXPECT_EQ(JobSpecFromProto(out).value(), JobSpecFromProto(in).value());
      // A job of Skerry's own engine has the defaults where it says nothing.
      EXPECT_EQ(out.training().optimizer(), std::max(optimizer, 1));
      EXPECT_EQ(out.training().schedule(), std::max(schedule, 1));
    }
  }
  v1::JobSpec in;
  in.mutable_training()->set_optimizer(
      static_cast<v1::JobSpec::InnerOptimizer>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  in.Clear();
  in.mutable_training()->set_schedule(static_cast<v1::JobSpec::Schedule>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  in.Clear();
  in.mutable_training()->set_compute(static_cast<v1::JobSpec::Compute>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
}

TEST(JobSpecConvertTest, WhatProductsMultiplyComesBack) {
  for (int compute = v1::JobSpec::Compute_MIN;
       compute <= v1::JobSpec::Compute_MAX; ++compute) {
    v1::JobSpec in;
    in.mutable_training()->set_compute(
        static_cast<v1::JobSpec::Compute>(compute));
    v1::JobSpec out;
    JobSpecToProto(JobSpecFromProto(in).value(), &out);
    EXPECT_EQ(out.training().compute(), std::max(compute, 1));
  }
}

TEST(JobSpecConvertTest, AProgramComesBackWithoutTheEnginesDefaults) {
  v1::JobSpec in;
  JobSpecToProto(ProgramJob("job", 100), &in);
  EXPECT_EQ(in.model().program().name(), "resnet");
  EXPECT_EQ(in.data().samples(), 1'281'167u);
  const auto spec = JobSpecFromProto(in);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(*spec, ProgramJob("job", 100));
  EXPECT_FALSE(in.training().has_learning_rate());
  EXPECT_EQ(in.training().optimizer(),
            v1::JobSpec::INNER_OPTIMIZER_UNSPECIFIED);
  // What is set is kept, so that the review can refuse it.
  in.mutable_training()->set_learning_rate(0.001);
  in.mutable_training()->set_schedule(v1::JobSpec::SCHEDULE_WSD);
  const auto with = JobSpecFromProto(in);
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(with->training.learning_rate, 0.001);
  EXPECT_EQ(with->training.schedule, Schedule::kWsd);
}

TEST(JobSpecConvertTest, ParametersOfAProgramHaveABound) {
  v1::JobSpec in;
  in.mutable_model()->mutable_program()->set_parameters_json(
      std::string(64 * 1024, ' '));
  EXPECT_TRUE(JobSpecFromProto(in).ok());
  in.mutable_model()->mutable_program()->mutable_parameters_json()->push_back(
      ' ');
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
}

TEST(JobSpecConvertTest, AnUnknownMethodAndAnEndlessTextAreRefused) {
  v1::JobSpec in;
  in.mutable_outer()->set_method(static_cast<v1::JobSpec::OuterMethod>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  in.Clear();
  in.mutable_model()->set_config_json(std::string(1 << 20, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
}

TEST(JobSpecConvertTest, ACheckpointComesBackWhole) {
  v1::JobSpec in;
  v1::JobSpec::Checkpoint* from = in.mutable_model()->mutable_checkpoint();
  from->set_path("/checkpoints");
  from->set_name("checkpoint-5");
  from->set_sha256("abc");
  from->set_samples(v1::JobSpec::SAMPLES_GO_ON);
  from->add_consumed()->set_end(40);
  const auto spec = JobSpecFromProto(in);
  ASSERT_TRUE(spec.ok()) << spec.status();
  ASSERT_TRUE(spec->model.checkpoint.has_value());
  EXPECT_EQ(spec->model.checkpoint->samples, Samples::kGoOn);
  v1::JobSpec out;
  JobSpecToProto(*spec, &out);
  EXPECT_EQ(out.model().checkpoint().SerializeAsString(),
            in.model().checkpoint().SerializeAsString());
  from->set_samples(static_cast<v1::JobSpec::Samples>(9));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  EXPECT_FALSE(JobSpecFromProto(v1::JobSpec())->model.checkpoint.has_value());
}

// Journals of releases whose fields had no presence: zero was not written, and
// meant one fragment and no betas.
TEST(JobSpecConvertTest, AFilledSpecOfAnOlderReleaseIsTheSameJob) {
  JobSpec submitted = SmallJob("job", 100);
  submitted.training.optimizer = InnerOptimizer::kSgd;
  const JobSpec filled = ReviewJobSpec(submitted).value().spec;
  v1::JobSpec written;
  JobSpecToProto(filled, &written);
  written.mutable_exchange()->clear_fragments();
  EXPECT_FALSE(written.training().has_beta1());
  const auto read = JobSpecFromProto(written);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, filled);
  EXPECT_EQ(ReviewWork(*read).value(), filled);
}

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The fields that do not tell zero, or an empty text, from unset. None of them
// has a default that is another value.
constexpr const char* kWithoutPresence[] = {
    // An empty text means that there is none.
    "name", "model.config_json", "model.program.name",
    "model.program.parameters_json", "model.program.sha256",
    "model.checkpoint.path", "model.checkpoint.name", "model.checkpoint.sha256",
    "data.path", "data.manifest_sha256", "data.id", "checkpoint.directory",
    // Zero is a seed, a place and a priority like any other.
    "model.seed", "data.seed", "model.checkpoint.consumed.begin",
    "model.checkpoint.consumed.end", "queue.priority",
    // The job has to name them, and zero is refused.
    "training.samples", "training.batch_samples",
    // They are off unless the job switches them on.
    "training.recompute", "outer.accept_weak_damping"};

// Adds the paths of those fields of the message, and of messages inside it,
// whose zero is the same as unset.
void FindWithoutPresence(const Descriptor& type, const std::string& path,
                         std::vector<std::string>& found) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string name = absl::StrCat(path, field.name());
    if (field.message_type() != nullptr) {
      FindWithoutPresence(*field.message_type(), name + ".", found);
    } else if (field.enum_type() != nullptr) {
      // Their zero is a word for unset.
      EXPECT_TRUE(absl::EndsWith(
          field.enum_type()->FindValueByNumber(0)->name(), "_UNSPECIFIED"))
          << name;
    } else if (!field.is_repeated() && !field.has_presence()) {
      found.push_back(name);
    }
  }
}

// A field that has a default and is not optional fails here.
TEST(JobSpecConvertTest, FieldsOfTheSchemaTellZeroFromUnset) {
  std::vector<std::string> found;
  FindWithoutPresence(*v1::JobSpec::descriptor(), "", found);
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(kWithoutPresence));
}

// Sets `field` to something that is no default and is not empty.
void SetOdd(const FieldDescriptor& field, Message& message) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.SetUInt32(&message, &field, 61);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&message, &field, -61);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.SetUInt64(&message, &field, 61);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&message, &field, 0.61);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.SetEnumValue(&message, &field, 2);
    case FieldDescriptor::CPPTYPE_STRING:
      return field.is_repeated()
                 ? reflection.AddString(&message, &field, "odd")
                 : reflection.SetString(&message, &field, "odd");
    default:
      FAIL() << "write down a value for " << field.full_name();
  }
}

void SetAllOdd(Message& message) {
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      SetOdd(field, message);
    } else if (field.is_repeated()) {
      v1::SampleRange range;
      range.set_begin(3);
      range.set_end(7);
      message.GetReflection()->AddMessage(&message, &field)->CopyFrom(range);
    } else {
      SetAllOdd(*message.GetReflection()->MutableMessage(&message, &field));
    }
  }
}

// A field that is added to the schema and forgotten in job/ fails here.
TEST(JobSpecConvertTest, EveryFieldOfTheSchemaComesBack) {
  v1::JobSpec in;
  SetAllOdd(in);
  const auto spec = JobSpecFromProto(in);
  ASSERT_TRUE(spec.ok()) << spec.status();
  v1::JobSpec out;
  JobSpecToProto(*spec, &out);
  EXPECT_EQ(out.DebugString(), in.DebugString());
}

// Calls `visit` for every number of the message and of those inside it.
template <typename Visit>
void EachNumber(Message& message, const std::string& path, const Visit& visit) {
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string name = absl::StrCat(path, field.name());
    if (field.is_repeated()) continue;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!message.GetReflection()->HasField(message, &field)) continue;
      EachNumber(*message.GetReflection()->MutableMessage(&message, &field),
                 name + ".", visit);
    } else if (field.has_presence()) {
      visit(message, field, name);
    }
  }
}

struct Zeroes {
  int refused = 0;
  int honoured = 0;
};

// Sets each field of the job with presence to zero, one after another. The
// review either honours the zero or refuses that field by name.
Zeroes TryEveryZero(const JobSpec& job) {
  v1::JobSpec whole;
  JobSpecToProto(job, &whole);
  whole.mutable_checkpoint()->set_directory("/saved");
  Zeroes zeroes;
  std::vector<std::string> names;
  EachNumber(whole, "",
             [&](Message&, const FieldDescriptor&, const std::string& name) {
               names.push_back(name);
             });
  for (const std::string& wanted : names) {
    SCOPED_TRACE(wanted);
    v1::JobSpec zero = whole;
    EachNumber(zero, "",
               [&](Message& message, const FieldDescriptor& field,
                   const std::string& name) {
                 if (name != wanted) return;
                 // Sets presence with a value that is the type's zero.
                 const auto& reflection = *message.GetReflection();
                 switch (field.cpp_type()) {
                   case FieldDescriptor::CPPTYPE_UINT32:
                     return reflection.SetUInt32(&message, &field, 0);
                   case FieldDescriptor::CPPTYPE_UINT64:
                     return reflection.SetUInt64(&message, &field, 0);
                   case FieldDescriptor::CPPTYPE_DOUBLE:
                     return reflection.SetDouble(&message, &field, 0);
                   case FieldDescriptor::CPPTYPE_BOOL:
                     return reflection.SetBool(&message, &field, false);
                   case FieldDescriptor::CPPTYPE_STRING:
                     return reflection.SetString(&message, &field, "");
                   default:
                     FAIL() << "write down the zero of " << field.full_name();
                 }
               });
    const auto reviewed = ReviewJobSpec(JobSpecFromProto(zero).value());
    if (!reviewed.ok()) {
      ++zeroes.refused;
      EXPECT_TRUE(absl::StartsWith(reviewed.status().message(), wanted))
          << reviewed.status();
      continue;
    }
    ++zeroes.honoured;
    v1::JobSpec filled;
    JobSpecToProto(reviewed->spec, &filled);
    EachNumber(
        filled, "",
        [&](Message& message, const FieldDescriptor& field,
            const std::string& name) {
          if (name != wanted) return;
          EXPECT_TRUE(message.GetReflection()->HasField(message, &field));
          if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
            EXPECT_EQ(message.GetReflection()->GetDouble(message, &field), 0);
          }
          if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
            EXPECT_EQ(message.GetReflection()->GetUInt32(message, &field), 0u);
          }
        });
  }
  std::printf("%d zeroes refused, %d honoured\n", zeroes.refused,
              zeroes.honoured);
  return zeroes;
}

// What was filled in with a default before stays zero now.
TEST(JobSpecConvertTest, AnExplicitZeroIsRefusedOrHonouredNeverReplaced) {
  const Zeroes engine = TryEveryZero(SmallJob("job", 100));
  EXPECT_GE(engine.refused, 15);
  EXPECT_GE(engine.honoured, 7);
  const Zeroes program = TryEveryZero(ProgramJob("job", 100));
  EXPECT_GE(program.refused, 20);
  EXPECT_GE(program.honoured, 5);
}

}  // namespace
}  // namespace skerry::job
