#include "data/sentencepiece/codec.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "data/sentencepiece/frames.h"
#include "data/sentencepiece/text_cuts.h"

namespace skerry::data {
namespace {

// Texts that are sent at a time, unless one alone has more.
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kMessageBytesMax = 400;

absl::Status Misspoken(absl::string_view what) {
  return absl::InternalError(absl::StrCat("skerry-sentencepiece: ", what));
}

// One line, whatever was sent.
std::string Line(std::string_view text) {
  std::string line(text.substr(0, kMessageBytesMax));
  for (char& c : line) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = ' ';
  }
  return line;
}

// What the codec and its clones share.
struct Model {
  std::string file;
  int vocab_size = 0;
  TextCuts cuts;
  std::optional<int32_t> mark;
  std::optional<int32_t> begin;
  OpenChannel open;
  SentencePieceCodecOptions options;
};

// A text that the library encodes by itself.
struct Item {
  std::string_view text;
  bool drops_first = false;
  bool ends_document = false;
};

// As its kind has it.
struct Answer {
  std::string text;
  std::vector<std::vector<int32_t>> lists;
};

class SentencePieceCodec final : public TextCodec {
 public:
  explicit SentencePieceCodec(std::shared_ptr<const Model> model)
      : model_(std::move(model)) {}

  int vocab_size() const override { return model_->vocab_size; }
  std::optional<int32_t> document_end() const override {
    return model_->options.document_end;
  }
  std::unique_ptr<TextCodec> Clone() const override {
    return std::make_unique<SentencePieceCodec>(model_);
  }

  absl::Status Ready() override;
  size_t PartEnd(std::string_view text, size_t at) const override;
  absl::Status AppendPart(std::string_view part, Place place,
                          std::vector<int32_t>& tokens) override;
  absl::Status AppendDocuments(std::span<const std::string> texts,
                               std::vector<int32_t>& tokens) override;
  absl::StatusOr<std::vector<int32_t>> Prompt(std::string_view text) override;
  absl::StatusOr<std::string> Decode(std::span<const int32_t> tokens) override;

 private:
  // The part of `text`, which begins where one does, that is encoded first.
  size_t FirstPart(std::string_view text) const {
    return model_->cuts.Next(text, model_->options.part_bytes);
  }
  void AddItems(std::string_view text, Place place,
                std::vector<Item>& items) const;
  // In frames of some kBatchBytes.
  absl::Status Encode(std::span<const Item> items,
                      std::vector<int32_t>& tokens);
  absl::Status EncodeBatch(std::span<const Item> batch,
                           std::vector<int32_t>& tokens);
  absl::Status Append(const Item& item, std::span<const int32_t> made,
                      std::vector<int32_t>& tokens) const;
  // The answer to a frame, of that kind and with so many texts or lists.
  absl::StatusOr<Answer> Ask(const std::optional<std::string>& frame,
                             FrameKind kind, size_t count);
  absl::StatusOr<Answer> AskOpen(const std::optional<std::string>& frame,
                                 FrameKind kind, size_t count);

  const std::shared_ptr<const Model> model_;
  std::unique_ptr<Channel> channel_;
};

absl::Status SentencePieceCodec::Ready() {
  if (channel_ != nullptr) return absl::OkStatus();
  SKERRY_ASSIGN_OR_RETURN(channel_, model_->open());
  const std::string_view file[] = {model_->file};
  SKERRY_ASSIGN_OR_RETURN(
      const Answer answer,
      AskOpen(WriteFrame(FrameKind::kOpen, file), FrameKind::kOpened, 1));
  const std::vector<int32_t>& sizes = answer.lists[0];
  if (sizes.size() == 1 && sizes[0] == model_->vocab_size) {
    return absl::OkStatus();
  }
  channel_ = nullptr;
  return Misspoken("the library counts other pieces than the file has");
}

size_t SentencePieceCodec::PartEnd(std::string_view text, size_t at) const {
  size_t end = 0;
  while (end < text.size() && end < std::max<size_t>(at, 1)) {
    end += FirstPart(text.substr(end));
  }
  return end;
}

void SentencePieceCodec::AddItems(std::string_view text, Place place,
                                  std::vector<Item>& items) const {
  bool is_first = place.is_first;
  do {
    std::string_view part = text.substr(0, FirstPart(text));
    text.remove_prefix(part.size());
    Item item;
    if (!is_first && !part.empty()) {
      const TextCuts::Beginning beginning = model_->cuts.BeginningOf(part);
      part.remove_prefix(beginning.skipped);
      item.drops_first = beginning.drops_first;
    }
    item.text = part;
    items.push_back(item);
    is_first = false;
  } while (!text.empty());
  items.back().ends_document = place.is_last;
}

absl::Status SentencePieceCodec::AppendPart(std::string_view part, Place place,
                                            std::vector<int32_t>& tokens) {
  std::vector<Item> items;
  AddItems(part, place, items);
  return Encode(items, tokens);
}

absl::Status SentencePieceCodec::AppendDocuments(
    std::span<const std::string> texts, std::vector<int32_t>& tokens) {
  std::vector<Item> items;
  for (const std::string& text : texts) AddItems(text, {}, items);
  return Encode(items, tokens);
}

absl::Status SentencePieceCodec::Encode(std::span<const Item> items,
                                        std::vector<int32_t>& tokens) {
  while (!items.empty()) {
    size_t count = 0;
    for (size_t bytes = 0; count < items.size() && bytes < kBatchBytes;) {
      // Whatever is said of each text counts too.
      bytes += items[count++].text.size() + sizeof(Item);
    }
    SKERRY_RETURN_IF_ERROR(EncodeBatch(items.first(count), tokens));
    items = items.subspan(count);
  }
  return absl::OkStatus();
}

absl::Status SentencePieceCodec::EncodeBatch(std::span<const Item> batch,
                                             std::vector<int32_t>& tokens) {
  std::vector<std::string_view> texts;
  for (const Item& item : batch) {
    if (item.text.size() > kFrameTextBytesMax - kBatchBytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a text has ", item.text.size(), " bytes in which this model allows ",
          "no cut; at most 15 MiB can be encoded at a time: give it as several "
          "documents"));
    }
    texts.push_back(item.text);
  }
  SKERRY_ASSIGN_OR_RETURN(const Answer answer,
                          Ask(WriteFrame(FrameKind::kEncode, texts),
                              FrameKind::kEncoded, texts.size()));
  for (size_t i = 0; i < batch.size(); ++i) {
    SKERRY_RETURN_IF_ERROR(Append(batch[i], answer.lists[i], tokens));
  }
  return absl::OkStatus();
}

