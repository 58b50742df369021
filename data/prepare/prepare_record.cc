#include "data/prepare/prepare_record.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "skerry.prepare/1";
constexpr char kAsText[] = "as-text";

Json ShardJson(const PreparedShard& shard) {
  Json json = {{"file", shard.entry.file},
               {"tokens", shard.entry.tokens},
               {"sha256", shard.entry.sha256},
               {"split", SplitName(shard.entry.split)},
               {"next",
                {{"input", shard.place.input},
                 {"byte", shard.place.byte},
                 {"tokens", shard.tokens}}}};
  if (shard.special_tokens.has_value()) {
    json["special_tokens"] = *shard.special_tokens;
  }
  return json;
}

Json FoundJson(const PrepareRecord::Found& found) {
  return {{"validation_at",
           {{"input", found.validation.place.input},
            {"byte", found.validation.place.byte},
            {"text", found.validation.text},
            {"training_end", found.validation.training_end}}},
          {"training_bytes", found.training_bytes},
          {"validation_bytes", found.validation_bytes},
          {"documents", found.documents},
          {"empty_documents", found.empty_documents},
          {"skipped_lines", found.skipped_lines}};
}

// The values of an object; what is absent or of another kind makes it bad.
class Fields {
 public:
  Fields(const Json* object, bool& is_bad) : object_(object), is_bad_(is_bad) {}

  bool Has(const char* key) const { return Find(key) != nullptr; }
  std::string Text(const char* key) const {
    const Json* value = Find(key);
    return Is(value && value->is_string()) ? value->get<std::string>() : "";
  }
  uint64_t Count(const char* key) const {
    const Json* value = Find(key);
    return Is(value && value->is_number_unsigned()) ? value->get<uint64_t>()
                                                    : 0;
  }
  double Number(const char* key) const {
    const Json* value = Find(key);
    return Is(value && value->is_number()) ? value->get<double>() : 0;
  }
  Fields Inside(const char* key) const { return Fields(Find(key), is_bad_); }
  std::vector<Fields> All(const char* key) const {
    std::vector<Fields> all;
    const Json* value = Find(key);
    if (!Is(value && value->is_array())) return all;
    for (const Json& one : *value) all.emplace_back(&one, is_bad_);
    return all;
  }

 private:
  const Json* Find(const char* key) const {
    if (object_ == nullptr || !object_->is_object()) return nullptr;
    const auto found = object_->find(key);
    return found == object_->end() ? nullptr : &*found;
  }
  bool Is(bool good) const {
    if (!good) is_bad_ = true;
    return good;
  }

  const Json* object_;
  bool& is_bad_;
};

PreparedShard ShardOf(const Fields& shard) {
  const Fields next = shard.Inside("next");
  const bool trains = shard.Text("split") == SplitName(Split::kTrain);
  return {
      .entry = {.file = shard.Text("file"),
                .tokens = shard.Count("tokens"),
                .sha256 = shard.Text("sha256"),
                .split = trains ? Split::kTrain : Split::kValidation},
      .place = {next.Count("input"), next.Count("byte")},
      .tokens = next.Count("tokens"),
      .special_tokens = shard.Has("special_tokens")
                            ? std::optional(shard.Count("special_tokens"))
                            : std::nullopt,
  };
}

PrepareRecord::Found FoundOf(const Fields& found) {
  const Fields at = found.Inside("validation_at");
  return {.validation = {{at.Count("input"), at.Count("byte")},
                         at.Count("text"),
                         at.Count("training_end")},
          .training_bytes = found.Count("training_bytes"),
          .validation_bytes = found.Count("validation_bytes"),
          .documents = found.Count("documents"),
          .empty_documents = found.Count("empty_documents"),
          .skipped_lines = found.Count("skipped_lines")};
}

PrepareRecord RecordOf(const Fields& json) {
  PrepareRecord record;
  for (const Fields& input : json.All("inputs")) {
    record.inputs.push_back(
        {input.Text("path"), input.Count("bytes"), input.Text("sha256")});
  }
  record.json_key = json.Text("json_key");
  record.tokenizer_sha256 = json.Text("tokenizer_sha256");
  record.document_end = json.Text("document_end");
  record.takes_specials_as_text =
      json.Has("special_tokens") && json.Text("special_tokens") == kAsText;
  record.validation_fraction = json.Number("validation");
  record.shard_tokens = json.Count("shard_tokens");
  if (json.Has("found")) record.found = FoundOf(json.Inside("found"));
  for (const Fields& shard : json.All("shards")) {
    record.shards.push_back(ShardOf(shard));
  }
  return record;
}

