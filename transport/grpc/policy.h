// transport/grpc/policy.h
//
// Who may call what: one table of every method that a port with TLS serves.
// docs/security.md shows it.
#ifndef SKERRY_TRANSPORT_GRPC_POLICY_H_
#define SKERRY_TRANSPORT_GRPC_POLICY_H_

#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "identity/name.h"

namespace skerry::transport {

enum class CallerKind {
  kNobody,
  kCoordinator,
  kWorker,
  kViewer,
  kOperator,
  kAdmin
};
inline constexpr int kCallerKindCount = 6;

std::string_view KindWord(CallerKind kind);
// kNobody for no name.
CallerKind KindOf(const std::optional<identity::Name>& name);

// A set of kinds.
class CallerKinds {
 public:
  template <typename... Each>
  constexpr explicit CallerKinds(Each... each)
      : bits_(((1u << static_cast<unsigned>(each)) | ... | 0u)) {}
  constexpr bool Contains(CallerKind kind) const {
    return (bits_ >> static_cast<unsigned>(kind) & 1u) != 0;
  }

 private:
  unsigned bits_;
};

struct MethodPolicy {
  // "/package.Service/Method"
  std::string_view method;
  CallerKinds kinds;
  // What the service checks besides, in words; empty: nothing.
  std::string_view besides = "";
};

// By method.
std::span<const MethodPolicy> Policies();

// Errors: Unauthenticated, nobody calls what asks for a certificate;
// PermissionDenied, a caller that may not call the method, or a method that is
// not in the table.
absl::Status CheckMethod(std::string_view method, CallerKind kind);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_POLICY_H_
