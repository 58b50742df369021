// coordinator/service/authority_folders.h
//
// Keeps a cluster's CA in the state folder, and replaces it. The first CA is in
// `authority`, the next ones are in `authority-2`, `authority-3` and so on. The
// last of these folders with a cert.pem has the CA that writes certificates.
//
//   cert.pem           the CA, written last
//   key.pem            its key; gone once the next CA is there
//   voucher.pem        from the second CA on: what the one before says of it
//
// A CA whose folder still has a cert.pem when the next one is there is trusted,
// and writes nothing.
#ifndef SKERRY_COORDINATOR_SERVICE_AUTHORITY_FOLDERS_H_
#define SKERRY_COORDINATOR_SERVICE_AUTHORITY_FOLDERS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/x509/authority.h"
#include "identity/x509/certificate.h"
#include "runtime/files.h"

namespace skerry::coordinator {

// Certificates of workers are renewed within a day, so a CA that was replaced
// longer ago has written none that is valid, operators' apart.
inline constexpr absl::Duration kRetireAfter = absl::Hours(25);

struct Authorities {
  identity::Authority writes;
  // While the CA of before is trusted, too.
  struct Before {
    identity::Certificate certificate;
    // Says that the CA of before trusts the key of `writes`.
    identity::Certificate voucher;
  };
  std::optional<Before> before;

  // The CAs that are trusted, in PEM.
  std::string Trusted() const;
  // What a server or client sends after its own certificate, in PEM.
  std::string Above() const;
  // The key that who joins is told to expect, sha256:HEX. It is that of the
  // older CA, whose pin may be in join commands that were printed before.
  std::string Pin() const;
};

// Errors of all: those of the disk.

// Makes the first CA, or begins anew where that was interrupted.
absl::StatusOr<Authorities> MakeAuthorities(const std::string& folder,
                                            const std::string& cluster,
                                            absl::Time now,
                                            runtime::Files& files);
// Errors also: FailedPrecondition, in one line, for files that are damaged or
// not there.
absl::StatusOr<Authorities> ReadAuthorities(const std::string& folder,
                                            const runtime::Files& files);
// Makes the next CA. Errors also: FailedPrecondition while the one of before is
// still trusted, or when the present one has expired.
absl::Status ReplaceAuthority(const std::string& folder, absl::Time now,
                              runtime::Files& files);
// Ends the trust in the CA of before. Errors also: FailedPrecondition when
// there is none, and before kRetireAfter unless `at_once`.
absl::Status RetireAuthority(const std::string& folder, bool at_once,
                             absl::Time now, runtime::Files& files);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_AUTHORITY_FOLDERS_H_
