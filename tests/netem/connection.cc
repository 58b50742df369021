#include "tests/netem/connection.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace skerry::netem {

Connection::Connection(std::array<int, 2> fds, std::array<DelayLine, 2> lines,
                       std::array<PathCounters*, 2> counters)
    : fds_(fds),
      flows_{Flow{.line = std::move(lines[0]), .counters = counters[0]},
             Flow{.line = std::move(lines[1]), .counters = counters[1]}} {}

Connection::~Connection() {
  for (const int fd : fds_) close(fd);
}

void Connection::ResetOnClose() {
  const linger reset = {.l_onoff = 1, .l_linger = 0};
  for (const int fd : fds_) {
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  }
}

void Connection::OnEvent(int side, bool is_readable, bool is_writable) {
  sides_[side].is_readable = sides_[side].is_readable || is_readable;
  sides_[side].is_writable = sides_[side].is_writable || is_writable;
}

void Connection::ReadIn(int d, Instant now, CutMode cut) {
  Flow& flow = flows_[d];
  while (sides_[d].is_readable && !flow.has_ended) {
    const uint64_t room = flow.line.Room(now);
    if (room == 0) return;
    std::vector<std::byte> chunk(room);
    const ssize_t n = recv(fds_[d], chunk.data(), chunk.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      sides_[d].is_readable = false;
      return;
    }
    if (n <= 0) {
      // An end and a reset are told alike: when what came before has arrived.
      flow.has_ended = true;
      return;
    }
    if (cut == CutMode::kDrop) {
      flow.counters->bytes_dropped += static_cast<uint64_t>(n);
      has_lost_bytes_ = true;
      continue;
    }
    chunk.resize(static_cast<size_t>(n));
    flow.line.Add(chunk.size(), now);
    flow.chunks.push_back(std::move(chunk));
  }
}

void Connection::Drop(Flow& flow) {
  const uint64_t inside = flow.line.bytes_inside();
  if (inside == 0) return;
  flow.counters->bytes_dropped += inside;
  flow.line.Take(inside);
  flow.chunks.clear();
  flow.head_offset = 0;
  has_lost_bytes_ = true;
}

void Connection::WriteOut(int d, Instant now) {
  Flow& flow = flows_[d];
  Side& side = sides_[1 - d];
  uint64_t due = flow.line.Due(now);
  while (due > 0 && side.is_writable) {
    std::vector<std::byte>& chunk = flow.chunks.front();
    const size_t size = std::min<size_t>(due, chunk.size() - flow.head_offset);
    const ssize_t n =
        send(fds_[1 - d], chunk.data() + flow.head_offset, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      side.is_writable = false;
      return;
    }
    if (n < 0) {
      is_over_ = true;
      return;
    }
    flow.counters->bytes += static_cast<uint64_t>(n);
    flow.line.Take(static_cast<uint64_t>(n));
    due -= static_cast<uint64_t>(n);
    flow.head_offset += static_cast<size_t>(n);
    if (flow.head_offset == chunk.size()) {
      flow.chunks.pop_front();
      flow.head_offset = 0;
    }
  }
}

void Connection::SendEnd(int d) {
  Flow& flow = flows_[d];
  if (!flow.has_ended || flow.end_is_sent || flow.line.bytes_inside() > 0) {
    return;
  }
  shutdown(fds_[1 - d], SHUT_WR);
  flow.end_is_sent = true;
  is_over_ = is_over_ || flows_[1 - d].end_is_sent;
}

void Connection::Pump(Instant now, const std::array<CutMode, 2>& cuts) {
  for (const int d : {kOut, kIn}) {
    if (is_over_ || cuts[d] == CutMode::kHold) continue;
    if (cuts[d] == CutMode::kDrop) Drop(flows_[d]);
    ReadIn(d, now, cuts[d]);
    if (cuts[d] == CutMode::kDrop) continue;
    WriteOut(d, now);
    SendEnd(d);
  }
}

std::optional<Instant> Connection::NextWork(
    Instant now, const std::array<CutMode, 2>& cuts) const {
  std::optional<Instant> next;
  const auto consider = [&next](std::optional<Instant> candidate) {
    if (!candidate.has_value()) return;
    if (!next.has_value() || *candidate < *next) next = candidate;
  };
  for (const int d : {kOut, kIn}) {
    if (cuts[d] != CutMode::kNone) continue;
    const Flow& flow = flows_[d];
    if (sides_[1 - d].is_writable) consider(flow.line.NextDue(now));
    if (sides_[d].is_readable && !flow.has_ended) {
      consider(flow.line.NextRoom(now));
    }
  }
  return next;
}

}  // namespace skerry::netem
