#include "checkpoint/model_folder.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/testing/memory_files.h"

namespace skerry::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kConfig[] =
    R"({"model_type": "gpt2", "resid_pdrop": 0.1, "eos_token_id": 7})";
constexpr char kIndexOfTwo[] =
    R"({"weight_map": {"a": "model-00001-of-00002.safetensors",)"
    R"( "b": "model-00002-of-00002.safetensors"}})";

runtime::ByteSpan BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// The names in a folder alone decide which files are read, so these tests write
// files with any content.
class ModelFolderTest : public ::testing::Test {
 protected:
  ModelFolderTest() { EXPECT_TRUE(files_.MakeDirectory("/model").ok()); }
  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(files_.WriteDurably("/model/" + name, BytesOf(text)).ok());
  }
  absl::StatusOr<ModelFolder> Read() {
    return ReadModelFolder("/model", files_);
  }
  std::vector<std::string> WeightNames() {
    const auto folder = Read();
    EXPECT_TRUE(folder.ok()) << folder.status();
    std::vector<std::string> names;
    if (!folder.ok()) return names;
    for (const NamedBytes& one : folder->weights) names.push_back(one.name);
    return names;
  }
  std::string Complaint() {
    const auto folder = Read();
    EXPECT_TRUE(absl::IsNotFound(folder.status())) << folder.status();
    return std::string(folder.status().message());
  }

  runtime::MemoryFiles files_;
};

TEST_F(ModelFolderTest, AWholeFileWinsOverAStaleIndex) {
  Write("config.json", kConfig);
  Write("model.safetensors", "whole");
  const std::string before = Read()->sha256;
  Write("model.safetensors.index.json", kIndexOfTwo);
  EXPECT_THAT(WeightNames(), ElementsAre("/model/model.safetensors"));
  // The same bytes are read, so the folder has the same name.
  EXPECT_EQ(Read()->sha256, before);
  // Even where the index is no index at all, or its files are there.
  Write("model-00001-of-00002.safetensors", "one");
  Write("model-00002-of-00002.safetensors", "two");
  EXPECT_THAT(WeightNames(), ElementsAre("/model/model.safetensors"));
  Write("model.safetensors.index.json", "{");
  EXPECT_EQ(Read()->sha256, before);
}

TEST_F(ModelFolderTest, AnIndexThatNamesMissingFilesSaysWhichAreThere) {
  Write("config.json", kConfig);
  Write("model.safetensors.index.json", kIndexOfTwo);
  Write("model-00001-of-00002.safetensors", "one");
  Write("pytorch_model.bin", "old");
  const std::string complaint = Complaint();
  EXPECT_THAT(complaint,
              HasSubstr("/model/model.safetensors.index.json names "
                        "model-00002-of-00002.safetensors, which is not "
                        "there; the folder has "
                        "model-00001-of-00002.safetensors, "
                        "pytorch_model.bin: fetch"));
  Write("model-00002-of-00002.safetensors", "two");
  EXPECT_THAT(WeightNames(),
              ElementsAre("/model/model-00001-of-00002.safetensors",
                          "/model/model-00002-of-00002.safetensors"));
}

TEST_F(ModelFolderTest, WeightsOfAnotherFormatAreNamedWithTheCure) {
  Write("config.json", kConfig);
  EXPECT_THAT(Complaint(), HasSubstr("but no weight file; save the model"));
  Write("pytorch_model.bin", "pickle");
  EXPECT_THAT(Complaint(),
              HasSubstr("has no model.safetensors and no "
                        "model.safetensors.index.json, but pytorch_model.bin; "
                        "save the model with save_pretrained"));
}

// What the last release called the folder: both files, the index too.
TEST_F(ModelFolderTest, AnIndexOfTheWholeFileAloneCountsAsBefore) {
  const std::string index = R"({"weight_map": {"a": "model.safetensors"}})";
  Write("config.json", kConfig);
  Write("model.safetensors", "whole");
  Write("model.safetensors.index.json", index);
  const std::string lines = absl::StrCat(
      Sha256Hex(BytesOf(kConfig)), "  config.json\n",
      Sha256Hex(BytesOf("whole")), "  model.safetensors\n",
      Sha256Hex(BytesOf(index)), "  model.safetensors.index.json\n");
  EXPECT_EQ(Read()->sha256, Sha256Hex(BytesOf(lines)));
}

TEST_F(ModelFolderTest, EndOfTextComesFromTheGenerationConfig) {
  Write("config.json", kConfig);
  Write("model.safetensors", "whole");
  const auto end_of_text = [&] {
    return Json::parse(Read()->config_json)["eos_token_id"];
  };
  const std::string before = Read()->sha256;
  EXPECT_EQ(end_of_text(), 7);
  Write("generation_config.json", R"({"eos_token_id": [256, 257]})");
  EXPECT_EQ(end_of_text(), Json({256, 257}));
  for (const char* silent : {"{", "[]", "{}", R"({"eos_token_id": null})"}) {
    Write("generation_config.json", silent);
    EXPECT_EQ(end_of_text(), 7) << silent;
  }
  EXPECT_EQ(Read()->sha256, before);
}

}  // namespace
}  // namespace skerry::checkpoint
