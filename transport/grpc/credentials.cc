#include "transport/grpc/credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "base/status.h"
#include "identity/x509/authority.h"
#include "runtime/log.h"
#include "transport/address.h"
#include "transport/grpc/guard.h"
#include "transport/grpc/tls13.h"
#include "transport/loopback.h"

namespace skerry::transport {
namespace {

using grpc::experimental::CertificateProviderInterface;
using grpc::experimental::TlsCustomVerificationCheckRequest;

// How often gRPC looks at what is in use, in seconds.
constexpr unsigned kProviderRefreshS = 1;
constexpr absl::Duration kRefreshEvery = absl::Seconds(1);
// Connections outlive a change of who is trusted, so they end; the calls on
// them get some seconds to end by themselves, and begin again.
constexpr int kConnectionAgeMaxMs = 30 * 60 * 1000;
constexpr int kConnectionGraceMs = 10 * 1000;
// A connection whose handshake has not ended by then is closed. That is time
// for several lost packets on a link of a second.
constexpr int kHandshakeMaxMs = 10 * 1000;
constexpr size_t kFileBytesMax = 1 << 20;

// Asks who is meant at each handshake, because orders may have told more by
// then.
class ServerVerifier final
    : public grpc::experimental::ExternalCertificateVerifier {
 public:
  explicit ServerVerifier(std::function<MeantServer()> meant)
      : meant_(std::move(meant)) {}

  bool Verify(TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>,
              grpc::Status* sync_status) override {
    const std::vector<grpc::string_ref> names = request->uri_names();
    const std::string_view name =
        names.size() == 1
            ? std::string_view(names.front().data(), names.front().size())
            : std::string_view();
    const absl::Status fine = CheckServer(meant_(), name);
    if (!fine.ok()) {
      *sync_status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                                  std::string(fine.message()));
    }
    return true;
  }
  void Cancel(TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::function<MeantServer()> meant_;
};

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  if (bytes.size() > kFileBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no PEM file: it has ", bytes.size(), " bytes"));
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

bool Same(const identity::Identity& a, const identity::Identity& b) {
  return a.authorities == b.authorities && a.chain == b.chain && a.key == b.key;
}

}  // namespace

std::shared_ptr<Credentials> Credentials::Plaintext() {
  return std::shared_ptr<Credentials>(new Credentials());
}

absl::StatusOr<std::shared_ptr<Credentials>> Credentials::FromFiles(
    const CredentialFiles& paths, const runtime::Files& files, WallClock now) {
  AllowTls13Alone();
  std::shared_ptr<Credentials> made(new Credentials());
  made->paths_ = paths;
  made->files_ = &files;
  made->now_ = std::move(now);
  SKERRY_ASSIGN_OR_RETURN(made->in_use_, made->ReadAll());
  SKERRY_ASSIGN_OR_RETURN(const identity::CheckedIdentity checked,
                          made->Check(made->in_use_));
  {
    const runtime::MutexLock lock(made->mutex_);
    made->certificate_ = checked.chain.front();
  }
  SKERRY_RETURN_IF_ERROR(made->ReadRevoked());
  SKERRY_ASSIGN_OR_RETURN(
      made->live_, LiveFiles::Make(made->in_use_.authorities,
                                   made->in_use_.chain, made->in_use_.key));
  made->provider_ =
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          made->live_->pair_path(), made->live_->pair_path(),
          made->live_->ca_path(), kProviderRefreshS);
  return made;
}

absl::StatusOr<identity::Identity> Credentials::ReadAll() const {
  identity::Identity read;
  SKERRY_ASSIGN_OR_RETURN(read.authorities, ReadText(paths_.ca, *files_));
  SKERRY_ASSIGN_OR_RETURN(read.chain, ReadText(paths_.certificate, *files_));
  SKERRY_ASSIGN_OR_RETURN(read.key, ReadText(paths_.key, *files_));
  return read;
}

absl::StatusOr<identity::CheckedIdentity> Credentials::Check(
    const identity::Identity& read) const {
  auto checked = identity::CheckIdentity(read, now_());
  if (checked.ok()) return checked;
  return Annotate(checked.status(),
                  absl::StrCat("the identity in ", paths_.certificate));
}

identity::Certificate Credentials::certificate() const {
  const runtime::MutexLock lock(mutex_);
  SKERRY_CHECK(certificate_.has_value());
  return *certificate_;
}

identity::Name Credentials::self() const { return *certificate().name(); }

std::string Credentials::trouble() const {
  const runtime::MutexLock lock(mutex_);
  return trouble_;
}

absl::Status Credentials::CheckReach(std::string_view address) const {
  return is_tls() ? CheckAddress(address, AddressUse::kListen)
                  : RequireLoopback(address);
}

void Credentials::AddPort(const std::string& address,
                          grpc::ServerBuilder& builder, int* port) const {
  SKERRY_CHECK(CheckReach(address).ok());
  if (!is_tls() || IsUnixAddress(address)) {
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), port);
    return;
  }
  // Options are for one object each: gRPC aborts when they are used again.
  grpc::experimental::TlsServerCredentialsOptions options(provider_);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  const auto credentials = grpc::experimental::TlsServerCredentials(options);
  credentials->SetAuthMetadataProcessor(std::make_shared<Guard>(
      self().cluster, revocations_, refused_calls_, now_));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                             kConnectionAgeMaxMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                             kConnectionGraceMs);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeMaxMs);
  builder.AddListeningPort(address, credentials, port);
}

