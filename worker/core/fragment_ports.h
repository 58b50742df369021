// worker/core/fragment_ports.h
//
// Gives one fragment its disk and links. Names of files and frames get the
// fragment's number here, so the parts of a seat need not know of other
// fragments.
#ifndef SKERRY_WORKER_CORE_FRAGMENT_PORTS_H_
#define SKERRY_WORKER_CORE_FRAGMENT_PORTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/core/effects.h"

namespace skerry::worker {

class FragmentDisk final : public DiskPort {
 public:
  // `disk` outlives it.
  FragmentDisk(uint32_t fragment, DiskPort& disk)
      : fragment_(fragment), disk_(disk) {}

  void Store(const StoredFile& file, std::vector<SharedBytes> contents,
             Done<absl::Status> done) override {
    disk_.Store(Own(file), std::move(contents), std::move(done));
  }
  void StoreAhead(const StoredFile& file, size_t index,
                  const SharedBytes& content) override {
    disk_.StoreAhead(Own(file), index, content);
  }
  absl::StatusOr<SharedBytes> Map(const StoredFile& file,
                                  uint32_t span) override {
    return disk_.Map(Own(file), span);
  }
  void Delete(const StoredFile& file) override { disk_.Delete(Own(file)); }

 private:
  StoredFile Own(StoredFile file) const {
    file.fragment = fragment_;
    return file;
  }

  const uint32_t fragment_;
  DiskPort& disk_;
};

class FragmentBulk final : public BulkPort {
 public:
  // `bulk` outlives it.
  FragmentBulk(uint32_t fragment, BulkPort& bulk)
      : fragment_(fragment), bulk_(bulk) {}

  void SendFrame(const std::string& worker,
                 const compression::FrameHeader& header,
                 const SharedBytes& payload) override {
    compression::FrameHeader own = header;
    own.fragment = fragment_;
    bulk_.SendFrame(worker, own, payload);
  }
  void ForgetBefore(uint32_t, Attempt attempt) override {
    bulk_.ForgetBefore(fragment_, attempt);
  }
  void Fetch(const std::string& worker, const PieceKey& key,
             Done<absl::StatusOr<SharedBytes>> done) override {
    PieceKey own = key;
    own.fragment = fragment_;
    bulk_.Fetch(worker, own, std::move(done));
  }

 private:
  const uint32_t fragment_;
  BulkPort& bulk_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_FRAGMENT_PORTS_H_
