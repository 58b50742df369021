// transport/shm/shm_group.h
//
// A group of processes, or threads, on one host that meet in a POSIX
// shared-memory object.
#ifndef SKERRY_TRANSPORT_SHM_SHM_GROUP_H_
#define SKERRY_TRANSPORT_SHM_SHM_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/posix/futex.h"
#include "transport/group.h"

namespace skerry::transport {

inline constexpr int kShmGroupRanksMax = 64;

struct ShmGroupOptions {
  // "/name" of the shared-memory object. One name serves one life of one
  // group: the caller makes it from what is never used again.
  std::string name;
  int rank = 0;
  int size = 1;
  // How long a collective waits for the other members.
  absl::Duration timeout = absl::Seconds(60);
};

// Values pass through a staging area of a fixed size, chunk by chunk. The
// first member to open makes the object; once all have met in their first
// collective its name is removed, so a crash later leaves nothing behind.
class ShmGroup final : public Group {
 public:
  // Does not wait for the others. Errors: InvalidArgument for a name, rank or
  // size out of range, or another size than the other members gave;
  // AlreadyExists when the rank is taken; ResourceExhausted when there is no
  // memory; Internal for any other failure of the machine.
  static absl::StatusOr<std::unique_ptr<ShmGroup>> Open(
      const ShmGroupOptions& options);
  // Removes the name if that has not happened yet; does not abort the group.
  ~ShmGroup() override;
  ShmGroup(const ShmGroup&) = delete;
  ShmGroup& operator=(const ShmGroup&) = delete;

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  absl::Status AllReduceSum(std::span<float> values) override;
  absl::Status Broadcast(std::span<float> values, int root) override;
  absl::Status AllToAll(std::span<const std::byte> to,
                        std::span<std::byte> from) override;
  absl::Status AllGather(std::span<const std::byte> piece,
                         std::span<std::byte> all) override;
  absl::Status Barrier() override;
  void Abort() override;

 private:
  struct Segment;
  struct Call;

  ShmGroup(const ShmGroupOptions& options, void* memory);

  // Waits until every member has come to a call, and checks that it is the
  // same one.
  absl::Status Meet(const Call& call);
  // Waits until every member has come here.
  absl::Status ArriveAndWait(const runtime::FutexDeadline& deadline);
  absl::Status AllReduceChunk(std::span<float> chunk,
                              const runtime::FutexDeadline& deadline);
  // Ends the group: a call that cannot be.
  absl::Status Refuse(absl::string_view why);
  // Area `index` of the staging memory: one a rank, then the result's.
  float* Area(int index) const;
  // Rank `rank`'s half of its area in turn 0 or 1.
  std::byte* Half(int rank, size_t turn) const;
  void RemoveName();

  const ShmGroupOptions options_;
  Segment* const segment_;
  uint32_t calls_ = 0;
  bool name_removed_ = false;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_SHM_SHM_GROUP_H_
