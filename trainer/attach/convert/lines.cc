#include "trainer/attach/convert/lines.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "google/protobuf/util/json_util.h"
#include "model/safetensors/strict_json.h"
#include "nlohmann/json.hpp"
#include "trainer/attach/core/line_splitter.h"

namespace skerry::trainer::attach {
namespace {

using Json = nlohmann::json;

// Bodies of trainer.proto nest less.
constexpr int kDepthMax = 32;

absl::Status Wrong(const absl::AlphaNum& what) {
  return absl::InvalidArgumentError(what.Piece());
}

// The member `name` of `object`, null when it has none.
const Json* Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

absl::StatusOr<uint64_t> Number(const Json& object, const char* name) {
  const Json* member = Member(object, name);
  if (member == nullptr || !member->is_number_unsigned()) {
    return Wrong(absl::StrCat("has no whole number as its ", name));
  }
  return member->get<uint64_t>();
}

absl::StatusOr<std::string> Text(const Json& object, const char* name) {
  const Json* member = Member(object, name);
  if (member == nullptr || !member->is_string()) {
    return Wrong(absl::StrCat("has no text as its ", name));
  }
  return member->get<std::string>();
}

std::optional<absl::StatusCode> CodeFromName(std::string_view name) {
  for (int value = 1; value <= 16; ++value) {
    const auto code = static_cast<absl::StatusCode>(value);
    if (absl::StatusCodeToString(code) == name) return code;
  }
  return std::nullopt;
}

absl::StatusOr<RankLine> ParseAnswer(const Json& line) {
  Answer answer;
  SKERRY_ASSIGN_OR_RETURN(answer.id, Number(line, "id"));
  if (Member(line, "code") != nullptr) {
    SKERRY_ASSIGN_OR_RETURN(const std::string name, Text(line, "code"));
    SKERRY_ASSIGN_OR_RETURN(const std::string error, Text(line, "error"));
    const std::optional<absl::StatusCode> code = CodeFromName(name);
    if (!code.has_value()) return Wrong("has a code that is not gRPC's");
    answer.status = absl::Status(*code, error);
    return answer;
  }
  const Json* body = Member(line, "body");
  if (body == nullptr || !body->is_object()) {
    return Wrong("has neither a body nor a code");
  }
  SKERRY_ASSIGN_OR_RETURN(answer.body, model::DumpJson(*body));
  return answer;
}

absl::StatusOr<RankLine> ParseNote(const Json& line) {
  SKERRY_ASSIGN_OR_RETURN(const std::string note, Text(line, "note"));
  if (note == "step") {
    SKERRY_ASSIGN_OR_RETURN(const uint64_t steps, Number(line, "steps"));
    return StepNote{steps};
  }
  if (note == "failed") {
    SKERRY_ASSIGN_OR_RETURN(std::string error, Text(line, "error"));
    return FailedNote{std::move(error)};
  }
  return OtherNote{};
}

absl::StatusOr<RankLine> ParseHello(const Json& line) {
  Hello hello;
  SKERRY_ASSIGN_OR_RETURN(hello.version, Number(line, "hello"));
  if (Member(line, "package") != nullptr) {
    SKERRY_ASSIGN_OR_RETURN(hello.package, Text(line, "package"));
  }
  return hello;
}

}  // namespace

absl::StatusOr<RankLine> ParseRankLine(std::string_view line) {
  const auto json = model::ParseStrictJson(line, kDepthMax);
  if (!json.ok()) return Wrong(json.status().message());
  if (json->contains("hello")) return ParseHello(*json);
  if (json->contains("id")) return ParseAnswer(*json);
  if (json->contains("note")) return ParseNote(*json);
  return Wrong("is no hello, no answer and no note");
}

absl::StatusOr<std::string> CallLine(Call call, uint64_t id,
                                     const google::protobuf::Message& body) {
  std::string text;
  const auto written = google::protobuf::util::MessageToJsonString(body, &text);
  if (!written.ok()) return Wrong("the call cannot be written as JSON");
  std::string line = absl::StrCat("{\"call\":\"", NameOf(call),
                                  "\",\"id\":", id, ",\"body\":", text, "}\n");
  if (line.size() > kLineBytesMax) {
    return Wrong(absl::StrCat("the call takes a line of ", line.size(),
                              " bytes, at most ", kLineBytesMax));
  }
  return line;
}

absl::Status ParseBody(const std::string& body,
                       google::protobuf::Message& message) {
  if (body.empty()) return absl::OkStatus();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto read =
      google::protobuf::util::JsonStringToMessage(body, &message, options);
  if (read.ok()) return absl::OkStatus();
  return Wrong(std::string(read.message()));
}

}  // namespace skerry::trainer::attach
