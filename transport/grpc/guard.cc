#include "transport/grpc/guard.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"
#include "transport/grpc/policy.h"

namespace skerry::transport {
namespace {

constexpr char kPathKey[] = ":path";

std::string MethodOf(const grpc::AuthMetadataProcessor::InputMetadata& all) {
  const auto path = all.find(kPathKey);
  if (path == all.end()) return "";
  return std::string(path->second.data(), path->second.size());
}

absl::Status CheckCertificate(const Caller& caller, std::string_view cluster,
                              const Revocations& revocations, absl::Time now) {
  const std::string name = identity::FormatName(*caller.name);
  if (caller.name->cluster != cluster) {
    return absl::UnauthenticatedError(
        absl::StrCat("the certificate is of ", name, ", and this is cluster ",
                     std::string(cluster)));
  }
  SKERRY_RETURN_IF_ERROR(CheckBelieved(revocations, name, caller.serial));
  if (now > caller.not_after) {
    return absl::UnauthenticatedError(
        absl::StrCat("the certificate of ", name, " expired at ",
                     absl::FormatTime(caller.not_after)));
  }
  return absl::OkStatus();
}

CallRefusal RefusalOf(const absl::StatusOr<Caller>& caller,
                      const absl::Status& why) {
  if (!absl::IsUnauthenticated(why)) return CallRefusal::kNotAllowed;
  return caller.ok() && !caller->name.has_value() ? CallRefusal::kNoCertificate
                                                  : CallRefusal::kNotBelieved;
}

}  // namespace

absl::Status CheckCaller(const Caller& caller, std::string_view method,
                         std::string_view cluster,
                         const Revocations& revocations, absl::Time now) {
  if (caller.name.has_value()) {
    SKERRY_RETURN_IF_ERROR(CheckCertificate(caller, cluster, revocations, now));
  }
  return CheckMethod(method, KindOf(caller.name));
}

Guard::Guard(std::string cluster,
             std::shared_ptr<const Revocations> revocations,
             std::shared_ptr<RefusedCalls> refused,
             std::function<absl::Time()> now)
    : cluster_(std::move(cluster)),
      revocations_(std::move(revocations)),
      refused_(std::move(refused)),
      now_(std::move(now)) {}

grpc::Status Guard::Process(const InputMetadata& metadata,
                            grpc::AuthContext* context, OutputMetadata*,
                            OutputMetadata*) {
  const std::string method = MethodOf(metadata);
  const absl::Time now = now_();
  const absl::StatusOr<Caller> caller = CallerOf(*context);
  const absl::Status allowed =
      caller.ok() ? CheckCaller(*caller, method, cluster_, *revocations_, now)
                  : caller.status();
  if (allowed.ok()) return grpc::Status::OK;
  refused_->Count(RefusalOf(caller, allowed));
  if (const std::optional<uint64_t> unsaid = refusals_.Count(now)) {
    runtime::Log(
        runtime::Severity::kWarning, "transport.call.refused",
        {{"caller", caller.ok() ? Describe(*caller) : "an unreadable name"},
         {"serial", caller.ok() ? caller->serial : ""},
         {"cause", std::string(allowed.message())},
         {"more_refused", *unsaid}});
  }
  return grpc::Status(static_cast<grpc::StatusCode>(allowed.code()),
                      std::string(allowed.message()));
}

}  // namespace skerry::transport
