// data/prepare/byte_progress.h
//
// Lines that tell how much of a long work is done.
#ifndef SKERRY_DATA_PREPARE_BYTE_PROGRESS_H_
#define SKERRY_DATA_PREPARE_BYTE_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <ostream>

namespace skerry::data {

// At most a line a second and a line each percent.
class ByteProgress {
 public:
  // `done` of `total` bytes are done before; `seconds` tells the time since
  // some moment. `err` outlives it.
  ByteProgress(uint64_t total, uint64_t done, std::function<double()> seconds,
               std::ostream& err);
  // So many bytes more are done; more than all count as all.
  void Add(uint64_t bytes);

 private:
  const uint64_t total_;
  const uint64_t before_;
  const std::function<double()> seconds_;
  std::ostream& err_;
  const double begin_;
  uint64_t done_;
  uint64_t done_told_;
  double told_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_BYTE_PROGRESS_H_
