// identity/x509/identity_folder.h
//
// Who a process is, as three files that only their owner may read: ca.pem (the
// CAs that it trusts), cert.pem (its certificate, then the CA that wrote it,
// which servers have to send) and key.pem.
#ifndef SKERRY_IDENTITY_X509_IDENTITY_FOLDER_H_
#define SKERRY_IDENTITY_X509_IDENTITY_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/x509/certificate.h"
#include "identity/x509/keys.h"
#include "runtime/files.h"

namespace skerry::identity {

// Its place in a daemon's state folder.
inline constexpr char kIdentityFolder[] = "/credentials";
inline constexpr char kAuthoritiesFile[] = "/ca.pem";
inline constexpr char kChainFile[] = "/cert.pem";
inline constexpr char kKeyFile[] = "/key.pem";

// Texts in PEM.
struct Identity {
  std::string authorities;
  std::string chain;
  std::string key;
};

struct CheckedIdentity {
  Name name;
  std::vector<Certificate> authorities;
  // Its own first.
  std::vector<Certificate> chain;
  PrivateKey key;
};

// Checks that the key is that of the certificate, that the chain ends at one of
// the CAs, that the certificate is valid now and that it has a name. Errors:
// FailedPrecondition, in one line that names the file.
absl::StatusOr<CheckedIdentity> CheckIdentity(const Identity& identity,
                                              absl::Time now);

// Errors: those of the disk; NotFound where a file is missing.
absl::StatusOr<Identity> ReadIdentity(const std::string& folder,
                                      const runtime::Files& files);

// Writes the certificate last, so that whoever finds one finds what belongs to
// it. Renewing keeps the key, so that a process which dies between two writes
// leaves a pair that fits. Errors: those of the disk.
// Requires: `files` writes for the owner alone.
absl::Status WriteIdentity(const std::string& folder, const Identity& identity,
                           runtime::Files& files);

// A short text that is the same for two identities which trust the same CAs,
// and whose certificates the same CA wrote: a hash of the CAs and of what
// follows its own certificate in the chain, both in PEM. A worker whose mark
// differs from the coordinator's renews its certificate.
std::string MarkOf(std::string_view authorities, std::string_view above);
// The same of an identity, whose own certificate comes first in the chain.
// Errors: InvalidArgument, the chain cannot be read.
absl::StatusOr<std::string> MarkOf(const Identity& identity);

// The coordinator's mark, in the metadata with which it opens Control.Session.
inline constexpr char kMarkHeader[] = "skerry-identity-mark";

// The key of the folder; it is made when there is none. Errors: those of the
// disk; FailedPrecondition for a file that holds no key.
absl::StatusOr<PrivateKey> KeyOf(const std::string& folder,
                                 runtime::Files& files);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_X509_IDENTITY_FOLDER_H_
