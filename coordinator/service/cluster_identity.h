// coordinator/service/cluster_identity.h
//
// Makes and reads what turns a state folder into the head of a cluster: the
// cluster's name, its CA and the coordinator's own certificate.
// `skerry-coordinator init` makes them once.
//
//   cluster            name, uid and address, one "field: value" a line
//   authority/         cert.pem and key.pem of the CA
//   credentials/       ca.pem, cert.pem and key.pem of the coordinator
#ifndef SKERRY_COORDINATOR_SERVICE_CLUSTER_IDENTITY_H_
#define SKERRY_COORDINATOR_SERVICE_CLUSTER_IDENTITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/name.h"
#include "identity/x509/authority.h"
#include "identity/x509/certificate.h"
#include "identity/x509/keys.h"
#include "runtime/files.h"

namespace skerry::coordinator {

struct ClusterFacts {
  std::string name;
  // Drawn at random: two clusters of one name are not the same.
  uint64_t uid = 0;
  // host:port at which others reach the coordinator.
  std::string address;
  friend bool operator==(const ClusterFacts&, const ClusterFacts&) = default;
};

class ClusterIdentity {
 public:
  // Makes a cluster in `folder`. The folder counts as empty until Finish()
  // returns, and Make begins anew after a failure of power.
  //
  // Errors: AlreadyExists when the folder has a cluster; InvalidArgument for a
  // name or an address that cannot be; those of the disk.
  static absl::StatusOr<ClusterIdentity> Make(const std::string& folder,
                                              const ClusterFacts& facts,
                                              absl::Time now,
                                              runtime::Files& files);
  // Writes the last file of a new cluster, once all else is there that belongs
  // to it. Errors: those of the disk.
  absl::Status Finish();
  // Errors: NotFound when the folder has no cluster; FailedPrecondition, in one
  // line, for files that are damaged; those of the disk.
  static absl::StatusOr<ClusterIdentity> Open(const std::string& folder,
                                              runtime::Files& files);

  // Writes the coordinator a new certificate when two thirds of the old one's
  // life are over, or it cannot be used. Returns whether it did.
  absl::StatusOr<bool> RenewOwn(absl::Time now) const;

  // A certificate, and after it the CA's, in PEM. Errors: of Authority::Issue.
  struct Issued {
    identity::Certificate certificate;
    std::string chain;
  };
  absl::StatusOr<Issued> Issue(const identity::Name& name,
                               const identity::PublicKey& key,
                               absl::Duration lifetime, absl::Time now) const;

  const ClusterFacts& facts() const { return facts_; }
  // The CAs that are trusted, in PEM.
  std::string authorities() const { return authority_.certificate().Pem(); }
  // What workers are told to expect of the CA, sha256:HEX.
  std::string pin() const;

 private:
  ClusterIdentity(std::string folder, ClusterFacts facts,
                  identity::Authority authority, runtime::Files& files);

  std::string folder_;
  ClusterFacts facts_;
  identity::Authority authority_;
  runtime::Files* files_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_CLUSTER_IDENTITY_H_
