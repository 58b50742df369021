#include "transport/grpc/server_check.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "base/bounded_number.h"
#include "identity/name.h"

namespace skerry::transport {
namespace {

std::string Describe(const MeantServer& meant) {
  if (meant.kind == ServerKind::kCoordinator) {
    return absl::StrCat("the coordinator of cluster ", meant.cluster);
  }
  if (meant.worker.has_value()) {
    return absl::StrCat("worker ", *meant.worker, " of cluster ",
                        meant.cluster);
  }
  return absl::StrCat("a worker of cluster ", meant.cluster);
}

bool IsMeant(const MeantServer& meant, const identity::Name& name) {
  if (name.cluster != meant.cluster) return false;
  if (meant.kind == ServerKind::kCoordinator) {
    return std::holds_alternative<identity::CoordinatorName>(name.who);
  }
  const auto* const worker = std::get_if<identity::WorkerName>(&name.who);
  return worker != nullptr &&
         (!meant.worker.has_value() || worker->worker == *meant.worker);
}

}  // namespace

absl::Status CheckServer(const MeantServer& meant, std::string_view uri) {
  const absl::StatusOr<identity::Name> name = identity::ParseName(uri);
  if (name.ok() && IsMeant(meant, *name)) return absl::OkStatus();
  return absl::UnauthenticatedError(
      absl::StrCat("the server's certificate is of ", QuotedForMessage(uri),
                   " and not of ", Describe(meant)));
}

}  // namespace skerry::transport
