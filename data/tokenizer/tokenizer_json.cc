#include "data/tokenizer/tokenizer_json.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status.h"
#include "data/tokenizer/byte_alphabet.h"
#include "data/tokenizer/nfc.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using Json = nlohmann::json;
using Numbers = absl::flat_hash_map<std::string, int32_t>;

// No public vocabulary comes near it.
constexpr uint64_t kTokensMax = uint64_t{1} << 22;
// How deep Sequences of normalizers may nest.
constexpr int kNormalizersMax = 4;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("tokenizer.json: ", parts...));
}

// A stranger's words, fit for one line.
std::string Shown(const std::string& text) {
  constexpr size_t kShownMax = 60;
  return absl::StrCat("'", absl::Utf8SafeCEscape(text.substr(0, kShownMax)),
                      "'");
}

// Null when it is absent or null.
const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

absl::Status CheckKeys(const Json& object, const char* what,
                       std::initializer_list<absl::string_view> known) {
  if (!object.is_object()) return Bad(what, " is not an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), absl::string_view(key)) ==
        known.end()) {
      return Bad(what, " has the key ", Shown(key),
                 ", which Skerry does not read");
    }
  }
  return absl::OkStatus();
}

// `otherwise` when it is absent.
absl::StatusOr<bool> BoolAt(const Json& object, const char* key,
                            bool otherwise) {
  const Json* value = Find(object, key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return Bad(key, " is neither true nor false");
  return value->get<bool>();
}

absl::StatusOr<std::string> StringAt(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  if (value == nullptr || !value->is_string()) {
    return Bad(key, " is missing, or no string");
  }
  return value->get<std::string>();
}

absl::StatusOr<int32_t> NumberOf(const Json& value) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() >= kTokensMax) {
    return Bad("a token's number is not in 0..", kTokensMax - 1);
  }
  return static_cast<int32_t>(value.get<uint64_t>());
}

// Anything else than nothing changes tokens in a way that Skerry does not.
absl::Status MustBeAbsent(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  if (value == nullptr) return absl::OkStatus();
  if (value->is_string() && value->get<std::string>().empty()) {
    return absl::OkStatus();
  }
  const Json* type = Find(*value, "type");
  return Bad(key, " must be null",
             type != nullptr && type->is_string()
                 ? absl::StrCat(", not ", Shown(type->get<std::string>()))
                 : "");
}

// Reads the whole file into Tokenizer::Parts, part by part.
class Reader {
 public:
  absl::StatusOr<Tokenizer::Parts> Read(const Json& json) {
    SKERRY_RETURN_IF_ERROR(CheckKeys(
        json, "the file",
        {"version", "truncation", "padding", "added_tokens", "normalizer",
         "pre_tokenizer", "post_processor", "decoder", "model"}));
    // They cut and fill batches for training; encoding a text needs neither.
    for (const char* key : {"truncation", "padding"}) {
      if (Find(json, key) == nullptr) continue;
      Note(key, " is saved in the file and not applied");
    }
    if (const Json* normalizer = Find(json, "normalizer")) {
      SKERRY_RETURN_IF_ERROR(ReadNormalizer(*normalizer, kNormalizersMax));
    }
    const Json* model = Find(json, "model");
    const Json* pre_tokenizer = Find(json, "pre_tokenizer");
    const Json* decoder = Find(json, "decoder");
    if (model == nullptr) return Bad("has no model");
    if (pre_tokenizer == nullptr) return Bad("has no pre_tokenizer");
    if (decoder == nullptr || Find(*decoder, "type") == nullptr ||
        *Find(*decoder, "type") != "ByteLevel") {
      return Bad("the decoder is not ByteLevel");
    }
    SKERRY_RETURN_IF_ERROR(ReadModel(*model));
    if (const Json* added = Find(json, "added_tokens")) {
      SKERRY_RETURN_IF_ERROR(ReadAdded(*added));
    }
    SKERRY_RETURN_IF_ERROR(ReadPreTokenizer(*pre_tokenizer));
    if (const Json* post_processor = Find(json, "post_processor")) {
      SKERRY_RETURN_IF_ERROR(ReadPostProcessor(*post_processor));
    }
    return std::move(parts_);
  }

