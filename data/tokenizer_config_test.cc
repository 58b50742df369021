#include "data/tokenizer_config.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

nlohmann::json ConfigOf(const std::string& tokenizer,
                        const std::vector<int32_t>& ends = {}) {
  return nlohmann::json::parse(
      TokenizerConfigJson(tokenizer, 64, FindSpecialTokens(tokenizer, ends)));
}

TEST(TokenizerConfigTest, ATokenizerJsonNamesItsClassAndContext) {
  const auto json = ConfigOf("{}");
  EXPECT_EQ(json["tokenizer_class"], "PreTrainedTokenizerFast");
  EXPECT_EQ(json["model_max_length"], 64);
  EXPECT_FALSE(json.contains("eos_token"));
}

TEST(TokenizerConfigTest, ATokenizerJsonNamesItsSpecialTokens) {
  const std::string gpt2 = ReadFile("data/tokenizer/testdata/gpt2_like.json");
  EXPECT_EQ(ConfigOf(gpt2)["eos_token"], "<|endoftext|>");
  EXPECT_EQ(ConfigOf(gpt2)["bos_token"], "<|endoftext|>");
  const std::string llama =
      ReadFile("data/tokenizer/testdata/llama3_like.json");
  EXPECT_EQ(ConfigOf(llama)["bos_token"], "<|begin_of_text|>");
  EXPECT_EQ(ConfigOf(llama)["eos_token"], "<|end_of_text|>");
  // What the model's config says comes first, if it is such a token at all.
  EXPECT_EQ(ConfigOf(llama, {5, 443, 442})["eos_token"],
            "<|end_of_text_more|>");
  EXPECT_EQ(ConfigOf(llama, {5, 50256})["eos_token"], "<|end_of_text|>");
}

TEST(TokenizerConfigTest, AModelOfSentencePieceNamesItsPieces) {
  const std::string model =
      ReadFile("data/sentencepiece/testdata/llama_like.model");
  const auto json = ConfigOf(model);
  EXPECT_EQ(json["tokenizer_class"], "LlamaTokenizer");
  EXPECT_EQ(json["add_bos_token"], false);
  EXPECT_EQ(json["bos_token"], "<s>");
  EXPECT_EQ(json["eos_token"], "</s>");
  EXPECT_EQ(json["unk_token"], "<unk>");
  EXPECT_EQ(json["model_max_length"], 64);
  EXPECT_EQ(ConfigOf(model, {300, -1, 100000})["eos_token"], "</s>");
}

TEST(TokenizerConfigTest, FilesAreToldApartByTheirFirstBytes) {
  EXPECT_EQ(TokenizerFileName("\n\x0e\n\x05<unk>"), kTokenizerModelFile);
  EXPECT_EQ(TokenizerFileName("{\"model\": {}}"), kTokenizerJsonFile);
  EXPECT_EQ(TokenizerFileName("\n{\n}"), kTokenizerJsonFile);
  EXPECT_EQ(TokenizerFileName(""), kTokenizerJsonFile);
}

}  // namespace
}  // namespace skerry::data
