// A hundred folders as people have them: transformers' logits, or a refusal by
// name. tools/gen/model_folders.py says how they are made and what transformers
// computes; where Python has transformers, it is asked again. SKERRY_PYTHON
// names the interpreter; python3 when unset.
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/executor.h"
#include "base/testing/golden_file.h"
#include "checkpoint/starting_point.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/exec/language_model.h"
#include "model/safetensors/safetensors.h"
#include "nlohmann/json.hpp"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::checkpoint {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr char kFile[] = "checkpoint/testdata/model_folders.json";
constexpr double kTolerance = 1e-4;

// The pages that list what is refused.
constexpr const char* kPages[] = {"docs/engine.md",
                                  "docs/formats/safetensors.md"};
constexpr char kTable[] = "| refused | what to do |";

// Some words of a refusal, as the script has them, and its cure.
struct Refusal {
  const char* words;
  const char* cure;
};
constexpr Refusal kRefusals[] = {
    {"quantised checkpoint", "save it dequantised"},
    {"sliding_window: is not known", "remove it from config.json"},
    {"use_sliding_window: is not known", "remove it from config.json"},
    {"mystery: is not known", "remove it from config.json"},
    {"add_cross_attention: is true, which Skerry does not compute",
     "it can only be false"},
    {"is \"mish\"", "\"silu\""},
    {"model_type: is \"gpt_neox\"", "supported: \"gpt2\", \"llama\""},
    {"rope_type: is \"longrope\"", "supported: \"default\""},
    {"stands beside rope_parameters", "keep one of them"},
    {"hidden_size: is 5, and n_embd", "write n_embd alone"},
    {"score.weight is not in the model", "remove it from the file"},
    {"is of a LoRA adapter", "merge_and_unload"},
    {"is missing", "save the whole model"},
    {"the model's is", "use the config.json that belongs to these"},
    {"has the dtype I8", "save the model in one of them"},
    {"has other values than", "remove one of them"},
    {"tie_word_embeddings", "set tie_word_embeddings to true"},
    {"which is not there; the folder has", "fetch the missing file"},
    {"save the model with save_pretrained", "save the model with"},
};

// The script's value().
float ValueAt(uint32_t seed, uint32_t index, float base) {
  uint32_t mixed = seed * 2654435761u + index * 40503u + 12345u;
  mixed ^= mixed >> 15;
  mixed *= 2246822519u;
  mixed ^= mixed >> 13;
  return base + static_cast<float>(static_cast<int>(mixed % 63) - 31) / 128;
}

// [name, type, shape, seed, base] as a file has it.
void AppendTensor(const Json& tensor, model::TensorEntry& entry,
                  std::vector<std::byte>& values) {
  entry.name = tensor[0];
  entry.shape = tensor[2].get<std::vector<int64_t>>();
  size_t count = 1;
  for (const int64_t extent : entry.shape) {
    count *= static_cast<size_t>(extent);
  }
  const std::string type = tensor[1];
  if (const auto dtype = model::DtypeFromName(type)) {
    entry.dtype = *dtype;
    std::vector<float> floats(count);
    for (size_t i = 0; i < count; ++i) {
      floats[i] = ValueAt(tensor[3].get<uint32_t>(), static_cast<uint32_t>(i),
                          tensor[4].get<float>());
    }
    const size_t begin = values.size();
    values.resize(begin + count * model::ElementBytes(*dtype));
    model::EncodeElements(floats, *dtype, std::span(values).subspan(begin));
    return;
  }
  entry.foreign_dtype = type;
  entry.end = count * (type == "I64" ? 8 : 1);
  values.resize(values.size() + entry.end);
}

std::vector<std::byte> WeightFileOf(const Json& tensors) {
  std::vector<model::TensorEntry> entries(tensors.size());
  std::vector<std::byte> values;
  for (size_t i = 0; i < tensors.size(); ++i) {
    AppendTensor(tensors[i], entries[i], values);
  }
  auto file = model::SafetensorsHeader(entries, {{"format", "pt"}}).value();
  file.insert(file.end(), values.begin(), values.end());
  return file;
}

// The folder /model of a case.
void Write(const Json& one, runtime::MemoryFiles& files) {
  ASSERT_TRUE(files.MakeDirectory("/model").ok());
  for (const auto& [name, text] : one["texts"].items()) {
    const auto content = text.get<std::string>();
    ASSERT_TRUE(
        files.WriteDurably("/model/" + name, std::as_bytes(std::span(content)))
            .ok());
  }
  for (const auto& [name, tensors] : one["weights"].items()) {
    ASSERT_TRUE(
        files.WriteDurably("/model/" + name, WeightFileOf(tensors)).ok());
  }
}

