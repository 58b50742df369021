// runtime/blob_key.h
//
// Checks the form of a blob's key, which is the same in every blob store.
#ifndef SKERRY_RUNTIME_BLOB_KEY_H_
#define SKERRY_RUNTIME_BLOB_KEY_H_

#include <string_view>

#include "absl/status/status.h"

namespace skerry::runtime {

// Whether `part` can stand between two slashes of a key (blob_store.h).
bool IsBlobKeyPart(std::string_view part);

// Errors: InvalidArgument, naming the key.
absl::Status CheckBlobKey(std::string_view key);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_BLOB_KEY_H_
