#include "checkpoint/same_model.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "model/spec/model_config.h"

namespace skerry::checkpoint {
namespace {

using Fields = std::vector<std::pair<const char*, std::string>>;

// All that the graph and its arithmetic depend on, under GPT-2's names.
Fields FieldsOf(const model::ModelConfig& c) {
  const model::RotaryConfig& r = c.rotary;
  return {
      {"model_type", c.model_type},
      {"vocab_size", absl::StrCat(c.vocab_size)},
      {"n_positions", absl::StrCat(c.n_positions)},
      {"n_embd", absl::StrCat(c.n_embd)},
      {"n_layer", absl::StrCat(c.n_layer)},
      {"n_head", absl::StrCat(c.n_head)},
      {"n_inner", absl::StrCat(c.inner_size())},
      {"activation", absl::StrCat(static_cast<int>(c.activation))},
      {"layer_norm_epsilon", absl::StrCat(c.layer_norm_epsilon)},
      {"tie_word_embeddings", absl::StrCat(c.tie_word_embeddings)},
      {"scale_attn_weights", absl::StrCat(c.scale_attn_weights)},
      {"scale_attn_by_inverse_layer_idx",
       absl::StrCat(c.scale_attn_by_inverse_layer_idx)},
      {"num_key_value_heads", absl::StrCat(c.kv_heads())},
      {"head_dim", absl::StrCat(c.head_size())},
      {"attention_bias", absl::StrCat(c.attention_bias)},
      {"mlp_bias", absl::StrCat(c.mlp_bias)},
      {"rope scaling", absl::StrCat(static_cast<int>(r.scaling))},
      {"rope_theta", absl::StrCat(r.theta)},
      {"rope factor", absl::StrCat(r.factor)},
      {"rope original positions", absl::StrCat(r.original_positions)},
      {"rope low_freq_factor", absl::StrCat(r.low_frequency_factor)},
      {"rope high_freq_factor", absl::StrCat(r.high_frequency_factor)},
      {"rope beta_fast", absl::StrCat(r.beta_fast)},
      {"rope beta_slow", absl::StrCat(r.beta_slow)},
      {"rope truncate", absl::StrCat(r.truncate)},
      {"rope attention_factor", absl::StrCat(r.attention_factor)},
  };
}

std::string TensorText(const TableTensor& tensor) {
  return absl::StrCat(tensor.name, " [", absl::StrJoin(tensor.shape, ", "), "]",
                      tensor.average ? ", averaged" : "");
}

}  // namespace

absl::Status CheckSameTensors(const TensorTable& job,
                              const TensorTable& found) {
  const std::vector<TableTensor>& ours = job.tensors;
  const std::vector<TableTensor>& theirs = found.tensors;
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    if (ours[i].name == theirs[i].name && ours[i].shape == theirs[i].shape &&
        ours[i].average == theirs[i].average) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the job's model is another one: its tensor ", i, " is ",
                     TensorText(ours[i]), ", not ", TensorText(theirs[i])));
  }
  if (ours.size() == theirs.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the job's model is another one: it has ", ours.size(),
                   " tensors, not ", theirs.size()));
}

absl::Status CheckSameModel(std::string_view job_config,
                            std::string_view found_config) {
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig job,
                          model::ParseModelConfig(job_config));
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig found,
                          model::ParseModelConfig(found_config));
  const Fields ours = FieldsOf(job);
  const Fields theirs = FieldsOf(found);
  std::vector<std::string> differences;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].second == theirs[i].second) continue;
    differences.push_back(absl::StrCat(ours[i].first, " ", ours[i].second,
                                       " and ", theirs[i].second));
  }
  if (differences.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the job's model is another one: ", absl::StrJoin(differences, ", ")));
}

}  // namespace skerry::checkpoint
