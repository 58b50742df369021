// transport/grpc/identity_flags.h
//
// The flags with which a daemon is told who it is.
#ifndef SKERRY_TRANSPORT_GRPC_IDENTITY_FLAGS_H_
#define SKERRY_TRANSPORT_GRPC_IDENTITY_FLAGS_H_

#include <optional>
#include <string>

#include "transport/grpc/credentials.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::transport {

// docs/security.md has the folder and the files.
struct IdentityFlags {
  std::string folder;
  CredentialFiles files;

  // The flags write to this object, which outlives the parsing.
  void AddTo(CLI::App& app);

  // The files that are named, else those of the folder that is named, else
  // those of STATE/credentials if it has a certificate. None: the daemon has no
  // identity, and speaks plaintext on this machine alone.
  std::optional<CredentialFiles> Choose(const std::string& state) const;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_IDENTITY_FLAGS_H_
