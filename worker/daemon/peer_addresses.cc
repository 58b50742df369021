#include "worker/daemon/peer_addresses.h"

#include <string>

#include "worker/shell/peer_book.h"

namespace skerry::worker {

void LearnAddresses(const protocol::Orders& orders,
                    const transport::Credentials& credentials, bool relays,
                    transport::Directory& directory) {
  // Before connections are made.
  if (credentials.is_tls()) {
    transport::PeerNames& names = credentials.peers();
    for (const auto& [worker, endpoints] : orders.directory) {
      // Nobody is dialled there, and somebody else may have such an address
      // here.
      if (endpoints.front() == protocol::kReverse ||
          !protocol::RelayIn(endpoints.front()).empty()) {
        continue;
      }
      for (const std::string& endpoint : endpoints) names.Set(endpoint, worker);
    }
    for (const protocol::JobOrders& job : orders.jobs) {
      ForEachPeer(job, [&](const protocol::PeerAddress& peer) {
        if (peer.outbound_only) return;
        names.Set(peer.address, peer.worker);
        names.Set(peer.inside(), peer.worker);
      });
    }
  }
  directory.Learn(orders.directory);
  directory.SetRelayed(relays ? orders.relayed : protocol::RelayedPairs());
  directory.SetAwaitedBy({orders.awaited_by.begin(), orders.awaited_by.end()});
}

}  // namespace skerry::worker
