#include "cli/json.h"

#include "base/check.h"
#include "google/protobuf/util/json_util.h"

namespace skerry::cli {
namespace {

std::string Print(const google::protobuf::Message& message, bool indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indented;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &text, options);
  // Only Any and out-of-range well-known types can fail; we use neither.
  SKERRY_CHECK(status.ok());
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

std::string JsonText(const google::protobuf::Message& message) {
  return Print(message, true);
}

std::string JsonLine(const google::protobuf::Message& message) {
  return Print(message, false);
}

}  // namespace skerry::cli
