// tests/netem/connection.h
//
// One relayed TCP connection: two sockets and a delay line each way.
#ifndef SKERRY_TESTS_NETEM_CONNECTION_H_
#define SKERRY_TESTS_NETEM_CONNECTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tests/netem/config.h"
#include "tests/netem/delay_line.h"

namespace skerry::netem {

// What stops one direction of a link.
enum class CutMode {
  kNone,
  kHold,  // bytes stay where they are until the link heals
  kDrop,  // bytes vanish; a connection that lost some ends when the link heals
};

// Bytes in one direction of one link, over all its connections.
struct PathCounters {
  uint64_t bytes = 0;          // forwarded
  uint64_t bytes_dropped = 0;  // by a cut
};

class Connection {
 public:
  // Sides: 0 connected to us, 1 is the target. Owns the descriptors, which do
  // not block.
  Connection(std::array<int, 2> fds, std::array<DelayLine, 2> lines,
             std::array<PathCounters*, 2> counters);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd(int side) const { return fds_[side]; }
  // What epoll says, edge-triggered.
  void OnEvent(int side, bool is_readable, bool is_writable);
  // Moves what may be moved.
  void Pump(Instant now, const std::array<CutMode, 2>& cuts);
  // When Pump() next has work without an event.
  std::optional<Instant> NextWork(Instant now,
                                  const std::array<CutMode, 2>& cuts) const;
  bool is_over() const { return is_over_; }
  bool has_lost_bytes() const { return has_lost_bytes_; }
  // Ends with a reset instead of an orderly close.
  void ResetOnClose();

 private:
  struct Side {
    bool is_readable = false;
    bool is_writable = false;
  };
  struct Flow {
    DelayLine line;
    PathCounters* counters;
    std::deque<std::vector<std::byte>> chunks = {};
    size_t head_offset = 0;  // of the first chunk, sent already
    bool has_ended = false;  // no more will be read
    bool end_is_sent = false;
  };

  // All of direction `d`, which reads from side d and writes to the other.
  void ReadIn(int d, Instant now, CutMode cut);
  void Drop(Flow& flow);
  void WriteOut(int d, Instant now);
  void SendEnd(int d);

  std::array<int, 2> fds_;
  std::array<Side, 2> sides_;
  std::array<Flow, 2> flows_;
  bool has_lost_bytes_ = false;
  bool is_over_ = false;
};

}  // namespace skerry::netem

#endif  // SKERRY_TESTS_NETEM_CONNECTION_H_
