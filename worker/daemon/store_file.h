// worker/daemon/store_file.h
//
// Reads and writes the file in which a worker keeps pieces of one base or one
// result. docs/formats/worker_store.md has the layout.
#ifndef SKERRY_WORKER_DAEMON_STORE_FILE_H_
#define SKERRY_WORKER_DAEMON_STORE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/shared_bytes.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// Where a piece lies in its file.
struct PieceExtent {
  uint64_t offset = 0;
  uint64_t size = 0;
  friend bool operator==(const PieceExtent&, const PieceExtent&) = default;
};

struct StoreHeader {
  StoredFile file;
  std::vector<PieceExtent> extents;  // of file.pieces, same order
};

// The bytes that come before the contents, padding included. Requires: one
// content for each piece.
std::vector<std::byte> EncodeStoreHeader(const StoredFile& file,
                                         std::span<const SharedBytes> contents);

// The bytes that follow a content of that size in the file.
std::span<const std::byte> StorePadding(size_t content_bytes);

// Reads the head of a file of which `bytes` is all. Contents are not verified:
// their hashes are in the pieces.
//
// Errors: DataLoss when the head is damaged or the file is shorter than it
// says; the caller adds the path.
absl::StatusOr<StoreHeader> DecodeStoreHeader(std::span<const std::byte> bytes);

// "base-SEQUENCE-FIRSTSPAN-LASTSPAN.skerry" or
// "result-SEQUENCE-ATTEMPT-FIRSTSPAN-LASTSPAN.skerry". "iHASH-" is before the
// spans of a base that names initial values, and then "fFRAGMENT-" in another
// fragment than the first. A file with the same name is the one it replaces.
std::string StoreFileName(const StoredFile& file);
// Returns the name that older releases gave the file, without the last span.
std::string FormerStoreFileName(const StoredFile& file);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_STORE_FILE_H_
