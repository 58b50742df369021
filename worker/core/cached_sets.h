// worker/core/cached_sets.h
//
// Decides which files of data sets stay in a worker's cache. All files of a set
// in use stay. When room is needed, files of the set that was used longest ago
// go first.
#ifndef SKERRY_WORKER_CORE_CACHED_SETS_H_
#define SKERRY_WORKER_CORE_CACHED_SETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"

namespace skerry::worker {

// A set is a folder of files that never change. Its name stands for its
// content.
class CachedSets {
 public:
  // Bytes of each file, by its name.
  using Sizes = absl::btree_map<std::string, uint64_t>;
  struct File {
    std::string set;
    std::string name;
    uint64_t bytes = 0;
    friend bool operator==(const File&, const File&) = default;
  };

  // The files take at most `bytes_max` together.
  explicit CachedSets(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // The disk has these files of a set. Called before Take, with the set that
  // was used longest ago first.
  void OnFound(const std::string& set, const Sizes& files);

  // Takes the set, which has these files and no others, into use once more.
  // Returns the files that have to be removed from the disk before any is
  // written. Errors, which change nothing: ResourceExhausted, the set is larger
  // than the cache; Unavailable, it does not fit beside the sets in use.
  absl::StatusOr<std::vector<File>> Take(const std::string& set,
                                         const Sizes& files);
  // Ends one use.
  void Release(const std::string& set);
  // Returns files to be removed because the disk has more than `bytes_max`.
  std::vector<File> Trim();
  // A file that was to be removed is still on the disk.
  void OnNotRemoved(const File& file);

  // Requires: the set is in use and has the file.
  void OnStored(const std::string& set, const std::string& name);
  void OnLost(const std::string& set, const std::string& name);
  // Whether the disk has the file.
  bool IsStored(const std::string& set, const std::string& name) const;

  // Bytes of the files that the disk has, and of those that sets in use will
  // have.
  uint64_t bytes() const;

 private:
  struct Entry {
    uint64_t bytes = 0;
    bool is_stored = false;
  };
  struct Set {
    absl::btree_map<std::string, Entry> files;
    int users = 0;
    uint64_t last_use = 0;  // rises from use to use
    uint64_t bytes() const;
  };

  const uint64_t bytes_max_;
  uint64_t uses_ = 0;
  absl::btree_map<std::string, Set> sets_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_CACHED_SETS_H_
