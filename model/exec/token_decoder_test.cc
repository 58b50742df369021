#include "model/exec/token_decoder.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "base/testing/golden_file.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/exec/language_model.h"

namespace skerry::model {
namespace {

using ::skerry::testing::RelativeError;

constexpr int kVocab = 61;
constexpr int kContext = 24;

ModelConfig Gpt2() {
  ModelConfig config;
  config.vocab_size = kVocab;
  config.n_positions = kContext;
  config.n_embd = 40;
  config.n_layer = 2;
  config.n_head = 4;
  return config;
}

ModelConfig Gpt2WithDropout() {
  ModelConfig config = Gpt2();
  config.embd_pdrop = config.resid_pdrop = config.attn_pdrop = 0.25;
  return config;
}

ModelConfig Llama(RotaryScaling scaling) {
  ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = kVocab;
  config.n_positions = kContext;
  config.n_embd = 30;
  config.n_layer = 2;
  config.n_head = 6;
  config.n_kv_head = 2;
  config.head_dim = 10;
  config.n_inner = 43;
  config.tie_word_embeddings = false;
  config.rotary.scaling = scaling;
  config.rotary.factor = 2;
  config.rotary.original_positions = kContext;
  return config;
}

std::vector<int32_t> RandomTokens(uint64_t seed, int count) {
  Random random(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(random.Below(kVocab));
  }
  return tokens;
}

// The logits after the last token.
std::vector<float> Last(const std::vector<float>& logits) {
  return {logits.end() - kVocab, logits.end()};
}

class TokenDecoderTest : public ::testing::TestWithParam<ModelConfig> {
 protected:
  TokenDecoderTest() {
    model_ = LanguageModel::Create(GetParam(), {}, executor_).value();
    InitializeParameters(model_->layout(), GetParam(), 3, model_->parameters());
    // Larger weights than a fresh model's, so that attention is not flat.
    for (float& p : model_->parameters()) p *= 5;
  }
  std::unique_ptr<TokenDecoder> MakeDecoder(int slots) {
    return TokenDecoder::Create(
               model_->graph(), kContext,
               {.slots = slots, .context = kContext, .tokens_max = 8},
               cpu::DefaultGemmBackend(), executor_)
        .value();
  }
  std::vector<float> Full(const std::vector<int32_t>& tokens) {
    std::vector<float> logits(tokens.size() * kVocab);
    model_->Logits(tokens, 1, static_cast<int>(tokens.size()), logits);
    return logits;
  }

  InlineExecutor executor_;
  std::unique_ptr<LanguageModel> model_;
};

INSTANTIATE_TEST_SUITE_P(Families, TokenDecoderTest,
                         ::testing::Values(Gpt2(), Gpt2WithDropout(),
                                           Llama(RotaryScaling::kNone),
                                           Llama(RotaryScaling::kDynamic)));

TEST_P(TokenDecoderTest, LogitsAreThoseOfTheFullForward) {
  const std::vector<int32_t> tokens = RandomTokens(1, kContext);
  const std::vector<float> full = Full(tokens);
  const auto decoder = MakeDecoder(1);
  std::vector<float> logits(tokens.size() * kVocab);
  for (size_t at = 0, step = 1; at < tokens.size(); at += step) {
    step = std::min<size_t>(at % 5 + 1, tokens.size() - at);
    std::vector<TokenDecoder::SlotToken> next;
    for (size_t i = at; i < at + step; ++i) next.push_back({0, tokens[i]});
    decoder->Append(next, model_->parameters(),
                    std::span(logits).subspan(at * kVocab, step * kVocab));
  }
  EXPECT_EQ(decoder->length(0), kContext);
  EXPECT_LT(RelativeError(logits.data(), logits.size(), full), 1e-5);
}

TEST_P(TokenDecoderTest, SlotsDoNotSeeOneAnother) {
  const std::vector<int32_t> a = RandomTokens(2, 12);
  const std::vector<int32_t> b = RandomTokens(3, 7);
  const auto decoder = MakeDecoder(2);
  std::vector<float> logits(kVocab);
  // One is cleared and begun again behind the other.
  decoder->Append({{{1, a[0]}}}, model_->parameters(), {});
  decoder->Clear(1);
  for (size_t i = 0; i < b.size(); ++i) {
    const TokenDecoder::SlotToken pair[] = {{0, a[i]}, {1, b[i]}};
    decoder->Append(pair, model_->parameters(), logits);
  }
  const std::vector<float> full_b = Full(b);
  EXPECT_LT(RelativeError(logits.data(), kVocab, Last(full_b)), 1e-5);
  for (size_t i = b.size(); i < a.size(); ++i) {
    decoder->Append({{{0, a[i]}}}, model_->parameters(), logits);
  }
  const std::vector<float> full_a = Full(a);
  EXPECT_LT(RelativeError(logits.data(), kVocab, Last(full_a)), 1e-5);
}

TEST_P(TokenDecoderTest, SequencesBeyondTheContextAreRefused) {
  const auto made = TokenDecoder::Create(model_->graph(), kContext,
                                         {.slots = 1, .context = kContext + 1},
                                         cpu::DefaultGemmBackend(), executor_);
  EXPECT_TRUE(absl::IsInvalidArgument(made.status()));
}

}  // namespace
}  // namespace skerry::model
