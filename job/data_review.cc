#include "job/data_review.h"

#include "absl/strings/str_cat.h"
#include "model/spec/model_config.h"

namespace skerry::job {

void ReviewData(const JobSpec& spec, const DataFacts& facts,
                std::vector<std::string>& warnings, SpecProblems& problems) {
  if (!facts.error.empty()) {
    problems.Add("data.path", facts.error);
    return;
  }
  if (facts.manifest_sha256 != spec.data.manifest_sha256) {
    problems.Add(
        "data.manifest_sha256",
        absl::StrCat("is ", spec.data.manifest_sha256, ", and ", facts.path,
                     "/manifest.json has ", facts.manifest_sha256,
                     "; leave it out to take the set that is there, "
                     "or copy the set that was meant"));
    return;
  }
  const auto config = model::ParseModelConfig(spec.model.config_json);
  if (config.ok() &&
      facts.vocabulary > static_cast<uint64_t>(config->vocab_size)) {
    problems.Add("model.config_json",
                 absl::StrCat("has a vocab_size of ", config->vocab_size,
                              ", and the tokens of ", facts.path, " reach to ",
                              facts.vocabulary,
                              "; prepare the data with the model's tokenizer"));
  }
  const uint64_t tokens = spec.data.sequence_tokens.value_or(0);
  // A sample's targets are its tokens moved on by one.
  if (facts.training_tokens < tokens + 1) {
    problems.Add("data.sequence_tokens",
                 absl::StrCat("is ", tokens, ", so one sample needs ",
                              tokens + 1, " tokens, and ", facts.path, " has ",
                              facts.training_tokens,
                              " for training; lower it, or prepare more text"));
  } else if (facts.validation_tokens > 0 &&
             facts.validation_tokens < tokens + 1) {
    warnings.push_back(
        absl::StrCat("data.sequence_tokens: is ", tokens, ", and ", facts.path,
                     " has ", facts.validation_tokens,
                     " tokens for validation, fewer than one sample"));
  }
}

}  // namespace skerry::job
