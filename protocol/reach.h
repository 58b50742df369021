// protocol/reach.h
//
// Defines how workers find out whether they can dial each other.
#ifndef SKERRY_PROTOCOL_REACH_H_
#define SKERRY_PROTOCOL_REACH_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"

namespace skerry::protocol {

// A worker that the reader dials now and then.
struct TryOrder {
  std::string worker;
  // A new one is dialled at once.
  Incarnation incarnation;
  // host:port, in the order in which to dial them. Not empty.
  std::vector<std::string> endpoints;
  // The worker could not dial the reader, so it is dialled at once and often
  // until this is false.
  bool again = false;
  friend bool operator==(const TryOrder&, const TryOrder&) = default;
};

// What came of it.
struct Tried {
  std::string worker;
  Incarnation incarnation;
  // How long ago the worker was dialled last.
  absl::Duration age;
  // From a question to its answer, in milliseconds; 0 without an answer.
  double round_trip_ms = 0;
  // Why none of its endpoints answered; empty when one did.
  std::string error;

  bool ok() const { return error.empty(); }
  friend bool operator==(const Tried&, const Tried&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_REACH_H_