absl::Status Differs(absl::string_view what) {
  return absl::AlreadyExistsError(absl::StrCat(
      what, "; go on as it was begun, or choose another directory"));
}

absl::Status SameInputs(const PrepareRecord& found,
                        const PrepareRecord& wanted) {
  if (found.inputs.size() != wanted.inputs.size()) {
    return Differs(absl::StrCat("the data set was begun with ",
                                found.inputs.size(), " inputs, not ",
                                wanted.inputs.size()));
  }
  for (size_t i = 0; i < found.inputs.size(); ++i) {
    const PrepareRecord::Input& before = found.inputs[i];
    const PrepareRecord::Input& now = wanted.inputs[i];
    // A file may have moved.
    if (before.bytes == now.bytes && before.sha256 == now.sha256) continue;
    if (before.path != now.path) {
      return Differs(absl::StrCat("the data set was begun with ", before.path,
                                  ", not ", now.path));
    }
    return Differs(absl::StrCat(
        now.path, " has changed since the data set was begun with it"));
  }
  return absl::OkStatus();
}

std::string Quoted(const std::string& word) {
  return word.empty() ? "none" : absl::StrCat("'", word, "'");
}

}  // namespace

std::string SerializePrepareRecord(const PrepareRecord& record) {
  Json json;
  json["format"] = kFormat;
  json["inputs"] = Json::array();
  for (const PrepareRecord::Input& input : record.inputs) {
    json["inputs"].push_back({{"path", input.path},
                              {"bytes", input.bytes},
                              {"sha256", input.sha256}});
  }
  json["json_key"] = record.json_key;
  json["tokenizer_sha256"] = record.tokenizer_sha256;
  json["document_end"] = record.document_end;
  // Releases that know no such texts write nothing.
  if (record.takes_specials_as_text) json["special_tokens"] = kAsText;
  json["validation"] = record.validation_fraction;
  json["shard_tokens"] = record.shard_tokens;
  if (record.found.has_value()) json["found"] = FoundJson(*record.found);
  json["shards"] = Json::array();
  for (const PreparedShard& shard : record.shards) {
    json["shards"].push_back(ShardJson(shard));
  }
  // Names of files may be any bytes.
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

absl::StatusOr<PrepareRecord> ParsePrepareRecord(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  bool is_bad = false;
  const Fields fields(&json, is_bad);
  PrepareRecord record = RecordOf(fields);
  if (fields.Text("format") != kFormat || is_bad) {
    return absl::InvalidArgumentError(
        absl::StrCat("is no record of format ", kFormat));
  }
  return record;
}

absl::Status SameDataSet(const PrepareRecord& found,
                         const PrepareRecord& wanted, bool splits_as_before) {
  const auto differs = [](absl::string_view flag, const std::string& before,
                          const std::string& now) {
    return Differs(absl::StrCat("the data set was begun with ", flag, " ",
                                before, ", not ", now));
  };
  if (found.tokenizer_sha256 != wanted.tokenizer_sha256) {
    return Differs("the data set was begun with another --tokenizer");
  }
  if (found.document_end != wanted.document_end) {
    return differs("--document-end", Quoted(found.document_end),
                   Quoted(wanted.document_end));
  }
  if (found.takes_specials_as_text != wanted.takes_specials_as_text) {
    return Differs(
        absl::StrCat("the data set was begun ",
                     found.takes_specials_as_text ? "with" : "without",
                     " --special-tokens as-text"));
  }
  if (found.json_key != wanted.json_key) {
    return differs("--json-key", Quoted(found.json_key),
                   Quoted(wanted.json_key));
  }
  if (found.validation_fraction != wanted.validation_fraction) {
    return differs("--validation", absl::StrCat(found.validation_fraction),
                   absl::StrCat(wanted.validation_fraction));
  }
  if (found.shard_tokens != wanted.shard_tokens) {
    return differs("--shard-tokens", absl::StrCat(found.shard_tokens),
                   absl::StrCat(wanted.shard_tokens));
  }
  SKERRY_RETURN_IF_ERROR(SameInputs(found, wanted));
  if (found.found.has_value() ? found.found == wanted.found
                              : splits_as_before) {
    return absl::OkStatus();
  }
  return Differs(
      "the data set was begun by another release, which splits these inputs "
      "elsewhere or reads other documents in them");
}

}  // namespace skerry::data
