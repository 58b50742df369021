#include "cli/enum_words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace skerry::cli {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;

// "OuterMethod" -> "OUTER_METHOD_".
std::string PrefixOf(const EnumDescriptor& type) {
  std::string prefix;
  for (const char c : type.name()) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c)) && !prefix.empty()) {
      prefix += '_';
    }
    prefix += absl::ascii_toupper(static_cast<unsigned char>(c));
  }
  return prefix + "_";
}

std::string BriefOf(const EnumValueDescriptor& value,
                    const std::string& prefix) {
  return std::string(absl::StripPrefix(value.name(), prefix));
}

}  // namespace

std::vector<std::string> EnumWords(const EnumDescriptor& type) {
  const std::string prefix = PrefixOf(type);
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() == 0) continue;
    words.push_back(absl::AsciiStrToLower(BriefOf(*type.value(i), prefix)));
  }
  return words;
}

const EnumValueDescriptor* FindEnumWord(const EnumDescriptor& type,
                                        const std::string& word) {
  const std::string prefix = PrefixOf(type);
  const std::string wanted = absl::AsciiStrToUpper(word);
  for (int i = 0; i < type.value_count(); ++i) {
    const EnumValueDescriptor& value = *type.value(i);
    if (wanted == value.name() ||
        (value.number() != 0 && wanted == BriefOf(value, prefix))) {
      return &value;
    }
  }
  return nullptr;
}

}  // namespace skerry::cli
