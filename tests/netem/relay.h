// tests/netem/relay.h
//
// A link emulator: a TCP relay with the rate, delay, jitter, stalls and cuts of
// a wide-area network, in user space and on one thread.
//
// It does not emulate the round trip of connecting. A loss of packets shows
// only as a stall.
#ifndef SKERRY_TESTS_NETEM_RELAY_H_
#define SKERRY_TESTS_NETEM_RELAY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/netem/config.h"

namespace skerry::netem {

class Relay {
 public:
  // Listens on every link. Codes: InvalidArgument (an address), Unavailable
  // (cannot listen).
  static absl::StatusOr<std::unique_ptr<Relay>> Listen(
      const RelayConfig& config);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // "127.0.0.1:PORT" of a link with the port chosen; empty for unknown names.
  std::string AddressOf(const std::string& link) const;
  // {"links": {"ab": "127.0.0.1:PORT", ...}}
  std::string AddressesJson() const;

  // Lines are commands, one answer a line: descriptors that are read and
  // written while Run() runs. `out` may equal `in`; both stay the caller's. The
  // end of `in` ends Run() if `ends_run`.
  void AddControl(int in, int out, bool ends_run);
  // Each connection to this Unix socket is a control.
  absl::Status ListenForControls(const std::string& path);

  // Until "quit", Stop(), or the end of a control that ends it.
  void Run();
  // Any thread.
  void Stop();

  // Any thread, while Run() runs elsewhere or not at all. Commands:
  //   cut NAME out|in|both [drop]   NAME is a link or an island; an island's
  //   heal NAME|all                 "out" is everything that leaves it
  //   rate NAME out|in|both MBIT
  //   delay LINK out|in|both MS
  //   jitter LINK MS
  //   stalls LINK PER_MB MS
  //   target LINK ADDRESS           for connections made later
  //   reset NAME|all                breaks the open connections
  //   stats | addresses | quit
  // Answers {"ok":true}, the JSON asked for, or {"error":"..."}.
  std::string Execute(const std::string& command);

 private:
  class Impl;
  explicit Relay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::netem

#endif  // SKERRY_TESTS_NETEM_RELAY_H_
