#include "trainer/core/text_generator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status.h"
#include "model/exec/token_decoder.h"
#include "trainer/core/text_stream.h"

namespace skerry::trainer {
namespace {

using model::TokenDecoder;

constexpr size_t kSlotsMax = 16;
constexpr size_t kPromptStep = 64;

// One text that grows.
class Sequence {
 public:
  Sequence(std::vector<int32_t> tokens, TextStream text, uint64_t seed)
      : tokens_(std::move(tokens)), text_(std::move(text)), random_(seed) {}

  const std::vector<int32_t>& tokens() const { return tokens_; }
  const GeneratedText& made() const { return made_; }
  bool is_done() const { return is_done_; }

  // Takes the next token and sees whether the text is over.
  absl::Status Add(std::span<const float> logits,
                   const std::vector<bool>& is_token,
                   const TextOptions& options, data::TextCodec& codec) {
    SKERRY_ASSIGN_OR_RETURN(
        const int32_t token,
        SampleToken(logits, is_token, options.sampling, random_));
    if (token == codec.document_end() ||
        std::find(options.ends.begin(), options.ends.end(), token) !=
            options.ends.end()) {
      Finish(TextEnd::kDocument, options);
      return absl::OkStatus();
    }
    tokens_.push_back(token);
    ++made_.tokens;
    SKERRY_ASSIGN_OR_RETURN(const std::string text, text_.Add(tokens_, codec));
    Take(text, options);
    if (!is_done_ && made_.tokens == options.tokens) {
      Finish(TextEnd::kLength, options);
    }
    return absl::OkStatus();
  }

 private:
  // The text is over when a stop string is in it.
  void Take(const std::string& text, const TextOptions& options) {
    const size_t before = made_.text.size();
    made_.text += text;
    size_t first = std::string::npos;
    for (const std::string& stop : options.stops) {
      const size_t from = before - std::min(before, stop.size() - 1);
      first = std::min(first, made_.text.find(stop, from));
    }
    if (first == std::string::npos) return;
    made_.text.resize(first);
    made_.end = TextEnd::kStop;
    is_done_ = true;
  }

  void Finish(TextEnd end, const TextOptions& options) {
    Take(text_.rest(), options);
    if (is_done_) return;
    made_.end = end;
    is_done_ = true;
  }

  std::vector<int32_t> tokens_;
  TextStream text_;
  Random random_;
  GeneratedText made_;
  bool is_done_ = false;
};

// Which numbers are tokens; empty when all are.
std::vector<bool> TokensOf(const data::TextCodec& codec) {
  std::vector<bool> is_token(static_cast<size_t>(codec.vocab_size()));
  for (size_t i = 0; i < is_token.size(); ++i) {
    is_token[i] = codec.IsToken(static_cast<int32_t>(i));
  }
  const bool has_all =
      std::find(is_token.begin(), is_token.end(), false) == is_token.end();
  return has_all ? std::vector<bool>() : is_token;
}

// Up to kSlotsMax sequences side by side.
class Batch {
 public:
  Batch(const TextModel& model, data::TextCodec& codec,
        const TextOptions& options, size_t context, TokenDecoder& decoder)
      : model_(model),
        codec_(codec),
        options_(options),
        context_(context),
        decoder_(decoder),
        vocab_(
            static_cast<size_t>(model.graph.operators.rbegin()[1].out_width)),
        is_token_(TokensOf(codec)) {}

  absl::Status Run(std::span<Sequence> sequences, StopRequested stop) {
    for (size_t slot = 0; slot < sequences.size(); ++slot) {
      SKERRY_RETURN_IF_ERROR(
          Begin(static_cast<int>(slot), sequences[slot], context_, stop));
    }
    for (;;) {
      if (stop()) return absl::AbortedError("the trainer was paused");
      std::vector<TokenDecoder::SlotToken> next;
      std::vector<Sequence*> live;
      for (size_t slot = 0; slot < sequences.size(); ++slot) {
        Sequence& sequence = sequences[slot];
        if (sequence.is_done()) continue;
        const int number = static_cast<int>(slot);
        if (static_cast<size_t>(decoder_.length(number)) == context_) {
          SKERRY_RETURN_IF_ERROR(
              Begin(number, sequence, std::max<size_t>(1, context_ / 2), stop));
          continue;
        }
        next.push_back({number, sequence.tokens().back()});
        live.push_back(&sequence);
      }
      if (next.empty() && AllDone(sequences)) return absl::OkStatus();
      if (next.empty()) continue;
      logits_.resize(next.size() * vocab_);
      decoder_.Append(next, model_.parameters, logits_);
      for (size_t i = 0; i < live.size(); ++i) {
        SKERRY_RETURN_IF_ERROR(Draw(i, *live[i]));
      }
    }
  }

