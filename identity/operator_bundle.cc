#include "identity/operator_bundle.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace skerry::identity {
namespace {

absl::string_view Abseil(std::string_view text) {
  return {text.data(), text.size()};
}

void AppendBlock(std::string_view field, const std::string& pem,
                 std::string* text) {
  absl::StrAppend(text, Abseil(field), ": |\n");
  for (const absl::string_view line :
       absl::StrSplit(pem, '\n', absl::SkipEmpty())) {
    absl::StrAppend(text, "  ", line, "\n");
  }
}

}  // namespace

std::string FormatBundle(const OperatorBundle& bundle, std::string_view whose) {
  std::string text =
      absl::StrCat("# ", Abseil(whose),
                   ". Keep this file secret.\n"
                   "# Take it into use with: skerryctl config import FILE\n",
                   Abseil(kBundleAddress), ": \"", bundle.address, "\"\n");
  AppendBlock(kBundleCa, bundle.authorities, &text);
  AppendBlock(kBundleCertificate, bundle.chain, &text);
  AppendBlock(kBundleKey, bundle.key, &text);
  return text;
}

}  // namespace skerry::identity
