#include "transport/grpc/identity_metrics.h"

#include "absl/time/time.h"

namespace skerry::transport {

using Kind = runtime::Metric::Kind;

void AddIdentityMetrics(const Credentials& credentials,
                        std::vector<runtime::Metric>& metrics) {
  if (!credentials.is_tls()) return;
  const absl::Time end = credentials.certificate().not_after();
  metrics.push_back({"skerry_identity_expires_unix_seconds",
                     "When the certificate in use ends.",
                     Kind::kGauge,
                     {{{}, static_cast<double>(absl::ToUnixSeconds(end))}}});
  metrics.push_back({"skerry_identity_not_renewed",
                     "1 while the newest files of the identity are not used.",
                     Kind::kGauge,
                     {{{}, credentials.trouble().empty() ? 0.0 : 1.0}}});
}

}  // namespace skerry::transport