 private:
  static bool AllDone(std::span<const Sequence> sequences) {
    return std::all_of(sequences.begin(), sequences.end(),
                       [](const Sequence& s) { return s.is_done(); });
  }

  // Row `i` of the logits, without what the tokenizer does not have.
  absl::Status Draw(size_t i, Sequence& sequence) {
    return sequence.Add(
        std::span<const float>(logits_).subspan(
            i * vocab_, static_cast<size_t>(codec_.vocab_size())),
        is_token_, options_, codec_);
  }

  // Puts the last `keep` tokens of the sequence into its slot, and draws one.
  absl::Status Begin(int slot, Sequence& sequence, size_t keep,
                     StopRequested stop) {
    decoder_.Clear(slot);
    std::span<const int32_t> left = sequence.tokens();
    left = left.last(std::min(left.size(), keep));
    logits_.resize(vocab_);
    while (!left.empty()) {
      if (stop()) return absl::AbortedError("the trainer was paused");
      std::vector<TokenDecoder::SlotToken> part;
      const size_t count = std::min(left.size(), kPromptStep);
      for (const int32_t token : left.first(count)) {
        part.push_back({slot, token});
      }
      left = left.subspan(count);
      decoder_.Append(
          part, model_.parameters,
          left.empty() ? std::span<float>(logits_) : std::span<float>());
    }
    return Draw(0, sequence);
  }

  const TextModel& model_;
  data::TextCodec& codec_;
  const TextOptions& options_;
  const size_t context_;
  TokenDecoder& decoder_;
  const size_t vocab_;
  const std::vector<bool> is_token_;
  std::vector<float> logits_;
};

// Keys and values are kept for as many tokens as can come up, no more.
int ContextOf(const TextModel& model, std::span<const Sequence> sequences,
              uint64_t tokens) {
  size_t longest = 0;
  for (const Sequence& sequence : sequences) {
    longest = std::max(longest, sequence.tokens().size());
  }
  const int most = TokenDecoder::ContextMax(model.graph, model.context);
  return static_cast<int>(
      std::min<uint64_t>(static_cast<uint64_t>(most), longest + tokens));
}

}  // namespace

absl::Status ValidateTextOptions(const TextOptions& options) {
  if (options.tokens > kGeneratedTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("generate takes at most ", kGeneratedTokensMax,
                     " tokens, not ", options.tokens));
  }
  for (const std::string& stop : options.stops) {
    if (stop.empty()) {
      return absl::InvalidArgumentError("a stop string is empty");
    }
  }
  return ValidateSampling(options.sampling);
}

absl::StatusOr<std::vector<GeneratedText>> GenerateTexts(
    const TextModel& model, data::TextCodec& codec,
    std::span<const std::string> prompts, const TextOptions& options,
    StopRequested stop) {
  const int vocab = model.graph.operators.rbegin()[1].out_width;
  if (codec.vocab_size() > vocab) {
    return absl::InvalidArgumentError(
        absl::StrCat("the tokenizer has ", codec.vocab_size(),
                     " tokens, the model ", vocab));
  }
  std::vector<GeneratedText> texts(prompts.size());
  if (options.tokens == 0 || prompts.empty()) return texts;
  std::vector<Sequence> sequences;
  for (size_t i = 0; i < prompts.size(); ++i) {
    SKERRY_ASSIGN_OR_RETURN(std::vector<int32_t> prompt,
                            codec.Prompt(prompts[i]));
    SKERRY_ASSIGN_OR_RETURN(TextStream text, TextStream::After(prompt, codec));
    sequences.emplace_back(std::move(prompt), std::move(text),
                           options.seed + i);
  }
  const int context = ContextOf(model, sequences, options.tokens);
  SKERRY_ASSIGN_OR_RETURN(
      const std::unique_ptr<TokenDecoder> decoder,
      TokenDecoder::Create(
          model.graph, model.context,
          {.slots = static_cast<int>(std::min(prompts.size(), kSlotsMax)),
           .context = context,
           .tokens_max = static_cast<int>(kPromptStep)},
          model.gemm, model.executor));
  Batch batch(model, codec, options, static_cast<size_t>(context), *decoder);
  for (size_t begin = 0; begin < sequences.size(); begin += kSlotsMax) {
    const size_t count = std::min(kSlotsMax, sequences.size() - begin);
    SKERRY_RETURN_IF_ERROR(
        batch.Run(std::span(sequences).subspan(begin, count), stop));
  }
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = sequences[i].made();
  return texts;
}

}  // namespace skerry::trainer