// Returns the logits of the last positions, as many as the case has.
absl::StatusOr<std::vector<float>> LogitsOf(const Json& one) {
  runtime::MemoryFiles files;
  Write(one, files);
  runtime::Folders places(files);
  const StartingPoint where{"/model", ""};
  const auto described = Describe(where, places, files);
  if (!described.ok()) return described.status();
  const auto config = model::ParseModelConfig(described->config_json);
  if (!config.ok()) return config.status();
  const auto state = ReadStartingPoint(where, described->sha256,
                                       described->config_json, places, files);
  if (!state.ok()) return state.status();
  InlineExecutor executor;
  const auto model = model::LanguageModel::Create(*config, {}, executor);
  if (!model.ok()) return model.status();
  std::copy(state->anchor.begin(), state->anchor.end(),
            (*model)->parameters().begin());
  const auto inputs = one["inputs"].get<std::vector<int32_t>>();
  std::vector<float> logits(inputs.size() *
                            static_cast<size_t>(config->vocab_size));
  (*model)->Logits(inputs, 1, static_cast<int>(inputs.size()), logits);
  const size_t kept = one.contains("logits") ? one["logits"].size() : 0;
  return std::vector<float>(logits.end() - static_cast<ptrdiff_t>(kept),
                            logits.end());
}

// What a page says of a refusal, as an expression for its message: words in
// capitals stand for a name or a value, and "..." for anything.
std::regex ExpressionOf(absl::string_view said) {
  std::string expression;
  for (const char c : said) {
    if (absl::ascii_ispunct(c)) expression += '\\';
    expression += c;
  }
  absl::StrReplaceAll({{R"(\.\.\.)", ".+"},
                       {"KEY", "[a-z_]+"},
                       {"VALUE", "[^ ]+"},
                       {"NAME", "[^ :]+"},
                       {"FILE", "[^ :]+"},
                       {"FOLDER", "[^ :]+"}},
                      &expression);
  return std::regex(expression);
}

// The first cells of the pages' tables of what is refused. Each has a cure
// beside it.
std::vector<std::string> SaidOfRefusals() {
  std::vector<std::string> all;
  for (const char* page : kPages) {
    bool inside = false;
    const std::string text = skerry::testing::ReadTextFile(page);
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      inside = line == kTable || (inside && absl::StartsWith(line, "|"));
      if (!inside || !absl::StartsWith(line, "| `")) continue;
      const std::vector<std::string> cells = absl::StrSplit(line, " | ");
      EXPECT_EQ(cells.size(), 2u) << line;
      EXPECT_TRUE(absl::EndsWith(cells[0], "`") && cells[1].size() > 10)
          << line;
      all.push_back(cells[0].substr(3, cells[0].size() - 4));
    }
  }
  return all;
}

TEST(TransformersFoldersTest, EachRefusalIsOnOnePageAndNamesItsCure) {
  const std::vector<std::string> said = SaidOfRefusals();
  for (const Json& one : Json::parse(skerry::testing::ReadTextFile(kFile))) {
    if (!one.contains("refusal")) continue;
    const std::string words = one["refusal"];
    const auto refusal = std::find_if(
        std::begin(kRefusals), std::end(kRefusals),
        [&](const Refusal& known) { return words == known.words; });
    ASSERT_NE(refusal, std::end(kRefusals)) << words;
    const std::string message(LogitsOf(one).status().message());
    EXPECT_THAT(message, HasSubstr(refusal->words));
    EXPECT_THAT(message, HasSubstr(refusal->cure));
    const auto rows =
        std::count_if(said.begin(), said.end(), [&](const std::string& row) {
          return std::regex_search(message, ExpressionOf(row));
        });
    EXPECT_EQ(rows, 1) << message;
  }
}

TEST(TransformersFoldersTest, HaveTransformersLogitsOrAreRefusedByName) {
  const Json cases = Json::parse(skerry::testing::ReadTextFile(kFile));
  int equal = 0, refused = 0, more = 0;
  double worst = 0;
  for (const Json& one : cases) {
    SCOPED_TRACE(one["name"].get<std::string>() + ": " +
                 one["texts"]["config.json"].get<std::string>());
    const auto logits = LogitsOf(one);
    if (one.contains("refusal")) {
      EXPECT_THAT(std::string(logits.status().message()),
                  HasSubstr(one["refusal"].get<std::string>()));
      ++refused;
      continue;
    }
    ASSERT_TRUE(logits.ok()) << logits.status();
    for (size_t i = 0; i < logits->size(); ++i) {
      const double off =
          std::abs((*logits)[i] - one["logits"][i].get<double>());
      ASSERT_LE(off, kTolerance);
      worst = std::max(worst, off);
    }
    ++equal;
    more += one["transformers"] != "equal";
  }
  std::cout << cases.size() << " folders: " << equal
            << " with transformers' logits (largest difference " << worst
            << "; " << more << " of them behind a wrapper's prefix), "
            << refused << " refused by name\n";
  EXPECT_EQ(cases.size(), 100u);
  EXPECT_GE(equal, 75);
}

TEST(TransformersFoldersTest, AreWhatTheScriptAndTransformersMake) {
  const auto exit_code = [](const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const char* named = std::getenv("SKERRY_PYTHON");
  const std::string python = named != nullptr ? named : "python3";
  if (exit_code(python + " -c 'import torch, transformers' 2>/dev/null") != 0) {
    GTEST_SKIP() << python << " cannot import torch and transformers";
  }
  EXPECT_EQ(exit_code(absl::StrCat(
                python, " -B tools/gen/model_folders.py --check ", kFile)),
            0);
}

}  // namespace
}  // namespace skerry::checkpoint
