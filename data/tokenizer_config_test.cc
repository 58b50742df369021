#include "data/tokenizer_config.h"

#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

TEST(TokenizerConfigTest, ATokenizerJsonNamesItsClassAndContext) {
  const auto json = nlohmann::json::parse(TokenizerConfigJson("{}", 64));
  EXPECT_EQ(json["tokenizer_class"], "PreTrainedTokenizerFast");
  EXPECT_EQ(json["model_max_length"], 64);
}

TEST(TokenizerConfigTest, AModelOfSentencePieceNamesItsPieces) {
  std::ifstream file("data/sentencepiece/testdata/llama_like.model",
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const auto json = nlohmann::json::parse(TokenizerConfigJson(bytes.str(), 64));
  EXPECT_EQ(json["tokenizer_class"], "LlamaTokenizer");
  EXPECT_EQ(json["add_bos_token"], false);
  EXPECT_EQ(json["bos_token"], "<s>");
  EXPECT_EQ(json["eos_token"], "</s>");
  EXPECT_EQ(json["unk_token"], "<unk>");
  EXPECT_EQ(json["model_max_length"], 64);
}

TEST(TokenizerConfigTest, FilesAreToldApartByTheirFirstBytes) {
  EXPECT_EQ(TokenizerFileName("\n\x0e\n\x05<unk>"), kTokenizerModelFile);
  EXPECT_EQ(TokenizerFileName("{\"model\": {}}"), kTokenizerJsonFile);
  EXPECT_EQ(TokenizerFileName("\n{\n}"), kTokenizerJsonFile);
  EXPECT_EQ(TokenizerFileName(""), kTokenizerJsonFile);
}

}  // namespace
}  // namespace skerry::data
