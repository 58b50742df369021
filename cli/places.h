// cli/places.h
//
// Opens the folders and object stores that commands name.
#ifndef SKERRY_CLI_PLACES_H_
#define SKERRY_CLI_PLACES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"

namespace skerry::cli {

// Folders are looked for in `files`, which outlives what is returned.
std::unique_ptr<runtime::BlobStores> PlacesOver(runtime::Files& files);

// OK for an object store. Errors: NotFound when there is no such folder; as
// Files.
absl::Status RequirePlace(const std::string& place,
                          const runtime::Files& files);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_PLACES_H_
