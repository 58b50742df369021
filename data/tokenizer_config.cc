#include "data/tokenizer_config.h"

#include "data/sentencepiece/model_file.h"
#include "data/tokenizer/text_codec.h"
#include "data/tokenizer/tokenizer_json.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using Json = nlohmann::ordered_json;

// AutoTokenizer's class for any model of sentencepiece; as the library alone
// would, it adds nothing to a text.
void DescribeModel(std::string_view file, Json& json) {
  json["tokenizer_class"] = "LlamaTokenizer";
  json["legacy"] = true;
  json["add_bos_token"] = false;
  json["add_eos_token"] = false;
  const auto model = ParseSentencePieceModel(file);
  if (!model.ok()) return;
  const auto unknown = UnknownPiece(*model);
  if (!unknown.has_value()) return;
  json["unk_token"] = model->pieces[static_cast<size_t>(*unknown)].text;
}

SpecialTokens SpecialPieces(std::string_view file,
                            std::span<const int32_t> ends) {
  const auto model = ParseSentencePieceModel(file);
  if (!model.ok()) return {};
  const auto piece =
      [&](std::optional<int32_t> token) -> std::optional<SpecialToken> {
    if (!token.has_value()) return std::nullopt;
    return SpecialToken{*token,
                        model->pieces[static_cast<size_t>(*token)].text};
  };
  std::optional<int32_t> end = EndPiece(*model);
  for (const int32_t named : ends) {
    if (named < 0 || static_cast<size_t>(named) >= model->pieces.size()) {
      continue;
    }
    const PieceKind kind = model->pieces[static_cast<size_t>(named)].kind;
    if (kind != PieceKind::kControl && kind != PieceKind::kUserDefined) {
      continue;
    }
    end = named;
    break;
  }
  return {piece(BeginPiece(*model)), piece(end)};
}

SpecialTokens SpecialAdded(const Tokenizer& tokenizer,
                           std::span<const int32_t> ends) {
  const auto find = [&](int32_t token) -> std::optional<SpecialToken> {
    for (const AddedToken& added : tokenizer.added()) {
      if (added.token == token) return SpecialToken{token, added.content};
    }
    return std::nullopt;
  };
  SpecialTokens special;
  for (const int32_t named : ends) {
    if (!special.end.has_value()) special.end = find(named);
  }
  if (!special.end.has_value()) {
    if (const auto usual = UsualDocumentEnd(tokenizer)) {
      special.end = find(*usual);
    }
  }
  // Without a beginning of its own a text follows the end of another.
  special.begin =
      tokenizer.prefix().empty() ? special.end : find(tokenizer.prefix()[0]);
  return special;
}

}  // namespace

std::string_view TokenizerFileName(std::string_view tokenizer) {
  // A JSON text may begin with line feeds too.
  const size_t first = tokenizer.find_first_not_of(" \t\r\n");
  const bool is_json =
      first == std::string_view::npos || tokenizer[first] == '{';
  return LooksLikeSentencePiece(tokenizer) && !is_json ? kTokenizerModelFile
                                                       : kTokenizerJsonFile;
}

SpecialTokens FindSpecialTokens(std::string_view tokenizer,
                                std::span<const int32_t> ends) {
  if (TokenizerFileName(tokenizer) == kTokenizerModelFile) {
    return SpecialPieces(tokenizer, ends);
  }
  const auto parsed = ParseTokenizerJson(tokenizer);
  return parsed.ok() ? SpecialAdded(*parsed, ends) : SpecialTokens();
}

std::string TokenizerConfigJson(std::string_view tokenizer, int context_length,
                                const SpecialTokens& special) {
  Json json;
  if (TokenizerFileName(tokenizer) == kTokenizerModelFile) {
    DescribeModel(tokenizer, json);
  } else {
    json["tokenizer_class"] = "PreTrainedTokenizerFast";
  }
  if (special.begin.has_value()) json["bos_token"] = special.begin->text;
  if (special.end.has_value()) json["eos_token"] = special.end->text;
  json["model_max_length"] = context_length;
  json["clean_up_tokenization_spaces"] = false;
  return json.dump(1, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace skerry::data
