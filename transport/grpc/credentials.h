// transport/grpc/credentials.h
//
// The one place that makes gRPC ports and channels: plaintext where nothing
// leaves this machine, mutual TLS 1.3 everywhere else. docs/security.md has the
// rules.
#ifndef SKERRY_TRANSPORT_GRPC_CREDENTIALS_H_
#define SKERRY_TRANSPORT_GRPC_CREDENTIALS_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/name.h"
#include "identity/x509/certificate.h"
#include "identity/x509/identity_folder.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "runtime/posix/mutex.h"
#include "transport/grpc/live_files.h"
#include "transport/grpc/peer_names.h"
#include "transport/grpc/refused_calls.h"
#include "transport/grpc/revocations.h"
#include "transport/grpc/server_check.h"

namespace skerry::transport {

// PEM: CAs that are trusted, a certificate with the chain to its CA, its key.
struct CredentialFiles {
  std::string ca;
  std::string certificate;
  std::string key;
  // Certificates that are not believed, as ParseRevokedList reads them. May be
  // missing. Empty: no list.
  std::string revoked = "";
};

using WallClock = std::function<absl::Time()>;

// Any thread may call it, except where a member says otherwise.
class Credentials {
 public:
  // Reaches nothing but this machine.
  static std::shared_ptr<Credentials> Plaintext();
  // Everything but Unix sockets gets TLS. `files` outlives the object, and any
  // thread may call `now`. Call it before any other use of gRPC in the process,
  // since gRPC reads once which versions of TLS it speaks.
  //
  // Errors: those of reading; FailedPrecondition, with the path: files that do
  // not belong together, a certificate that is not valid now or that names
  // nobody of a cluster.
  static absl::StatusOr<std::shared_ptr<Credentials>> FromFiles(
      const CredentialFiles& paths, const runtime::Files& files, WallClock now);

  bool is_tls() const { return provider_ != nullptr; }
  // The certificate in use. Requires: is_tls().
  identity::Certificate certificate() const;
  // Whom it speaks for. Requires: is_tls().
  identity::Name self() const;
  // Why the identity cannot be renewed; empty when nothing is wrong.
  std::string trouble() const;

  // OK for an address that these credentials may listen at or connect to.
  // InvalidArgument, with one line that says what to do.
  absl::Status CheckReach(std::string_view address) const;

  // Adds the port. With TLS it asks clients for a certificate and lets in those
  // without one; a Guard sees every call and refuses what is not for the
  // caller. `port`, if given, gets the number once the server has started.
  // Requires: CheckReach(address).
  void AddPort(const std::string& address, grpc::ServerBuilder& builder,
               int* port = nullptr) const;

  // A channel whose calls fail unless the server is the one that is meant. To
  // an address outside of CheckReach every call fails.
  std::shared_ptr<grpc::Channel> ChannelTo(
      const std::string& address, ServerKind server,
      grpc::ChannelArguments arguments) const;

  // Channels to workers expect these names.
  PeerNames& peers() const { return *peers_; }
  // Callers that ports refuse.
  const std::shared_ptr<Revocations>& revocations() const {
    return revocations_;
  }

  // Counts the calls that ports and services have refused.
  RefusedCalls& refused_calls() const { return *refused_calls_; }

  // Looks at the files again; takes good ones that have changed into use, for
  // connections from then on, and keeps what it has when they are bad. Reads
  // files. One call at a time.
  void Refresh();
  // Calls Refresh() on `executor` every second, for as long as the object
  // lives. `loop` outlives `executor`, and both outlive the last call.
  static void Watch(const std::shared_ptr<Credentials>& credentials,
                    runtime::EventLoop& loop, runtime::Executor& executor);

 private:
  Credentials() = default;
  absl::StatusOr<identity::Identity> ReadAll() const;
  absl::StatusOr<identity::CheckedIdentity> Check(
      const identity::Identity& read) const;
  absl::Status ReadRevoked() const;
  void RefreshIdentity();
  // Keeps what is in use, and says so once.
  void Refuse(const absl::Status& why);

  CredentialFiles paths_;
  WallClock now_;
  const runtime::Files* files_ = nullptr;
  std::shared_ptr<PeerNames> peers_ = std::make_shared<PeerNames>();
  std::shared_ptr<Revocations> revocations_ = std::make_shared<Revocations>();
  std::shared_ptr<RefusedCalls> refused_calls_ =
      std::make_shared<RefusedCalls>();
  std::unique_ptr<LiveFiles> live_;
  std::shared_ptr<grpc::experimental::CertificateProviderInterface> provider_;
  // Both: of Refresh() alone.
  identity::Identity in_use_;
  std::optional<identity::Identity> seen_;

  mutable runtime::Mutex mutex_;
  // None in plaintext.
  std::optional<identity::Certificate> certificate_ ABSL_GUARDED_BY(mutex_);
  std::string trouble_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_CREDENTIALS_H_