 private:
  template <typename... Words>
  void Note(const Words&... words) {
    parts_.notes.push_back(absl::StrCat(words...));
  }
  absl::Status ReadNormalizer(const Json& json, int depth_max);
  absl::Status ReadModel(const Json& model);
  absl::Status ReadVocabulary(const Json& vocabulary);
  absl::Status ReadMerges(const Json& merges);
  absl::Status ReadBytes();
  absl::Status AddToken(const std::string& written, int32_t token);
  absl::Status ReadAdded(const Json& added);
  absl::Status ReadOneAdded(const Json& json, size_t index);
  // The number that the package gives an added token, whatever the file says.
  absl::StatusOr<int32_t> NumberAdded(const AddedToken& token);
  absl::Status ReadPreTokenizer(const Json& json);
  absl::Status ReadSplitSequence(const Json& json);
  absl::Status ReadPostProcessor(const Json& json);
  absl::Status ReadTemplate(const Json& json);
  absl::Status AddSpecial(const std::string& id, const Json& known,
                          std::vector<int32_t>& to);

  Tokenizer::Parts parts_;
  // By how the file writes them.
  Numbers numbers_;
  // Index in parts_.added, by content.
  absl::flat_hash_map<std::string, size_t> added_;
  // One more than the largest number of an added token.
  int32_t after_added_ = 0;
};

