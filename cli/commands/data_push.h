// cli/commands/data_push.h
//
// skerryctl data push: copies a data set into an object store, where workers
// fetch it.
#ifndef SKERRY_CLI_COMMANDS_DATA_PUSH_H_
#define SKERRY_CLI_COMMANDS_DATA_PUSH_H_

#include <iosfwd>
#include <string>

#include "absl/status/status.h"
#include "cli/command.h"
#include "runtime/blob_store.h"

namespace skerry::cli {

struct DataPushArguments {
  // A folder that `data prepare` or `data import` has made.
  std::string folder;
  // s3://BUCKET/PREFIX
  std::string place;
};

// Copies the files that the folder's manifest names into `store`, which
// messages call `place`, and the manifest last. Compares each with its hash
// first. If the store has this manifest already, nothing is copied.
//
// Errors: NotFound and PermissionDenied for files; InvalidArgument for what is
// no data set; DataLoss for a file with another hash; FailedPrecondition when
// the store has another data set there; those of BlobStore.
absl::Status DataPush(const std::string& folder, const std::string& place,
                      runtime::BlobStore& store, std::ostream& out);

Command DataPushCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DATA_PUSH_H_
