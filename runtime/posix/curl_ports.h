// runtime/posix/curl_ports.h
//
// Gives a client over HTTP its ports on this machine.
#ifndef SKERRY_RUNTIME_POSIX_CURL_PORTS_H_
#define SKERRY_RUNTIME_POSIX_CURL_PORTS_H_

#include "runtime/http_ports.h"
#include "runtime/posix/curl_http.h"

namespace skerry::runtime {

// `http` outlives what uses them.
HttpPorts PortsOver(CurlHttp& http);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_CURL_PORTS_H_
