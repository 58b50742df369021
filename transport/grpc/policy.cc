#include "transport/grpc/policy.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bounded_number.h"

namespace skerry::transport {
namespace {

constexpr CallerKinds kAll(CallerKind::kNobody, CallerKind::kCoordinator,
                           CallerKind::kWorker, CallerKind::kViewer,
                           CallerKind::kOperator, CallerKind::kAdmin);
constexpr CallerKinds kWorkers(CallerKind::kWorker);
constexpr CallerKinds kReaders(CallerKind::kViewer, CallerKind::kOperator,
                               CallerKind::kAdmin);
constexpr CallerKinds kOperators(CallerKind::kOperator, CallerKind::kAdmin);
constexpr CallerKinds kHolders(CallerKind::kWorker, CallerKind::kOperator,
                               CallerKind::kAdmin);

constexpr CallerKinds kNobodyYet(CallerKind::kNobody);
constexpr CallerKinds kAdmins(CallerKind::kAdmin);

constexpr std::string_view kRelayed =
    "the orders of this worker say that it relays between the caller and the "
    "worker that the call names";

constexpr MethodPolicy kPolicies[] = {
    {"/grpc.health.v1.Health/Check", kAll},
    {"/grpc.health.v1.Health/Watch", kAll},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
     kReaders},
    {"/skerry.v1.Bulk/Fetch", kHolders,
     "the orders of this worker name a calling worker as one of the job"},
    {"/skerry.v1.Bulk/Frames", kWorkers},
    {"/skerry.v1.Bulk/RelayFetch", kWorkers, kRelayed},
    {"/skerry.v1.Bulk/RelayFrames", kWorkers, kRelayed},
    {"/skerry.v1.Bulk/RelayReverseFetch", kWorkers, kRelayed},
    {"/skerry.v1.Bulk/RelayReverseFrames", kWorkers, kRelayed},
    {"/skerry.v1.Bulk/ReverseFetch", kWorkers,
     "the orders of this worker say that the caller cannot be dialled"},
    {"/skerry.v1.Bulk/ReverseFrames", kWorkers,
     "the orders of this worker say that the caller cannot be dialled"},
    {"/skerry.v1.Control/Session", kWorkers,
     "worker and island are those of the certificate"},
    {"/skerry.v1.Join/Join", kNobodyYet,
     "the token lets this worker of this island in"},
    {"/skerry.v1.Join/Renew", kWorkers,
     "the name still belongs to the key of the certificate"},
    {"/skerry.v1.Operator/AuditData", kReaders},
    {"/skerry.v1.Operator/CancelJob", kOperators},
    {"/skerry.v1.Operator/CreateToken", kAdmins},
    {"/skerry.v1.Operator/DeleteJob", kOperators},
    {"/skerry.v1.Operator/DeleteToken", kAdmins},
    {"/skerry.v1.Operator/ForgetWorker", kAdmins},
    {"/skerry.v1.Operator/Generate", kOperators},
    {"/skerry.v1.Operator/GetJob", kReaders},
    {"/skerry.v1.Operator/GetVersion", kReaders},
    {"/skerry.v1.Operator/IssueOperator", kAdmins},
    {"/skerry.v1.Operator/LiftRevocation", kAdmins},
    {"/skerry.v1.Operator/ListJobs", kReaders},
    {"/skerry.v1.Operator/ListRevocations", kAdmins},
    {"/skerry.v1.Operator/ListTokens", kAdmins},
    {"/skerry.v1.Operator/ListWorkers", kReaders},
    {"/skerry.v1.Operator/LocateState", kReaders},
    {"/skerry.v1.Operator/PauseJob", kOperators},
    {"/skerry.v1.Operator/PlanJob", kReaders},
    {"/skerry.v1.Operator/RemoveStoredJobs", kOperators},
    {"/skerry.v1.Operator/RestoreJob", kOperators},
    {"/skerry.v1.Operator/ResumeJob", kOperators},
    {"/skerry.v1.Operator/RevokeCertificate", kAdmins},
    {"/skerry.v1.Operator/SetWorkerIntent", kOperators},
    {"/skerry.v1.Operator/StreamEvents", kReaders},
    {"/skerry.v1.Operator/SubmitJob", kOperators},
    {"/skerry.v1.Operator/WatchJob", kReaders},
    {"/skerry.v1.Peer/AgreeCut", kWorkers,
     "the caller has that rank of this worker's replica"},
    {"/skerry.v1.Peer/Meet", kWorkers,
     "the caller has that rank of this worker's replica"},
    {"/skerry.v1.Pieces/DeliverPiece", kWorkers,
     "the coordinator has asked this worker for that piece"},
    {"/skerry.v1.Pieces/FetchPiece", kOperators},
};

constexpr CallerKind kEveryKind[] = {
    CallerKind::kNobody, CallerKind::kCoordinator, CallerKind::kWorker,
    CallerKind::kViewer, CallerKind::kOperator,    CallerKind::kAdmin};
static_assert(std::size(kEveryKind) == kCallerKindCount);

std::string WordsOf(const CallerKinds& kinds) {
  std::vector<std::string> words;
  for (const CallerKind kind : kEveryKind) {
    if (kinds.Contains(kind)) words.emplace_back(KindWord(kind));
  }
  return absl::StrJoin(words, ", ");
}

}  // namespace

std::string_view KindWord(CallerKind kind) {
  switch (kind) {
    case CallerKind::kNobody:
      return "nobody";
    case CallerKind::kCoordinator:
      return "coordinator";
    case CallerKind::kWorker:
      return "worker";
    case CallerKind::kViewer:
      return "viewer";
    case CallerKind::kOperator:
      return "operator";
    case CallerKind::kAdmin:
      return "admin";
  }
  return "nobody";
}

CallerKind KindOf(const std::optional<identity::Name>& name) {
  if (!name.has_value()) return CallerKind::kNobody;
  if (std::holds_alternative<identity::CoordinatorName>(name->who)) {
    return CallerKind::kCoordinator;
  }
  if (std::holds_alternative<identity::WorkerName>(name->who)) {
    return CallerKind::kWorker;
  }
  switch (std::get<identity::OperatorName>(name->who).role) {
    case identity::Role::kViewer:
      return CallerKind::kViewer;
    case identity::Role::kOperator:
      return CallerKind::kOperator;
    case identity::Role::kAdmin:
      return CallerKind::kAdmin;
  }
  return CallerKind::kNobody;
}

std::span<const MethodPolicy> Policies() { return kPolicies; }

absl::Status CheckMethod(std::string_view method, CallerKind kind) {
  const auto policy = std::find_if(
      std::begin(kPolicies), std::end(kPolicies),
      [&](const MethodPolicy& one) { return one.method == method; });
  if (policy == std::end(kPolicies)) {
    return absl::PermissionDeniedError(
        absl::StrCat("nobody may call ", QuotedForMessage(method)));
  }
  if (policy->kinds.Contains(kind)) return absl::OkStatus();
  const std::string name(policy->method);
  if (kind == CallerKind::kNobody) {
    return absl::UnauthenticatedError(absl::StrCat(
        name, " asks for a certificate of the cluster, and none was shown"));
  }
  return absl::PermissionDeniedError(
      absl::StrCat(name, " is for ", WordsOf(policy->kinds), ", and not for ",
                   std::string(KindWord(kind))));
}

}  // namespace skerry::transport