std::shared_ptr<grpc::Channel> Credentials::ChannelTo(
    const std::string& address, ServerKind server,
    grpc::ChannelArguments arguments) const {
  const absl::Status reach = CheckReach(address);
  if (!reach.ok()) {
    runtime::Log(runtime::Severity::kError, "transport.peer.not_allowed",
                 {{"peer", address}, {"error", reach}});
    return grpc::CreateCustomChannel(address, nullptr, arguments);
  }
  if (!is_tls() || IsUnixAddress(address)) {
    return grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments);
  }
  MeantServer meant{self().cluster, server, std::nullopt};
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(provider_);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_check_call_host(false);
  options.set_certificate_verifier(ServerVerifier::Create<ServerVerifier>(
      [meant = std::move(meant), address, peers = peers_] {
        MeantServer wanted = meant;
        if (wanted.kind == ServerKind::kWorker) {
          wanted.worker = peers->Find(address);
        }
        return wanted;
      }));
  arguments.SetSslTargetNameOverride(identity::kHostName);
  return grpc::CreateCustomChannel(
      address, grpc::experimental::TlsCredentials(options), arguments);
}

void Credentials::Refuse(const absl::Status& why) {
  const std::string trouble = absl::StrCat("the identity cannot be renewed: ",
                                           std::string(why.message()));
  {
    const runtime::MutexLock lock(mutex_);
    if (trouble_ == trouble) return;
    trouble_ = trouble;
  }
  runtime::Log(runtime::Severity::kError, "identity.not_renewed",
               {{"cause", std::string(why.message())},
                {"kept_until", absl::FormatTime(certificate().not_after())}});
}

absl::Status Credentials::ReadRevoked() const {
  if (paths_.revoked.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> text = ReadText(paths_.revoked, *files_);
  if (absl::IsNotFound(text.status())) text = "";
  SKERRY_RETURN_IF_ERROR(text.status());
  absl::StatusOr<RevokedList> list = ParseRevokedList(*text);
  SKERRY_RETURN_IF_ERROR(Annotate(list.status(), paths_.revoked));
  revocations_->Set(*std::move(list));
  return absl::OkStatus();
}

void Credentials::Refresh() {
  const absl::Status read = ReadRevoked();
  if (!read.ok()) return Refuse(read);
  RefreshIdentity();
}

void Credentials::RefreshIdentity() {
  absl::StatusOr<identity::Identity> read = ReadAll();
  if (!read.ok()) return Refuse(read.status());
  if (Same(*read, in_use_)) {
    seen_.reset();
    const absl::Time end = certificate().not_after();
    if (now_() > end) {
      return Refuse(absl::FailedPreconditionError(
          absl::StrCat(paths_.certificate, " has expired at ",
                       absl::FormatTime(end), " and nothing replaces it")));
    }
    const runtime::MutexLock lock(mutex_);
    trouble_.clear();
    return;
  }
  const absl::StatusOr<identity::CheckedIdentity> checked = Check(*read);
  if (!checked.ok()) {
    // Files are replaced one after the other: what is half done gets time.
    const bool stays = seen_.has_value() && Same(*seen_, *read);
    seen_ = *std::move(read);
    if (stays) Refuse(checked.status());
    return;
  }
  if (checked->name != self()) {
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat(paths_.certificate, " is of ",
                     identity::FormatName(checked->name), " and not of ",
                     identity::FormatName(self()), "; start again to change")));
  }
  const absl::Status replaced =
      live_->Replace(read->authorities, read->chain, read->key);
  if (!replaced.ok()) return Refuse(replaced);
  in_use_ = *std::move(read);
  seen_.reset();
  const identity::Certificate& taken = checked->chain.front();
  {
    const runtime::MutexLock lock(mutex_);
    certificate_ = taken;
    trouble_.clear();
  }
  runtime::Log(runtime::Severity::kInfo, "identity.renewed",
               {{"serial", taken.serial()},
                {"until", absl::FormatTime(taken.not_after())}});
}

void Credentials::Watch(const std::shared_ptr<Credentials>& credentials,
                        runtime::EventLoop& loop, runtime::Executor& executor) {
  if (!credentials->is_tls()) return;
  loop.RunAt(
      loop.Now() + kRefreshEvery,
      [weak = std::weak_ptr<Credentials>(credentials), &loop, &executor] {
        executor.Run([weak, &loop, &executor] {
          const std::shared_ptr<Credentials> credentials = weak.lock();
          if (credentials == nullptr) return;
          credentials->Refresh();
          loop.Post([weak, &loop, &executor] {
            const auto credentials = weak.lock();
            if (credentials != nullptr) {
              Watch(credentials, loop, executor);
            }
          });
        });
      });
}

}  // namespace skerry::transport
