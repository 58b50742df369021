// runtime/posix/notify_socket.h
//
// Sends messages to the service manager that started this process, through the
// socket that systemd names in the environment.
//
// A message is one datagram, and systemd promises to keep that protocol.
// libsystemd would send the same bytes, but would load four libraries of
// compression and cryptography into daemons that hold keys.
#ifndef SKERRY_RUNTIME_POSIX_NOTIFY_SOCKET_H_
#define SKERRY_RUNTIME_POSIX_NOTIFY_SOCKET_H_

#include "runtime/service_notices.h"

namespace skerry::runtime {

// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them, so
// that programs which this process starts do not speak in its name. The main
// thread calls it once, before there are others.
//
// A message that cannot be sent is dropped. A socket or a time that makes no
// sense counts as none, and so does a watchdog that watches another process.
ServiceNotices NoticesToManager();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_NOTIFY_SOCKET_H_
