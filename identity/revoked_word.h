// identity/revoked_word.h
//
// What names a certificate that is not believed any more.
#ifndef SKERRY_IDENTITY_REVOKED_WORD_H_
#define SKERRY_IDENTITY_REVOKED_WORD_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace skerry::identity {

// Reads a name, which stands for all certificates of that name, or the serial
// number of one certificate in hexadecimal digits. Returns the name as it is,
// and the number as certificates show it: in upper case, without leading zeros.
//
// Errors: InvalidArgument for everything else.
absl::StatusOr<std::string> RevokedWord(std::string_view text);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_REVOKED_WORD_H_
