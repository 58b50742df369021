// runtime/http_ports.h
//
// Defines what a client of a service over HTTP needs of the machine.
#ifndef SKERRY_RUNTIME_HTTP_PORTS_H_
#define SKERRY_RUNTIME_HTTP_PORTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "runtime/http.h"

namespace skerry::runtime {

// All may be called on any thread.
struct HttpPorts {
  HttpFetch fetch;
  // What the clock on the wall says.
  std::function<absl::Time()> now;
  // Waits so long, or until nobody wants a reply any more.
  std::function<void(absl::Duration)> pause;
  // A variable of the environment; none when it is not set.
  std::function<std::optional<std::string>(const std::string&)> variable;
  // Numbers that are drawn follow from it.
  uint64_t seed = 0;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_HTTP_PORTS_H_
