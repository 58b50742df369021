// identity/name.h
//
// Who a certificate speaks for, as the SPIFFE URI in it:
//
//   spiffe://CLUSTER/coordinator
//   spiffe://CLUSTER/island/ISLAND/worker/NAME
//   spiffe://CLUSTER/operator/ROLE/NAME
#ifndef SKERRY_IDENTITY_NAME_H_
#define SKERRY_IDENTITY_NAME_H_

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::identity {

// What an operator may do; each role may do all that the one before it may.
enum class Role { kViewer, kOperator, kAdmin };

std::string_view RoleWord(Role role);
// Errors: InvalidArgument, with the words that there are.
absl::StatusOr<Role> ParseRole(std::string_view word);

struct CoordinatorName {
  friend bool operator==(const CoordinatorName&,
                         const CoordinatorName&) = default;
};

struct WorkerName {
  std::string island;
  std::string worker;
  friend bool operator==(const WorkerName&, const WorkerName&) = default;
};

struct OperatorName {
  Role role = Role::kViewer;
  std::string name;
  friend bool operator==(const OperatorName&, const OperatorName&) = default;
};

struct Name {
  std::string cluster;
  std::variant<CoordinatorName, WorkerName, OperatorName> who;
  friend bool operator==(const Name&, const Name&) = default;
};

// Checks the name of an island, a worker or an operator: 1 to 40 letters,
// digits, '-', '_' and '.', and neither "." nor "..". Errors: InvalidArgument,
// which begins with `what`.
absl::Status CheckWord(std::string_view what, std::string_view word);
// Checks the name of a cluster: 1 to 63 lower-case letters, digits, '-' and
// '.'. Errors: InvalidArgument.
absl::Status CheckCluster(std::string_view cluster);

// Requires: CheckCluster and CheckWord are OK of the parts.
std::string FormatName(const Name& name);

// Reads what FormatName writes and nothing else. Errors: InvalidArgument.
absl::StatusOr<Name> ParseName(std::string_view uri);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_NAME_H_
