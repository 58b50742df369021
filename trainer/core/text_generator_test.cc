#include "trainer/core/text_generator.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/exec/language_model.h"

namespace skerry::trainer {
namespace {

constexpr int kContext = 16;
// More than bytes: a model's vocabulary may be padded.
constexpr int kVocab = 300;

bool Never() { return false; }

// Bytes, one of which ends the document, of `vocab_size` tokens.
class EndingCodec : public data::TextCodec {
 public:
  EndingCodec(int32_t end, int vocab_size)
      : end_(end), vocab_size_(vocab_size), bytes_(data::MakeByteCodec()) {}
  int vocab_size() const override { return vocab_size_; }
  absl::Status AppendPart(std::string_view part, Place place,
                          std::vector<int32_t>& tokens) override {
    return bytes_->AppendPart(part, place, tokens);
  }
  size_t PartEnd(std::string_view text, size_t at) const override {
    return bytes_->PartEnd(text, at);
  }
  std::unique_ptr<data::TextCodec> Clone() const override {
    return std::make_unique<EndingCodec>(end_, vocab_size_);
  }
  absl::StatusOr<std::vector<int32_t>> Prompt(std::string_view text) override {
    return bytes_->Prompt(text);
  }
  absl::StatusOr<std::string> Decode(std::span<const int32_t> tokens) override {
    return bytes_->Decode(tokens);
  }
  std::optional<int32_t> document_end() const override { return end_; }

 private:
  const int32_t end_;
  const int vocab_size_;
  const std::unique_ptr<data::TextCodec> bytes_;
};

class TextGeneratorTest : public ::testing::Test {
 protected:
  TextGeneratorTest() : codec_(data::MakeByteCodec()) {
    model::ModelConfig config;
    config.vocab_size = kVocab;
    config.n_positions = kContext;
    config.n_embd = 32;
    config.n_layer = 2;
    config.n_head = 4;
    model_ = model::LanguageModel::Create(config, {}, executor_).value();
    model::InitializeParameters(model_->layout(), config, 3,
                                model_->parameters());
    for (float& p : model_->parameters()) p *= 6;
  }
  TextModel Model() {
    return {.graph = model_->graph(),
            .parameters = model_->parameters(),
            .context = kContext,
            .gemm = model::cpu::DefaultGemmBackend(),
            .executor = executor_};
  }
  std::vector<GeneratedText> Generate(const std::vector<std::string>& prompts,
                                      const TextOptions& options) {
    return GenerateTexts(Model(), *codec_, prompts, options, Never).value();
  }
  // The likeliest next byte after `text` by the full forward.
  char Likeliest(const std::string& text) {
    const std::vector<int32_t> tokens = codec_->Prompt(text).value();
    std::vector<float> logits(tokens.size() * kVocab);
    model_->Logits(tokens, 1, static_cast<int>(tokens.size()), logits);
    const auto last = logits.end() - kVocab;
    return static_cast<char>(std::max_element(last, last + 256) - last);
  }