absl::Status Reader::ReadNormalizer(const Json& json, int depth_max) {
  SKERRY_ASSIGN_OR_RETURN(const std::string type, StringAt(json, "type"));
  if (type == "NFC") {
    parts_.normalizes = true;
    return absl::OkStatus();
  }
  const Json* steps = Find(json, "normalizers");
  if (type != "Sequence" || steps == nullptr || !steps->is_array() ||
      depth_max == 0) {
    return Bad("the normalizer is ", Shown(type),
               ", which Skerry does not do; it does NFC, and a Sequence of it "
               "or of nothing");
  }
  for (const Json& step : *steps) {
    SKERRY_RETURN_IF_ERROR(ReadNormalizer(step, depth_max - 1));
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadModel(const Json& model) {
  SKERRY_RETURN_IF_ERROR(
      CheckKeys(model, "the model",
                {"type", "dropout", "unk_token", "continuing_subword_prefix",
                 "end_of_word_suffix", "fuse_unk", "byte_fallback",
                 "ignore_merges", "vocab", "merges"}));
  const Json* type = Find(model, "type");
  if (type != nullptr && *type != "BPE") return Bad("the model is not BPE");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    SKERRY_RETURN_IF_ERROR(MustBeAbsent(model, key));
  }
  const Json* dropout = Find(model, "dropout");
  if (dropout != nullptr && *dropout != 0) {
    return Bad("the model's dropout is ", dropout->dump(),
               ", with which a text has other tokens every time; set it to "
               "null");
  }
  const Json* vocabulary = Find(model, "vocab");
  const Json* merges = Find(model, "merges");
  if (vocabulary == nullptr || !vocabulary->is_object()) {
    return Bad("the model has no vocab");
  }
  if (merges == nullptr || !merges->is_array()) {
    return Bad("the model has no merges");
  }
  SKERRY_RETURN_IF_ERROR(ReadVocabulary(*vocabulary));
  SKERRY_RETURN_IF_ERROR(ReadBytes());
  SKERRY_RETURN_IF_ERROR(ReadMerges(*merges));
  SKERRY_ASSIGN_OR_RETURN(const bool ignore_merges,
                          BoolAt(model, "ignore_merges", false));
  if (!ignore_merges) return absl::OkStatus();
  for (const auto& [written, token] : numbers_) {
    if (auto bytes = data::ReadBytes(written)) {
      parts_.model.whole_pieces.emplace(*std::move(bytes), token);
    }
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadVocabulary(const Json& vocabulary) {
  for (const auto& [written, value] : vocabulary.items()) {
    SKERRY_ASSIGN_OR_RETURN(const int32_t token, NumberOf(value));
    SKERRY_RETURN_IF_ERROR(AddToken(written, token));
    numbers_.emplace(written, token);
  }
  return absl::OkStatus();
}

absl::Status Reader::AddToken(const std::string& written, int32_t token) {
  const auto index = static_cast<size_t>(token);
  if (parts_.token_bytes.size() <= index) parts_.token_bytes.resize(index + 1);
  if (parts_.token_bytes[index].has_value()) {
    return Bad("two tokens have the number ", token);
  }
  auto bytes = data::ReadBytes(written);
  parts_.token_bytes[index] = bytes.has_value() ? *std::move(bytes) : written;
  return absl::OkStatus();
}

absl::Status Reader::ReadBytes() {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const auto found = numbers_.find(WriteBytes(std::string_view(&c, 1)));
    if (found == numbers_.end()) {
      return Bad("the vocabulary has no token for byte ", byte,
                 "; Skerry reads byte-level encodings");
    }
    parts_.model.byte_tokens[static_cast<size_t>(byte)] = found->second;
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadMerges(const Json& merges) {
  parts_.model.merges.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const Json& merge = merges[i];
    std::string left, right;
    if (merge.is_string()) {
      left = merge.get<std::string>();
      const size_t space = left.find(' ');
      if (space == std::string::npos) return Bad("merge ", i, " is no pair");
      right = left.substr(space + 1);
      left.resize(space);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      left = merge[0].get<std::string>();
      right = merge[1].get<std::string>();
    } else {
      return Bad("merge ", i, " is no pair");
    }
    const auto first = numbers_.find(left);
    const auto second = numbers_.find(right);
    const auto both = numbers_.find(left + right);
    if (first == numbers_.end() || second == numbers_.end() ||
        both == numbers_.end()) {
      return Bad("merge ", i, " names what is not in the vocabulary");
    }
    parts_.model.merges.push_back(
        {first->second, second->second, both->second});
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadAdded(const Json& added) {
  if (!added.is_array()) return Bad("added_tokens is not a list");
  for (size_t i = 0; i < added.size(); ++i) {
    SKERRY_RETURN_IF_ERROR(ReadOneAdded(added[i], i));
  }
  return absl::OkStatus();
}

absl::StatusOr<int32_t> Reader::NumberAdded(const AddedToken& token) {
  const auto in_vocabulary = numbers_.find(token.content);
  if (in_vocabulary != numbers_.end()) return in_vocabulary->second;
  // Added tokens follow the vocabulary as if it had no gaps.
  const int32_t number =
      std::max(static_cast<int32_t>(numbers_.size()), after_added_);
  const bool is_normal = parts_.normalizes && token.normalized;
  SKERRY_RETURN_IF_ERROR(
      AddToken(is_normal ? ToNfc(token.content) : token.content, number));
  return number;
}

absl::Status Reader::ReadOneAdded(const Json& json, size_t index) {
  SKERRY_RETURN_IF_ERROR(CheckKeys(json, "an added token",
                                   {"id", "content", "single_word", "lstrip",
                                    "rstrip", "normalized", "special"}));
  AddedToken token;
  SKERRY_ASSIGN_OR_RETURN(token.content, StringAt(json, "content"));
  if (!json.contains("id")) return Bad("added token ", index, " has no id");
  SKERRY_ASSIGN_OR_RETURN(const int32_t written, NumberOf(json["id"]));
  // It can be found nowhere.
  if (token.content.empty()) return absl::OkStatus();
  for (const char* key : {"single_word", "lstrip", "rstrip"}) {
    SKERRY_ASSIGN_OR_RETURN(const bool value, BoolAt(json, key, false));
    if (value) {
      return Bad("added token ", Shown(token.content), " has ", key,
                 ", which Skerry does not do");
    }
  }
  SKERRY_ASSIGN_OR_RETURN(token.special, BoolAt(json, "special", false));
  SKERRY_ASSIGN_OR_RETURN(token.normalized,
                          BoolAt(json, "normalized", !token.special));
  const auto found = added_.find(token.content);
  if (found != added_.end()) {
    const AddedToken& first = parts_.added[found->second];
    token.token = first.token;
    if (token == first) return absl::OkStatus();
    return Bad("the added token ", Shown(token.content),
               " is there twice, once special or normalized and once not; "
               "remove one of them");
  }
  SKERRY_ASSIGN_OR_RETURN(token.token, NumberAdded(token));
  if (token.token != written) {
    Note("the added token ", Shown(token.content), " has the number ",
         token.token, ", as in the tokenizers package, and not ", written);
  }
  after_added_ = std::max(after_added_, token.token + 1);
  added_.emplace(token.content, parts_.added.size());
  parts_.added.push_back(std::move(token));
  return absl::OkStatus();
}

absl::Status Reader::ReadPreTokenizer(const Json& json) {
  SKERRY_ASSIGN_OR_RETURN(const std::string type, StringAt(json, "type"));
  if (type == "Sequence") return ReadSplitSequence(json);
  if (type != "ByteLevel") {
    return Bad("pre_tokenizer ", Shown(type),
               " is neither ByteLevel nor a "
               "Sequence of Split and ByteLevel");
  }
  SKERRY_RETURN_IF_ERROR(
      CheckKeys(json, "the pre_tokenizer",
                {"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  SKERRY_ASSIGN_OR_RETURN(parts_.add_prefix_space,
                          BoolAt(json, "add_prefix_space", true));
  SKERRY_ASSIGN_OR_RETURN(const bool use_regex,
                          BoolAt(json, "use_regex", true));
  parts_.pattern = use_regex ? SplitPattern::kGpt2 : SplitPattern::kWhole;
  return absl::OkStatus();
}

absl::Status Reader::ReadSplitSequence(const Json& json) {
  const Json* steps = Find(json, "pretokenizers");
  if (steps == nullptr || !steps->is_array() || steps->size() != 2 ||
      !(*steps)[0].is_object() || !(*steps)[1].is_object()) {
    return Bad("the pre_tokenizer is not a Sequence of two");
  }
  const Json& split = (*steps)[0];
  const Json& bytes = (*steps)[1];
  SKERRY_RETURN_IF_ERROR(CheckKeys(split, "the pre_tokenizer's Split",
                                   {"type", "pattern", "behavior", "invert"}));
  SKERRY_RETURN_IF_ERROR(
      CheckKeys(bytes, "the pre_tokenizer's ByteLevel",
                {"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string first, StringAt(split, "type"));
  SKERRY_ASSIGN_OR_RETURN(const std::string second, StringAt(bytes, "type"));
  if (first != "Split" || second != "ByteLevel") {
    return Bad("the pre_tokenizer's Sequence is not Split, ByteLevel");
  }
  SKERRY_ASSIGN_OR_RETURN(const std::string behavior,
                          StringAt(split, "behavior"));
  SKERRY_ASSIGN_OR_RETURN(const bool invert, BoolAt(split, "invert", false));
  SKERRY_ASSIGN_OR_RETURN(const bool prefix_space,
                          BoolAt(bytes, "add_prefix_space", true));
  SKERRY_ASSIGN_OR_RETURN(const bool use_regex,
                          BoolAt(bytes, "use_regex", true));
  if (behavior != "Isolated" || invert || prefix_space || use_regex) {
    return Bad(
        "the pre_tokenizer's Split must be Isolated and not inverted, "
        "its ByteLevel without add_prefix_space and use_regex");
  }
  const Json* pattern = Find(split, "pattern");
  if (pattern == nullptr)
    return Bad("the pre_tokenizer's Split has no pattern");
  SKERRY_ASSIGN_OR_RETURN(const std::string expression,
                          StringAt(*pattern, "Regex"));
  const auto found = FindSplitPattern(expression);
  if (!found.has_value()) {
    return Bad(
        "the pre_tokenizer's Regex is neither that of GPT-2 nor that of "
        "Llama 3");
  }
  parts_.pattern = *found;
  return absl::OkStatus();
}

absl::Status Reader::ReadPostProcessor(const Json& json) {
  SKERRY_ASSIGN_OR_RETURN(const std::string type, StringAt(json, "type"));
  // It moves offsets, not tokens.
  if (type == "ByteLevel") return absl::OkStatus();
  if (type == "TemplateProcessing") return ReadTemplate(json);
  const Json* steps = Find(json, "processors");
  if (type != "Sequence" || steps == nullptr || !steps->is_array()) {
    return Bad("post_processor ", Shown(type),
               " is none of ByteLevel, TemplateProcessing and Sequence");
  }
  for (const Json& step : *steps) {
    SKERRY_ASSIGN_OR_RETURN(const std::string inner, StringAt(step, "type"));
    if (inner == "ByteLevel") continue;
    if (inner != "TemplateProcessing" || !parts_.prefix.empty() ||
        !parts_.suffix.empty()) {
      return Bad(
          "a post_processor's Sequence may hold ByteLevel and one "
          "TemplateProcessing");
    }
    SKERRY_RETURN_IF_ERROR(ReadTemplate(step));
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadTemplate(const Json& json) {
  const Json* single = Find(json, "single");
  const Json* known = Find(json, "special_tokens");
  if (single == nullptr || !single->is_array() || known == nullptr ||
      !known->is_object()) {
    return Bad("TemplateProcessing needs single and special_tokens");
  }
  bool text_is_past = false;
  for (const Json& item : *single) {
    if (const Json* special = Find(item, "SpecialToken")) {
      SKERRY_ASSIGN_OR_RETURN(const std::string id, StringAt(*special, "id"));
      SKERRY_RETURN_IF_ERROR(
          AddSpecial(id, *known, text_is_past ? parts_.suffix : parts_.prefix));
    } else if (Find(item, "Sequence") != nullptr && !text_is_past) {
      text_is_past = true;
    } else {
      return Bad(
          "TemplateProcessing's single is not special tokens around one "
          "Sequence");
    }
  }
  if (!text_is_past) return Bad("TemplateProcessing's single has no Sequence");
  return absl::OkStatus();
}

absl::Status Reader::AddSpecial(const std::string& id, const Json& known,
                                std::vector<int32_t>& to) {
  const Json* entry = Find(known, id.c_str());
  const Json* ids = entry == nullptr ? nullptr : Find(*entry, "ids");
  if (ids == nullptr || !ids->is_array() || ids->size() > 16) {
    return Bad("special_tokens says nothing about ", Shown(id));
  }
  for (const Json& value : *ids) {
    SKERRY_ASSIGN_OR_RETURN(const int32_t token, NumberOf(value));
    const auto index = static_cast<size_t>(token);
    if (index >= parts_.token_bytes.size() ||
        !parts_.token_bytes[index].has_value()) {
      return Bad("special_tokens names ", token, ", which is no token");
    }
    to.push_back(token);
  }
  if (to.size() > 16) return Bad("TemplateProcessing adds too many tokens");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tokenizer> ParseTokenizerJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Bad("is not a JSON object");
  SKERRY_ASSIGN_OR_RETURN(Tokenizer::Parts parts, Reader().Read(json));
  auto tokenizer = Tokenizer::Create(std::move(parts));
  if (!tokenizer.ok()) return Bad(tokenizer.status().message());
  return tokenizer;
}

}  // namespace skerry::data
