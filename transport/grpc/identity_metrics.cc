#include "transport/grpc/identity_metrics.h"

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "transport/grpc/library_log.h"
#include "transport/grpc/refused_calls.h"

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
  runtime::Metric refused{"skerry_refused_calls_total",
                          "Calls that were refused before a service saw them.",
                          Kind::kCounter,
                          {}};
  for (const CallRefusal refusal : kCallRefusals) {
    refused.samples.push_back(
        {{{"reason", std::string(Word(refusal))}},
         static_cast<double>(credentials.refused_calls().count(refusal))});
  }
  metrics.push_back(std::move(refused));
  metrics.push_back({"skerry_failed_handshakes_total",
                     "TLS handshakes that have failed.",
                     Kind::kCounter,
                     {{{}, static_cast<double>(FailedHandshakes())}}});
}

}  // namespace skerry::transport
