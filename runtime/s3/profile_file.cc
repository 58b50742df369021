#include "runtime/s3/profile_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace skerry::runtime::s3 {

absl::btree_map<std::string, Profile> ReadProfiles(std::string_view text) {
  absl::btree_map<std::string, Profile> profiles;
  Profile* section = nullptr;
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    if (line.empty() || absl::ascii_isspace(line[0]) || line[0] == '#' ||
        line[0] == ';') {
      continue;
    }
    line = absl::StripAsciiWhitespace(line);
    if (line.front() == '[') {
      section = nullptr;
      if (line.back() != ']') continue;
      absl::string_view name = line.substr(1, line.size() - 2);
      absl::ConsumePrefix(&name, "profile ");
      section = &profiles[std::string(absl::StripAsciiWhitespace(name))];
      continue;
    }
    const size_t equals = line.find('=');
    if (section == nullptr || equals == line.npos) continue;
    const auto name = absl::StripAsciiWhitespace(line.substr(0, equals));
    (*section)[absl::AsciiStrToLower(name)] =
        std::string(absl::StripAsciiWhitespace(line.substr(equals + 1)));
  }
  return profiles;
}

}  // namespace skerry::runtime::s3
