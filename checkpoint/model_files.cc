#include "checkpoint/model_files.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/end_of_text.h"
#include "checkpoint/tensor_files.h"
#include "data/tokenizer_config.h"
#include "model/safetensors/weight_files.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"
#include "nlohmann/json.hpp"

namespace skerry::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kConfigFile[] = "config.json";
constexpr char kGenerationConfigFile[] = "generation_config.json";
constexpr char kTokenizerConfigFile[] = "tokenizer_config.json";
constexpr char kWeightPrefix[] = "model";
constexpr char kMomentumPrefix[] = "outer_momentum";
constexpr std::string_view kWeightSuffix = ".safetensors";

runtime::ByteSpan BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

absl::StatusOr<model::ParameterLayout> LayoutOf(const ModelState& state) {
  if (state.program.has_value()) return LayoutOf(state.program->table);
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(state.config_json));
  return model::BuildGraph(config).layout;
}

absl::Status CheckSize(const model::ParameterLayout& layout, size_t values) {
  if (layout.element_count() == static_cast<int64_t>(values)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the state has ", values, " values, its model ", layout.element_count()));
}

model::TensorDtypes DtypesFor(const ModelState& state,
                              std::optional<model::Dtype> wanted) {
  if (wanted.has_value()) return *wanted;
  if (!state.program.has_value()) return model::Dtype::kF32;
  std::vector<model::Dtype> each;
  for (const TableTensor& tensor : state.program->table.tensors) {
    each.push_back(tensor.dtype);
  }
  return model::TensorDtypes(std::move(each));
}

std::string TextOf(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

// The one key that says the type: transformers prefers `dtype`, and releases
// before 4.56 know `torch_dtype` alone.
void SetDtype(model::Dtype dtype, Json& json) {
  const char* key = json.contains("dtype") ? "dtype" : "torch_dtype";
  json.erase(key[0] == 'd' ? "torch_dtype" : "dtype");
  json[key] = model::TorchDtypeName(dtype);
}

// A number that is no special token of the tokenizer belongs to another one.
// Null where nothing is known: the defaults of transformers are of another
// vocabulary.
void SetToken(const char* key, bool is_known,
              const std::optional<data::SpecialToken>& special, Json& json) {
  if (is_known) return;
  if (special.has_value()) {
    json[key] = special->token;
  } else if (!json.contains(key)) {
    json[key] = nullptr;
  }
}

// What transformers wants to be told and a training job need not say.
Json ConfigForTransformers(const std::string& config_json, model::Dtype dtype,
                           const data::SpecialTokens& special) {
  Json json = Json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  if (!json.contains("architectures")) {
    json["architectures"] = {json["model_type"] == "llama" ? "LlamaForCausalLM"
                                                           : "GPT2LMHeadModel"};
  }
  SetDtype(dtype, json);
  const std::vector<int32_t> ends = EndOfTextTokens(config_json);
  SetToken(
      "eos_token_id",
      special.end.has_value() &&
          std::find(ends.begin(), ends.end(), special.end->token) != ends.end(),
      special.end, json);
  SetToken("bos_token_id",
           special.begin.has_value() && json.contains("bos_token_id") &&
               json["bos_token_id"] == special.begin->token,
           special.begin, json);
  return json;
}

// What `generate` of transformers goes by; null when no end of a text is known.
Json GenerationConfig(const Json& config) {
  if (config["eos_token_id"].is_null()) return nullptr;
  Json json;
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    if (config.contains(key) && !config[key].is_null()) json[key] = config[key];
  }
  return json;
}

// "model-00001-of-00002.safetensors" under another first word.
std::string Renamed(const std::string& file) {
  return kMomentumPrefix + file.substr(std::string_view(kWeightPrefix).size());
}

absl::Status WriteMomentum(const ModelState& state, uint64_t file_bytes_max,
                           TakeFile take) {
  SKERRY_ASSIGN_OR_RETURN(const model::ParameterLayout layout, LayoutOf(state));
  SKERRY_RETURN_IF_ERROR(CheckSize(layout, state.outer_momentum.size()));
  for (const model::WeightFile& file :
       model::PlanWeightFiles(layout, model::Dtype::kF32, file_bytes_max)) {
    SKERRY_ASSIGN_OR_RETURN(
        const std::vector<std::byte> bytes,
        model::EncodeWeightFile(layout, file, model::Dtype::kF32,
                                state.outer_momentum));
    SKERRY_RETURN_IF_ERROR(take(Renamed(file.name), bytes));
  }
  return absl::OkStatus();
}

// Fills `flat` from the files called `prefix`*.safetensors.
absl::Status ReadValues(const CheckpointStore& store, const std::string& name,
                        const Manifest& manifest, std::string_view prefix,
                        const model::ParameterLayout& layout, bool program,
                        std::span<float> flat) {
  std::vector<NamedBytes> read;
  for (const CheckpointFile& file : manifest.files) {
    if (!file.file.starts_with(prefix) || !file.file.ends_with(kWeightSuffix)) {
      continue;
    }
    SKERRY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                            store.Read(name, file));
    read.push_back({file.file, std::move(bytes)});
  }
  const absl::Status filled = program ? ReadNamedTensors(layout, read, flat)
                                      : ReadTensors(layout, read, flat);
  return filled.ok() ? filled : Annotate(filled, name);
}

