#include "identity/x509/openssl.h"

#include <openssl/err.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace skerry::identity {

BioPtr ReadFrom(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

BioPtr WriteToMemory() { return BioPtr(BIO_new(BIO_s_secmem())); }

std::string TextOf(const BioPtr& sink) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(sink.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

absl::Status LibraryFailed(std::string_view doing) {
  char words[256];
  ERR_error_string_n(ERR_get_error(), words, sizeof(words));
  ERR_clear_error();
  return absl::InternalError(absl::StrCat(
      "cannot ", absl::string_view(doing.data(), doing.size()), ": ", words));
}

absl::Status Malformed(std::string_view what) {
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::string_view(what.data(), what.size()));
}

}  // namespace skerry::identity