absl::Status SentencePieceCodec::Append(const Item& item,
                                        std::span<const int32_t> made,
                                        std::vector<int32_t>& tokens) const {
  for (const int32_t token : made) {
    if (token < 0 || token >= model_->vocab_size) {
      return Misspoken("a token is not the model's");
    }
  }
  if (item.drops_first) {
    if (made.empty() || made[0] != model_->mark) {
      return Misspoken("a part does not begin with a space");
    }
    made = made.subspan(1);
  }
  tokens.insert(tokens.end(), made.begin(), made.end());
  if (item.ends_document && model_->options.document_end.has_value()) {
    tokens.push_back(*model_->options.document_end);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int32_t>> SentencePieceCodec::Prompt(
    std::string_view text) {
  std::vector<int32_t> tokens;
  const Place place{.is_first = true, .is_last = false};
  SKERRY_RETURN_IF_ERROR(AppendPart(text, place, tokens));
  // In the stream of training a document begins after the end of another.
  if (tokens.empty() && document_end().has_value()) {
    tokens.push_back(*document_end());
  }
  if (tokens.empty()) SKERRY_RETURN_IF_ERROR(AppendPart("\n", place, tokens));
  // A normalizer may leave nothing of a line feed.
  if (tokens.empty()) tokens.push_back(model_->begin.value_or(0));
  return tokens;
}

absl::StatusOr<std::string> SentencePieceCodec::Decode(
    std::span<const int32_t> tokens) {
  for (const int32_t token : tokens) {
    if (token < 0 || token >= model_->vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          token, " is no token of this model, which has ", model_->vocab_size));
    }
  }
  const std::vector<int32_t> list[] = {{tokens.begin(), tokens.end()}};
  SKERRY_ASSIGN_OR_RETURN(
      Answer answer,
      Ask(WriteFrame(FrameKind::kDecode, list), FrameKind::kDecoded, 1));
  return std::move(answer.text);
}

absl::StatusOr<Answer> SentencePieceCodec::Ask(
    const std::optional<std::string>& frame, FrameKind kind, size_t count) {
  SKERRY_RETURN_IF_ERROR(Ready());
  return AskOpen(frame, kind, count);
}

absl::StatusOr<Answer> SentencePieceCodec::AskOpen(
    const std::optional<std::string>& frame, FrameKind kind, size_t count) {
  if (!frame.has_value()) {
    return absl::InvalidArgumentError("there is too much for one frame");
  }
  // Whatever goes wrong, the next call begins with a new process.
  std::unique_ptr<Channel> channel = std::move(channel_);
  SKERRY_ASSIGN_OR_RETURN(const std::string bytes, channel->Exchange(*frame));
  std::string why;
  std::optional<Frame> parsed = ParseFrame(bytes, why);
  if (!parsed.has_value()) return Misspoken(why);
  if (parsed->kind == FrameKind::kFailed) {
    return absl::InvalidArgumentError(Line(parsed->texts[0]));
  }
  if (parsed->kind != kind ||
      parsed->texts.size() + parsed->lists.size() != count) {
    return Misspoken("the answer is to another question");
  }
  channel_ = std::move(channel);
  Answer answer{.text = "", .lists = std::move(parsed->lists)};
  if (!parsed->texts.empty()) answer.text = parsed->texts[0];
  return answer;
}

}  // namespace

std::unique_ptr<TextCodec> MakeSentencePieceCodec(
    std::string file, const SentencePieceModel& model, OpenChannel open,
    const SentencePieceCodecOptions& options) {
  SKERRY_CHECK(options.part_bytes >= 16);
  std::optional<int32_t> mark;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const bool is_special = model.pieces[i].kind != PieceKind::kNormal &&
                            model.pieces[i].kind != PieceKind::kUserDefined;
    if (!is_special && model.pieces[i].text == "\xe2\x96\x81") {
      mark = static_cast<int32_t>(i);
    }
  }
  return std::make_unique<SentencePieceCodec>(std::make_shared<const Model>(
      Model{.file = std::move(file),
            .vocab_size = static_cast<int>(model.pieces.size()),
            .cuts = TextCuts(model),
            .mark = mark,
            .begin = BeginPiece(model),
            .open = std::move(open),
            .options = options}));
}

}  // namespace skerry::data
