#include "trainer/testing/random_jobs.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "trainer/testing/random_config.h"

namespace skerry::trainer {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

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
    spec.mutable_model()->set_config_json(RandomConfig(random));
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

}  // namespace

v1::JobSpec RandomJob(Random& random) {
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

}  // namespace skerry::trainer
