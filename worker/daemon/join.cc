#include "worker/daemon/join.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "identity/join_token.h"
#include "identity/name.h"
#include "identity/x509/certificate_request.h"
#include "identity/x509/identity_folder.h"
#include "proto/skerry/v1/join.grpc.pb.h"
#include "runtime/log.h"
#include "transport/grpc/pinned_channel.h"
#include "transport/grpc/plain_cause.h"

namespace skerry::worker {
namespace {

constexpr int64_t kCallMs = 10'000;
constexpr absl::Duration kRetryMin = absl::Milliseconds(200);
constexpr absl::Duration kRetryMax = absl::Seconds(5);
constexpr absl::Duration kLookAtFile = absl::Seconds(1);
constexpr absl::Duration kFirstRenewalLook = absl::Seconds(1);
constexpr absl::Duration kRenewalLook = absl::Seconds(10);

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      transport::PlainCause(status.error_message()));
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_millis(kCallMs, GPR_TIMESPAN)));
}

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Says a thing once, until another is said.
class Notes {
 public:
  void Say(const absl::Status& why) {
    std::string line(why.message());
    if (line == last_) return;
    runtime::Log(runtime::Severity::kWarning, "worker.join.waiting",
                 {{"cause", line}});
    last_ = std::move(line);
  }

 private:
  std::string last_;
};

enum class Next { kGiveUp, kOtherToken, kLater };

Next NextAfter(const absl::Status& refused) {
  switch (refused.code()) {
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kInvalidArgument:
      return Next::kOtherToken;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kUnimplemented:
      return Next::kGiveUp;
    default:
      return Next::kLater;
  }
}

absl::Status GivenUp(const absl::Status& why, const std::string& coordinator) {
  if (absl::IsAlreadyExists(why)) return why;
  if (absl::IsUnimplemented(why)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the coordinator at ", coordinator,
                     " has no cluster that a worker could join; make one with: "
                     "skerry-coordinator init"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the coordinator at ", coordinator, " is not trusted: ", why.message()));
}

class Joiner {
 public:
  Joiner(const JoinOptions& options, const AskToJoin& ask,
         runtime::Files& files)
      : options_(options), ask_(ask), files_(files) {}

  absl::Status Run() {
    SKERRY_ASSIGN_OR_RETURN(const bool has, HasIdentity());
    if (has) return absl::OkStatus();
    SKERRY_ASSIGN_OR_RETURN(const identity::PrivateKey key,
                            identity::KeyOf(options_.folder, files_));
    for (;;) {
      const absl::StatusOr<std::string> text =
          ReadText(options_.token_file, files_);
      const absl::Status done = text.ok() ? Ask(*text, key) : text.status();
      if (done.ok()) return absl::OkStatus();
      const Next next = text.ok() ? NextAfter(done) : Next::kOtherToken;
      if (next == Next::kGiveUp) return GivenUp(done, options_.coordinator);
      notes_.Say(done);
      SKERRY_RETURN_IF_ERROR(
          next == Next::kLater
              ? Wait(std::exchange(retry_, std::min(2 * retry_, kRetryMax)))
              : WaitForOtherToken(text));
    }
  }

 private:
  absl::Status Wait(absl::Duration time) {
    if (options_.wait(time)) return absl::OkStatus();
    return absl::CancelledError("the worker is to stop");
  }

  absl::Status WaitForOtherToken(const absl::StatusOr<std::string>& before) {
    retry_ = kRetryMin;
    for (;;) {
      SKERRY_RETURN_IF_ERROR(Wait(kLookAtFile));
      const absl::StatusOr<std::string> text =
          ReadText(options_.token_file, files_);
      if (text.ok() && (!before.ok() || *text != *before)) {
        return absl::OkStatus();
      }
    }
  }

  // Errors: FailedPrecondition, another worker's.
  absl::StatusOr<bool> HasIdentity() {
    const auto read = identity::ReadIdentity(options_.folder, files_);
    if (absl::IsNotFound(read.status())) return false;
    SKERRY_RETURN_IF_ERROR(read.status());
    const auto checked = identity::CheckIdentity(*read, options_.wall());
    if (!checked.ok()) {
      runtime::Log(runtime::Severity::kWarning, "worker.join.again",
                   {{"folder", options_.folder},
                    {"cause", std::string(checked.status().message())}});
      return false;
    }
    const identity::WorkerName self{options_.island, options_.name};
    const auto* who = std::get_if<identity::WorkerName>(&checked->name.who);
    if (who != nullptr && *who == self) return true;
    return absl::FailedPreconditionError(absl::StrCat(
        options_.folder, " is of ", identity::FormatName(checked->name),
        ", not of worker ", options_.name, " of island ", options_.island,
        "; use the --name and --island of before, or another --state"));
  }

  absl::Status Ask(const std::string& text, const identity::PrivateKey& key) {
    SKERRY_ASSIGN_OR_RETURN(const identity::JoinToken token,
                            identity::ParseJoinToken(text));
    v1::JoinRequest request;
    request.set_token(identity::FormatJoinToken(token));
    SKERRY_ASSIGN_OR_RETURN(*request.mutable_certificate_request(),
                            identity::MakeRequest(key));
    request.set_worker(options_.name);
    request.set_island(options_.island);
    SKERRY_ASSIGN_OR_RETURN(v1::JoinReply reply, ask_(request));
    const identity::Identity got{std::move(*reply.mutable_authorities()),
                                 std::move(*reply.mutable_chain()), key.Pem()};
    const absl::Status good =
        identity::CheckIdentity(got, options_.wall()).status();
    if (!good.ok()) {
      return absl::InternalError(absl::StrCat(
          "the certificate that the coordinator gave cannot be used: ",
          good.message()));
    }
    SKERRY_RETURN_IF_ERROR(
        identity::WriteIdentity(options_.folder, got, files_));
    runtime::Log(runtime::Severity::kInfo, "worker.joined",
                 {{"coordinator", options_.coordinator}, {"token", token.id}});
    return absl::OkStatus();
  }

  const JoinOptions& options_;
  const AskToJoin& ask_;
  runtime::Files& files_;
  Notes notes_;
  absl::Duration retry_ = kRetryMin;
};

void RenewAfter(absl::Duration wait, const RenewalOptions& options,
                runtime::EventLoop& loop, runtime::Executor& disk,
                runtime::Files& files) {
  loop.RunAt(loop.Now() + wait, [options, &loop, &disk, &files] {
    disk.Run([options, &files] {
      const absl::Status renewed =
          RenewIfDue(options.folder, options.wall(), options.mark->Get(),
                     options.channel, files)
              .status();
      if (renewed.ok()) return;
      runtime::Log(runtime::Severity::kWarning, "worker.renewal.failed",
                   {{"cause", std::string(renewed.message())}});
    });
    RenewAfter(kRenewalLook, options, loop, disk, files);
  });
}

}  // namespace

