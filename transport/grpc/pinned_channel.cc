#include "transport/grpc/pinned_channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/support/channel_arguments.h>

#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "identity/name.h"
#include "identity/x509/authority.h"
#include "identity/x509/certificate.h"
#include "transport/grpc/tls13.h"

namespace skerry::transport {
namespace {

using grpc::experimental::TlsCustomVerificationCheckRequest;

class PinVerifier final
    : public grpc::experimental::ExternalCertificateVerifier {
 public:
  PinVerifier(std::string pin, std::function<absl::Time()> wall,
              std::shared_ptr<PinFault> fault)
      : pin_(std::move(pin)),
        wall_(std::move(wall)),
        fault_(std::move(fault)) {}

  bool Verify(TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>,
              grpc::Status* sync_status) override {
    const grpc::string_ref chain = request->peer_cert_full_chain();
    absl::Status fine = CheckPinnedServer(
        std::string_view(chain.data(), chain.size()), pin_, wall_());
    if (!fine.ok()) {
      *sync_status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                                  std::string(fine.message()));
    }
    fault_->Set(std::move(fine));
    return true;
  }
  void Cancel(TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::string pin_;
  const std::function<absl::Time()> wall_;
  const std::shared_ptr<PinFault> fault_;
};

}  // namespace

absl::Status CheckPinnedServer(std::string_view chain_pem, std::string_view pin,
                               absl::Time now) {
  const auto chain = identity::Certificate::ParsePem(chain_pem);
  if (!chain.ok()) {
    return absl::FailedPreconditionError(chain.status().message());
  }
  SKERRY_RETURN_IF_ERROR(identity::CheckPinned(*chain, pin, now).status());
  const absl::StatusOr<identity::Name>& name = chain->front().name();
  if (name.ok() &&
      std::holds_alternative<identity::CoordinatorName>(name->who)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("who answers there is no coordinator but ",
                   name.ok() ? identity::FormatName(*name)
                             : std::string(name.status().message())));
}

std::shared_ptr<grpc::Channel> PinnedChannel(const std::string& address,
                                             const std::string& pin,
                                             std::function<absl::Time()> wall,
                                             std::shared_ptr<PinFault> fault) {
  AllowTls13Alone();
  grpc::experimental::TlsChannelCredentialsOptions options;
  // There is no CA to verify with yet; the verifier does what gRPC would.
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(
      PinVerifier::Create<PinVerifier>(pin, std::move(wall), std::move(fault)));
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride(identity::kHostName);
  // Who calls waits between calls, and then wants a connection at once.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel(
      address, grpc::experimental::TlsCredentials(options), arguments);
}

}  // namespace skerry::transport
