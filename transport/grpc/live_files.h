// transport/grpc/live_files.h
//
// One identity in files that exist in memory alone, for gRPC's file watcher. A
// new identity takes their place at once, and a key never gets to a disk.
#ifndef SKERRY_TRANSPORT_GRPC_LIVE_FILES_H_
#define SKERRY_TRANSPORT_GRPC_LIVE_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::transport {

// Not safe for several threads at once.
class LiveFiles {
 public:
  // Each text is PEM. Errors: ResourceExhausted, the system gives no file.
  static absl::StatusOr<std::unique_ptr<LiveFiles>> Make(std::string_view ca,
                                                         std::string_view chain,
                                                         std::string_view key);
  ~LiveFiles();
  LiveFiles(const LiveFiles&) = delete;
  LiveFiles& operator=(const LiveFiles&) = delete;

  // The paths keep their names and get new content. Errors: those of Make, and
  // nothing was replaced.
  absl::Status Replace(std::string_view ca, std::string_view chain,
                       std::string_view key);

  // The key and the chain are in one file, so nobody reads a mixture.
  std::string pair_path() const;
  std::string ca_path() const;

 private:
  LiveFiles() = default;

  int pair_ = -1;
  int ca_ = -1;
  // A reader takes a file for changed when this time of it has changed.
  int64_t modified_s_ = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_LIVE_FILES_H_