bool Has(const Manifest& manifest, std::string_view prefix) {
  for (const CheckpointFile& file : manifest.files) {
    if (file.file.starts_with(prefix)) return true;
  }
  return false;
}

absl::StatusOr<std::string> ReadText(const CheckpointStore& store,
                                     const std::string& name,
                                     const Manifest& manifest,
                                     const std::string& wanted) {
  for (const CheckpointFile& file : manifest.files) {
    if (file.file != wanted) continue;
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                            store.Read(name, file));
    return std::string(reinterpret_cast<const char*>(bytes.data()),
                       bytes.size());
  }
  return absl::DataLossError(absl::StrCat(name, " has no ", wanted));
}

absl::Status WriteTensors(const ModelState& state,
                          const model::TensorDtypes& dtypes,
                          uint64_t file_bytes_max, TakeFile take) {
  SKERRY_ASSIGN_OR_RETURN(const model::ParameterLayout layout, LayoutOf(state));
  SKERRY_RETURN_IF_ERROR(CheckSize(layout, state.anchor.size()));
  const std::vector<model::WeightFile> files =
      model::PlanWeightFiles(layout, dtypes, file_bytes_max);
  for (const model::WeightFile& file : files) {
    SKERRY_ASSIGN_OR_RETURN(
        const std::vector<std::byte> bytes,
        model::EncodeWeightFile(layout, file, dtypes, state.anchor));
    SKERRY_RETURN_IF_ERROR(take(file.name, bytes));
  }
  if (files.size() == 1) return absl::OkStatus();
  const std::string index = model::WeightIndex(layout, files, dtypes);
  return take(std::string(model::kWeightIndexFile), BytesOf(index));
}

// What transformers wants beside the weights of a model that it knows.
absl::Status WriteConfigs(const ModelState& state, model::Dtype dtype,
                          TakeFile take) {
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig model,
                          model::ParseModelConfig(state.config_json));
  data::SpecialTokens special;
  if (!state.tokenizer.empty()) {
    special = data::FindSpecialTokens(state.tokenizer,
                                      EndOfTextTokens(state.config_json));
    const std::string_view name = data::TokenizerFileName(state.tokenizer);
    SKERRY_RETURN_IF_ERROR(take(std::string(name), BytesOf(state.tokenizer)));
    const std::string config =
        data::TokenizerConfigJson(state.tokenizer, model.n_positions, special);
    SKERRY_RETURN_IF_ERROR(take(kTokenizerConfigFile, BytesOf(config)));
  }
  const Json config = ConfigForTransformers(state.config_json, dtype, special);
  if (const Json generation = GenerationConfig(config); !generation.is_null()) {
    const std::string text = TextOf(generation);
    SKERRY_RETURN_IF_ERROR(take(kGenerationConfigFile, BytesOf(text)));
  }
  const std::string text = TextOf(config);
  return take(kConfigFile, BytesOf(text));
}

