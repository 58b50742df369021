// transport/testing/recording_receiver.h
//
// A receiver for tests that remembers the frames that it was offered and
// answers as it is told.
#ifndef SKERRY_TRANSPORT_TESTING_RECORDING_RECEIVER_H_
#define SKERRY_TRANSPORT_TESTING_RECORDING_RECEIVER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "transport/bulk.h"

namespace skerry::transport {

// Fences frames by attempt like a worker: it refuses frames below `attempt`,
// and does not want frames above it yet.
class RecordingReceiver final : public BulkReceiver {
 public:
  FrameVerdict OnFrame(const std::string& from,
                       const compression::FrameHeader& header,
                       const SharedBytes& payload) override {
    ++offers;
    senders.insert(from);
    if (header.attempt < attempt) return FrameVerdict::kRefused;
    if (header.attempt > attempt) return FrameVerdict::kNotYet;
    frames.push_back({header, payload});
    return FrameVerdict::kAccepted;
  }
  absl::StatusOr<SharedBytes> OnFetch(const Fetcher& fetcher,
                                      const PieceKey& key) override {
    fetchers.push_back(fetcher);
    const auto it = objects.find(key);
    if (it != objects.end()) return it->second;
    return absl::NotFoundError(absl::StrCat("span ", key.span, " not held"));
  }
  // The test answers.
  void OnDataFetch(const Fetcher& fetcher, const PieceKey& key,
                   FetchAnswer answer) override {
    fetchers.push_back(fetcher);
    data_asked.emplace_back(key, std::move(answer));
  }

  uint64_t attempt = 1;
  uint64_t offers = 0;
  std::vector<Frame> frames;
  absl::btree_set<std::string> senders;
  std::vector<Fetcher> fetchers;
  absl::btree_map<PieceKey, SharedBytes> objects;
  std::vector<std::pair<PieceKey, FetchAnswer>> data_asked;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TESTING_RECORDING_RECEIVER_H_
