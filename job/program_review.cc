#include "job/program_review.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "job/limits.h"
#include "job/text_forms.h"
#include "nlohmann/json.hpp"

namespace skerry::job {
namespace {

using Json = nlohmann::json;

void ReviewProgramName(const std::string& name, SpecProblems& problems) {
  if (IsLabel(name, "") && !name.starts_with('-')) return;
  problems.Add("model.program.name",
               absl::StrCat("has to be 1 to ", kLabelBytesMax,
                            " lower-case letters, digits and dashes, the first "
                            "no dash, not ",
                            Quoted(name),
                            "; it is a name that workers allow with --program "
                            "NAME=FILE"));
}

void ReviewParameters(const std::string& text, SpecProblems& problems) {
  constexpr char kField[] = "model.program.parameters_json";
  if (text.empty()) return;
  if (text.size() > kParametersBytesMax) {
    problems.Between(kField, text.size(), size_t{0}, kParametersBytesMax,
                     "it counts bytes of JSON");
    return;
  }
  bool deep = false;
  const auto parsed = Json::parse(
      text,
      [&](int depth, Json::parse_event_t event, Json&) {
        const bool opens = event == Json::parse_event_t::object_start ||
                           event == Json::parse_event_t::array_start;
        deep |= opens && depth >= kParametersDepthMax;
        return !deep;
      },
      /*allow_exceptions=*/false);
  if (deep) {
    problems.Add(kField, absl::StrCat("is nested more than ",
                                      kParametersDepthMax, " levels deep"));
  } else if (!parsed.is_object()) {
    problems.Add(kField,
                 absl::StrCat("has to be a JSON object, not ", Quoted(text),
                              "; in a job file, give the mapping "
                              "model.program.parameters"));
  }
}

bool IsControl(char c) {
  return absl::ascii_iscntrl(static_cast<unsigned char>(c));
}

}  // namespace

void ReviewProgram(const JobSpec::Model& model, SpecProblems& problems) {
  problems.Require(model.config_json.empty(), "model.program",
                   "stands beside model.config_json, and a job trains either "
                   "Skerry's own model or a program; leave one of them out");
  ReviewProgramName(model.program->name, problems);
  ReviewParameters(model.program->parameters_json, problems);
  const std::string& sha256 = model.program->sha256;
  problems.Require(
      sha256.empty() || IsSha256Hex(sha256), "model.program.sha256",
      absl::StrCat("has to be 64 lower-case hex digits, not ", Quoted(sha256),
                   "; leave it out to take the program of the "
                   "first worker"));
}

std::string ShortStepWarning(const JobSpec::Training& training) {
  if (training.batch_samples == 0) return "";
  const uint64_t rest = training.samples % training.batch_samples;
  if (rest == 0) return "";
  return absl::StrCat(
      "training.samples: is no multiple of training.batch_samples, so the last "
      "step has ",
      rest, rest == 1 ? " sample" : " samples",
      ", and a program of more ranks cannot take it; with ",
      training.samples - rest, " every step is whole");
}

void ReviewProgramData(const JobSpec::Data& data, SpecProblems& problems) {
  constexpr char kOwn[] =
      "is not for jobs with model.program, which opens its data by itself; "
      "leave it out, and name the data in data.id";
  problems.Require(data.path.empty(), "data.path", kOwn);
  problems.Require(data.manifest_sha256.empty(), "data.manifest_sha256", kOwn);
  problems.Require(!data.sequence_tokens.has_value(), "data.sequence_tokens",
                   kOwn);
  problems.Require(
      data.id.size() <= kDataIdBytesMax &&
          std::none_of(data.id.begin(), data.id.end(), IsControl),
      "data.id",
      absl::StrCat("has to be at most ", kDataIdBytesMax,
                   " bytes without control characters, not ", Quoted(data.id)));
  if (!data.samples.has_value()) return;
  problems.Between("data.samples", *data.samples, uint64_t{1}, kSamplesMax,
                   "leave it out when the program says it");
}

void ReviewProgramTraining(const JobSpec::Training& t, SpecProblems& problems) {
  constexpr char kOwn[] =
      "is for the program to decide; leave it out, and pass it to the program "
      "in model.program.parameters";
  const auto leave = [&](bool is_set, std::string_view field) {
    problems.Require(!is_set, field, kOwn);
  };
  leave(t.micro_batch_samples.has_value(), "training.micro_batch_samples");
  leave(t.learning_rate.has_value(), "training.learning_rate");
  leave(t.beta1.has_value(), "training.beta1");
  leave(t.beta2.has_value(), "training.beta2");
  leave(t.epsilon.has_value(), "training.epsilon");
  leave(t.weight_decay.has_value(), "training.weight_decay");
  leave(t.warmup_fraction.has_value(), "training.warmup_fraction");
  leave(t.min_learning_rate_ratio.has_value(),
        "training.min_learning_rate_ratio");
  leave(t.clip_norm.has_value(), "training.clip_norm");
  leave(t.optimizer.has_value(), "training.optimizer");
  leave(t.momentum.has_value(), "training.momentum");
  leave(t.nesterov.has_value(), "training.nesterov");
  leave(t.schedule.has_value(), "training.schedule");
  leave(t.decay_fraction.has_value(), "training.decay_fraction");
  leave(t.recompute, "training.recompute");
  leave(t.compute.has_value(), "training.compute");
}

}  // namespace skerry::job