// Reads what only a checkpoint of a job with a program has.
absl::StatusOr<ProgramModel> ReadProgram(const CheckpointStore& store,
                                         const std::string& name,
                                         const Manifest& manifest) {
  SKERRY_ASSIGN_OR_RETURN(
      const std::string text,
      ReadText(store, name, manifest, std::string(kTensorTableFile)));
  absl::StatusOr<TensorTable> table = ParseTable(text);
  if (!table.ok()) {
    return absl::DataLossError(
        absl::StrCat(name, ": ", table.status().message()));
  }
  ProgramModel program{*std::move(table), {}, *manifest.layout_hash};
  for (const std::string& file : program.table.export_files) {
    SKERRY_ASSIGN_OR_RETURN(std::string content,
                            ReadText(store, name, manifest, file));
    program.files.push_back({file, std::move(content)});
  }
  return program;
}

absl::Status ReadConfigs(const CheckpointStore& store, const std::string& name,
                         const Manifest& manifest, ModelState& state) {
  SKERRY_ASSIGN_OR_RETURN(state.config_json,
                          ReadText(store, name, manifest, kConfigFile));
  for (const std::string_view tokenizer :
       {data::kTokenizerJsonFile, data::kTokenizerModelFile}) {
    if (!Has(manifest, tokenizer)) continue;
    SKERRY_ASSIGN_OR_RETURN(state.tokenizer, ReadText(store, name, manifest,
                                                      std::string(tokenizer)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TensorTable> TensorsOf(const ModelState& state) {
  if (state.program.has_value()) return state.program->table;
  SKERRY_ASSIGN_OR_RETURN(const model::ParameterLayout layout, LayoutOf(state));
  return TableOf(layout);
}

absl::Status WriteWeights(const ModelState& state,
                          const ModelFileOptions& options, TakeFile take) {
  SKERRY_RETURN_IF_ERROR(WriteTensors(state, DtypesFor(state, options.dtype),
                                      options.file_bytes_max, take));
  if (!state.program.has_value()) {
    return WriteConfigs(state, options.dtype.value_or(model::Dtype::kF32),
                        take);
  }
  for (const model::ExportFile& file : state.program->files) {
    SKERRY_RETURN_IF_ERROR(take(file.name, BytesOf(file.content)));
  }
  return absl::OkStatus();
}

absl::Status WriteState(const ModelState& state, uint64_t file_bytes_max,
                        TakeFile take) {
  if (!state.outer_momentum.empty()) {
    SKERRY_RETURN_IF_ERROR(WriteMomentum(state, file_bytes_max, take));
  }
  if (state.program.has_value()) {
    const std::string table = SerializeTable(state.program->table);
    SKERRY_RETURN_IF_ERROR(take(std::string(kTensorTableFile), BytesOf(table)));
  }
  return WriteWeights(
      state, {.dtype = model::Dtype::kF32, .file_bytes_max = file_bytes_max},
      take);
}

absl::StatusOr<ModelState> ReadState(const CheckpointStore& store,
                                     const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const Manifest manifest, store.Find(name));
  const bool program = manifest.layout_hash.has_value();
  ModelState state;
  if (program) {
    SKERRY_ASSIGN_OR_RETURN(state.program, ReadProgram(store, name, manifest));
  } else {
    SKERRY_RETURN_IF_ERROR(ReadConfigs(store, name, manifest, state));
  }
  const absl::StatusOr<model::ParameterLayout> layout = LayoutOf(state);
  if (!layout.ok()) {
    return absl::DataLossError(
        absl::StrCat(name, ": ", layout.status().message()));
  }
  const auto elements = static_cast<size_t>(layout->element_count());
  state.anchor.resize(elements);
  SKERRY_RETURN_IF_ERROR(ReadValues(store, name, manifest, kWeightPrefix,
                                    *layout, program, state.anchor));
  if (Has(manifest, kMomentumPrefix)) {
    state.outer_momentum.resize(elements);
    SKERRY_RETURN_IF_ERROR(ReadValues(store, name, manifest, kMomentumPrefix,
                                      *layout, program, state.outer_momentum));
  }
  return state;
}

}  // namespace skerry::checkpoint
