// coordinator/service/cluster_identity.h
//
// Makes and reads what turns a state folder into the head of a cluster: the
// cluster's name, its CA and the coordinator's own certificate.
// `skerry-coordinator init` makes them once.
//
//   cluster            name, uid and address, one "field: value" a line
//   authority/         the CA (authority_folders.h)
//   credentials/       ca.pem, cert.pem and key.pem of the coordinator
#ifndef SKERRY_COORDINATOR_SERVICE_CLUSTER_IDENTITY_H_
#define SKERRY_COORDINATOR_SERVICE_CLUSTER_IDENTITY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/service/authority_folders.h"
#include "identity/name.h"
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

// Any thread may call a const member.
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

  // Looks whether the CA was replaced or retired since, by another process.
  // Returns whether it was; with an error all stays as it is. Errors: of
  // ReadAuthorities.
  absl::StatusOr<bool> Reload() const;

  // Writes the coordinator a new certificate when two thirds of the old one's
  // life are over, when it cannot be used, or when other CAs are trusted than
  // before. Returns whether it did.
  absl::StatusOr<bool> RenewOwn(absl::Time now) const;

  // A certificate, and after it what leads to a CA, in PEM. Errors: of
  // Authority::Issue.
  struct Issued {
    identity::Certificate certificate;
    std::string chain;
  };
  absl::StatusOr<Issued> Issue(const identity::Name& name,
                               const identity::PublicKey& key,
                               absl::Duration lifetime, absl::Time now) const;

  const ClusterFacts& facts() const { return facts_; }
  // The CAs that are trusted, in PEM.
  std::string authorities() const { return Now()->Trusted(); }
  // What workers are told to expect of the CA, sha256:HEX.
  std::string pin() const { return Now()->Pin(); }
  // Differs between two workers' credentials when one should be renewed.
  std::string mark() const;

 private:
  // What Reload() exchanges.
  struct Live;

  ClusterIdentity(std::string folder, ClusterFacts facts,
                  Authorities authorities, runtime::Files& files);
  std::shared_ptr<const Authorities> Now() const;

  std::string folder_;
  ClusterFacts facts_;
  std::shared_ptr<Live> live_;
  runtime::Files* files_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_CLUSTER_IDENTITY_H_
