#include "runtime/posix/curl_ports.h"

#include <cstdlib>

#include "absl/time/clock.h"
#include "runtime/posix/entropy.h"

namespace skerry::runtime {

HttpPorts PortsOver(CurlHttp& http) {
  return {
      .fetch =
          [&http](const HttpRequest& request) { return http.Fetch(request); },
      .now = [] { return absl::Now(); },
      .pause = [&http](absl::Duration time) { http.Pause(time); },
      .variable =
          [](const std::string& name) {
            const char* value = std::getenv(name.c_str());
            return value == nullptr ? std::nullopt
                                    : std::optional<std::string>(value);
          },
      .seed = DrawRandom64()};
}

}  // namespace skerry::runtime
