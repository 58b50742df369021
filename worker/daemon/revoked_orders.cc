#include "worker/daemon/revoked_orders.h"

#include "runtime/log.h"

namespace skerry::worker {

void RevokedOrders::OnOrders(
    const std::optional<protocol::RevokedCertificates>& revoked) {
  if (!revoked.has_value() || revoked->version == version_) return;
  version_ = revoked->version;
  revocations_->SetOfCluster({revoked->what.begin(), revoked->what.end()});
  runtime::Log(runtime::Severity::kInfo, "worker.revocations.learned",
               {{"revoked", revoked->what.size()}});
}

}  // namespace skerry::worker