AskToJoin AskPinned(const JoinOptions& options) {
  const auto fault = std::make_shared<transport::PinFault>();
  const auto channel = transport::PinnedChannel(
      options.coordinator, options.ca_pin, options.wall, fault);
  return [fault, channel](
             const v1::JoinRequest& request) -> absl::StatusOr<v1::JoinReply> {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::JoinReply reply;
    const absl::Status called =
        FromGrpc(v1::Join::NewStub(channel)->Join(&context, request, &reply));
    if (called.ok()) return reply;
    if (absl::IsUnavailable(called) && !fault->why().ok()) {
      return absl::UnauthenticatedError(fault->why().message());
    }
    return called;
  };
}

absl::Status Join(const JoinOptions& options, const AskToJoin& ask,
                  runtime::Files& files) {
  return Joiner(options, ask, files).Run();
}

void IdentityMark::Set(std::string mark) {
  const runtime::MutexLock lock(mutex_);
  mark_ = std::move(mark);
}

std::string IdentityMark::Get() const {
  const runtime::MutexLock lock(mutex_);
  return mark_;
}

absl::StatusOr<bool> RenewIfDue(const std::string& folder, absl::Time now,
                                const std::string& mark,
                                const std::shared_ptr<grpc::Channel>& channel,
                                runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(identity::Identity own,
                          identity::ReadIdentity(folder, files));
  SKERRY_ASSIGN_OR_RETURN(const auto chain,
                          identity::Certificate::ParsePem(own.chain));
  SKERRY_ASSIGN_OR_RETURN(const std::string own_mark, identity::MarkOf(own));
  const bool of_old_authority = !mark.empty() && mark != own_mark;
  if (!of_old_authority && !identity::IsDueForRenewal(chain.front(), now)) {
    return false;
  }
  grpc::ClientContext context;
  SetDeadline(context);
  v1::JoinReply reply;
  SKERRY_RETURN_IF_ERROR(FromGrpc(
      v1::Join::NewStub(channel)->Renew(&context, v1::RenewRequest(), &reply)));
  own.authorities = std::move(*reply.mutable_authorities());
  own.chain = std::move(*reply.mutable_chain());
  SKERRY_RETURN_IF_ERROR(identity::CheckIdentity(own, now).status());
  SKERRY_RETURN_IF_ERROR(identity::WriteIdentity(folder, own, files));
  return true;
}

void KeepRenewing(const RenewalOptions& options, runtime::EventLoop& loop,
                  runtime::Executor& disk, runtime::Files& files) {
  RenewAfter(kFirstRenewalLook, options, loop, disk, files);
}

}  // namespace skerry::worker