  InlineExecutor executor_;
  std::unique_ptr<data::TextCodec> codec_;
  std::unique_ptr<model::LanguageModel> model_;
};

TEST_F(TextGeneratorTest, TheLikeliestTextIsThatOfTheFullForward) {
  const auto texts = Generate({"sea"}, {.tokens = 13});
  std::string text = "sea";
  for (int i = 0; i < 13; ++i) text += Likeliest(text);
  EXPECT_EQ("sea" + texts[0].text, text);
  EXPECT_EQ(texts[0].tokens, 13u);
  EXPECT_EQ(texts[0].end, TextEnd::kLength);
}

TEST_F(TextGeneratorTest, BeyondTheContextItGoesOnFromTheLastHalf) {
  const auto texts = Generate({"sea"}, {.tokens = 16});
  std::string text = "sea";
  for (int i = 0; i < 14; ++i) text += Likeliest(text.substr(0, kContext));
  // 17 bytes are more than fit; the last 8 begin anew.
  for (int i = 0; i < 2; ++i) {
    text += Likeliest(text.substr(9, 8 + static_cast<size_t>(i)));
  }
  EXPECT_EQ(("sea" + texts[0].text).substr(0, 17), text.substr(0, 17));
  EXPECT_EQ("sea" + texts[0].text, text);
}

TEST_F(TextGeneratorTest, PromptsAreDrawnForSideBySide) {
  const TextOptions options = {
      .tokens = 12, .sampling = {.temperature = 1}, .seed = 5};
  std::vector<std::string> prompts;
  for (int i = 0; i < 19; ++i) prompts.push_back(std::string(1 + i % 3, 'a'));
  const auto together = Generate(prompts, options);
  EXPECT_EQ(Generate(prompts, options)[7].text, together[7].text);
  for (const size_t i : {0, 4, 18}) {
    TextOptions alone = options;
    alone.seed += i;
    EXPECT_EQ(Generate({prompts[i]}, alone)[0].text, together[i].text) << i;
  }
  EXPECT_NE(together[0].text, together[3].text);
}

TEST_F(TextGeneratorTest, EndsBeforeTheFirstStop) {
  const std::string whole = Generate({"sea"}, {.tokens = 12})[0].text;
  const std::string stop = whole.substr(5, 3);
  const auto cut = Generate({"sea"}, {.tokens = 12, .stops = {"\1\2\3", stop}});
  EXPECT_EQ(cut[0].text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(cut[0].end, TextEnd::kStop);
}

TEST_F(TextGeneratorTest, NumbersWithoutATokenAreNeverDrawn) {
  class GappyCodec final : public EndingCodec {
   public:
    GappyCodec() : EndingCodec(-1, 256) {}
    bool IsToken(int32_t token) const override { return token % 3 == 0; }
  };
  GappyCodec codec;
  const std::string prompts[] = {"sea"};
  for (const double temperature : {0.0, 1.0}) {
    const auto made = GenerateTexts(
        Model(), codec, prompts,
        {.tokens = 60, .sampling = {.temperature = temperature}, .seed = 1},
        Never);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ((*made)[0].text.size(), 60u);
    for (const char byte : (*made)[0].text) {
      EXPECT_EQ(static_cast<uint8_t>(byte) % 3, 0);
    }
  }
}

TEST_F(TextGeneratorTest, EndsAtEachOfSeveralEndsOfText) {
  const std::string whole = Generate({"sea"}, {.tokens = 12})[0].text;
  const auto at = [&](size_t i) { return static_cast<uint8_t>(whole[i]); };
  const auto cut = Generate({"sea"}, {.tokens = 12, .ends = {at(9), at(6)}});
  const size_t end = std::min(whole.find(whole[9]), whole.find(whole[6]));
  EXPECT_EQ(cut[0].text, whole.substr(0, end));
  EXPECT_EQ(cut[0].end, TextEnd::kDocument);
}

TEST_F(TextGeneratorTest, EndsWhereTheModelEndsTheDocument) {
  const std::string whole = Generate({"sea"}, {.tokens = 12})[0].text;
  EndingCodec codec(static_cast<uint8_t>(whole[6]), 256);
  const std::string prompts[] = {"sea"};
  const auto made =
      GenerateTexts(Model(), codec, prompts, {.tokens = 12}, Never);
  ASSERT_TRUE(made.ok()) << made.status();
  const size_t end = whole.find(whole[6]);
  EXPECT_EQ((*made)[0].text, whole.substr(0, end));
  EXPECT_EQ((*made)[0].tokens, end);
  EXPECT_EQ((*made)[0].end, TextEnd::kDocument);
}

// Its keys cannot be kept beyond what the model was made for.
TEST_F(TextGeneratorTest, ADynamicContextIsNotStretched) {
  model::ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = kVocab;
  config.n_positions = kContext;
  config.n_embd = 32;
  config.n_layer = 1;
  config.n_head = 4;
  config.n_inner = 40;
  config.rotary.scaling = model::RotaryScaling::kDynamic;
  config.rotary.factor = 4;
  config.rotary.original_positions = kContext;
  model_ = model::LanguageModel::Create(config, {}, executor_).value();
  model::InitializeParameters(model_->layout(), config, 3,
                              model_->parameters());
  const std::string prompts[] = {"sea"};
  const TextOptions options = {.tokens = 40};
  TextModel stretched = Model();
  stretched.context = 4 * kContext;
  const auto made = GenerateTexts(stretched, *codec_, prompts, options, Never);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ((*made)[0].text, Generate({"sea"}, options)[0].text);
}

TEST_F(TextGeneratorTest, TokensThatTheModelDoesNotHaveAreRefused) {
  EndingCodec codec(0, kVocab + 1);
  const std::string prompts[] = {"sea"};
  EXPECT_TRUE(absl::IsInvalidArgument(
      GenerateTexts(Model(), codec, prompts, {.tokens = 1}, Never).status()));
}

TEST_F(TextGeneratorTest, NothingIsAddedWhenNothingIsWanted) {
  EXPECT_EQ(Generate({"a"}, {.tokens = 0})[0].text, "");
  EXPECT_TRUE(Generate({}, {.tokens = 3}).empty());
}

TEST_F(TextGeneratorTest, StopsWhenItIsTold) {
  const std::string prompts[] = {"a"};
  const auto made = GenerateTexts(Model(), *codec_, prompts, {.tokens = 5},
                                  [] { return true; });
  EXPECT_TRUE(absl::IsAborted(made.status()));
}

TEST_F(TextGeneratorTest, MistakesAreNamed) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      ValidateTextOptions({.tokens = kGeneratedTokensMax + 1})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ValidateTextOptions({.tokens = 1, .stops = {""}})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ValidateTextOptions({.tokens = 1, .sampling = {.temperature = -1}})));
}

}  // namespace
}  // namespace skerry::trainer
