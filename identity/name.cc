#include "identity/name.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/status.h"

namespace skerry::identity {
namespace {

constexpr std::string_view kScheme = "spiffe://";
constexpr size_t kWordBytesMax = 40;
constexpr size_t kClusterBytesMax = 63;
constexpr std::pair<Role, std::string_view> kRoles[] = {
    {Role::kViewer, "viewer"},
    {Role::kOperator, "operator"},
    {Role::kAdmin, "admin"},
};

absl::string_view Abseil(std::string_view text) {
  return {text.data(), text.size()};
}

absl::Status NotAName(std::string_view uri) {
  // A foreign certificate may hold anything, and logs are read by lines.
  constexpr size_t kShownBytesMax = 120;
  std::string shown(uri.substr(0, kShownBytesMax));
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return !absl::ascii_isprint(c); }, '?');
  return absl::InvalidArgumentError(
      absl::StrCat(shown, " is no name of this system's"));
}

absl::StatusOr<Name> ParseParts(const std::vector<std::string>& parts) {
  Name name{.cluster = parts[0], .who = CoordinatorName()};
  SKERRY_RETURN_IF_ERROR(CheckCluster(name.cluster));
  if (parts.size() == 2 && parts[1] == "coordinator") return name;
  if (parts.size() == 5 && parts[1] == "island" && parts[3] == "worker") {
    SKERRY_RETURN_IF_ERROR(CheckWord("the island", parts[2]));
    SKERRY_RETURN_IF_ERROR(CheckWord("the worker", parts[4]));
    name.who = WorkerName{parts[2], parts[4]};
    return name;
  }
  if (parts.size() == 4 && parts[1] == "operator") {
    SKERRY_ASSIGN_OR_RETURN(const Role role, ParseRole(parts[2]));
    SKERRY_RETURN_IF_ERROR(CheckWord("the operator", parts[3]));
    name.who = OperatorName{role, parts[3]};
    return name;
  }
  return absl::InvalidArgumentError("unknown form");
}

}  // namespace

std::string_view RoleWord(Role role) {
  for (const auto& [known, word] : kRoles) {
    if (known == role) return word;
  }
  return "";
}

absl::StatusOr<Role> ParseRole(std::string_view word) {
  for (const auto& [role, known] : kRoles) {
    if (known == word) return role;
  }
  return absl::InvalidArgumentError(
      "the role has to be viewer, operator or admin");
}

absl::Status CheckWord(std::string_view what, std::string_view word) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
           c == '_' || c == '.';
  };
  if (word.empty() || word.size() > kWordBytesMax || word == "." ||
      word == ".." || !std::all_of(word.begin(), word.end(), allowed)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Abseil(what), ": use 1 to ", kWordBytesMax,
        " letters, digits, '-', '_' and '.', and not \".\" or \"..\" alone"));
  }
  return absl::OkStatus();
}

absl::Status CheckCluster(std::string_view cluster) {
  const auto allowed = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_islower(byte) || absl::ascii_isdigit(byte) || c == '-' ||
           c == '.';
  };
  if (cluster.empty() || cluster.size() > kClusterBytesMax ||
      !std::all_of(cluster.begin(), cluster.end(), allowed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cluster's name: use 1 to ", kClusterBytesMax,
                     " lower-case letters, digits, '-' and '.'"));
  }
  return absl::OkStatus();
}

std::string FormatName(const Name& name) {
  std::string text = absl::StrCat(Abseil(kScheme), name.cluster);
  if (const auto* worker = std::get_if<WorkerName>(&name.who)) {
    absl::StrAppend(&text, "/island/", worker->island, "/worker/",
                    worker->worker);
  } else if (const auto* who = std::get_if<OperatorName>(&name.who)) {
    absl::StrAppend(&text, "/operator/", Abseil(RoleWord(who->role)), "/",
                    who->name);
  } else {
    absl::StrAppend(&text, "/coordinator");
  }
  return text;
}

absl::StatusOr<Name> ParseName(std::string_view uri) {
  constexpr size_t kUriBytesMax = 256;
  if (uri.size() > kUriBytesMax || !uri.starts_with(kScheme)) {
    return NotAName(uri);
  }
  const absl::StatusOr<Name> name = ParseParts(
      absl::StrSplit(Abseil(uri.substr(kScheme.size())), absl::ByChar('/')));
  if (!name.ok()) return NotAName(uri);
  return name;
}

}  // namespace skerry::identity
