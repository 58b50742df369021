// worker/daemon/peer_addresses.h
//
// Takes in where orders say that the other workers are.
#ifndef SKERRY_WORKER_DAEMON_PEER_ADDRESSES_H_
#define SKERRY_WORKER_DAEMON_PEER_ADDRESSES_H_

#include "protocol/orders.h"
#include "transport/directory.h"
#include "transport/grpc/credentials.h"

namespace skerry::worker {

// Tells `directory` where workers are reached, who awaits streams and, if this
// worker `relays`, between whom. With TLS it tells `credentials` whose
// certificate to expect at which address.
void LearnAddresses(const protocol::Orders& orders,
                    const transport::Credentials& credentials, bool relays,
                    transport::Directory& directory);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_ADDRESSES_H_
