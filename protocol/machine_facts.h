// protocol/machine_facts.h
//
// Defines what a daemon tells of its machine. Its memory decides which models a
// worker may have. The rest is for operators.
#ifndef SKERRY_PROTOCOL_MACHINE_FACTS_H_
#define SKERRY_PROTOCOL_MACHINE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace skerry::protocol {

struct MachineFacts {
  // Its wall clock, milliseconds since 1970.
  int64_t unix_ms = 0;
  // Free for this process on the file system of the state folder, and its size;
  // 0 when they are not known.
  uint64_t state_free_bytes = 0;
  uint64_t state_bytes = 0;
  // Not there when nobody has compared. The machine itself does not say it.
  std::optional<int64_t> clock_ahead_ms;
  // Main memory that the daemon's processes may use; 0 when it is not known.
  uint64_t memory_bytes = 0;
  // Names the host. Two processes can share memory if, and only if, they name
  // the same one. Empty when it is not known.
  std::string host = {};
  friend bool operator==(const MachineFacts&, const MachineFacts&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_MACHINE_FACTS_H_
