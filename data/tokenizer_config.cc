#include "data/tokenizer_config.h"

#include "data/sentencepiece/model_file.h"
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
  const auto name = [&](const char* key, std::optional<int32_t> token) {
    if (!token.has_value()) return;
    json[key] = model->pieces[static_cast<size_t>(*token)].text;
  };
  name("bos_token", BeginPiece(*model));
  name("eos_token", EndPiece(*model));
  name("unk_token", UnknownPiece(*model));
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

std::string TokenizerConfigJson(std::string_view tokenizer,
                                int context_length) {
  Json json;
  if (TokenizerFileName(tokenizer) == kTokenizerModelFile) {
    DescribeModel(tokenizer, json);
  } else {
    json["tokenizer_class"] = "PreTrainedTokenizerFast";
  }
  json["model_max_length"] = context_length;
  json["clean_up_tokenization_spaces"] = false;
  return json.dump(1, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace skerry::data
