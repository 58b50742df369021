#include "transport/grpc/trial.h"

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/instant.h"
#include "transport/grpc/call_target.h"
#include "transport/grpc/caller.h"
#include "transport/grpc/channel_args.h"
#include "transport/grpc/plain_cause.h"

namespace skerry::transport {
namespace {

// Everybody may ask this. A worker that has no such service answers, too, and
// says so.
constexpr char kQuestion[] = "/grpc.health.v1.Health/Check";

// Whether the other end has said something.
bool IsAnswer(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
      return false;
    default:
      return true;
  }
}

// OK when the other end of the call is the worker, or shows no certificate.
absl::Status CheckIdentity(const grpc::AuthContext& context,
                           const std::string& worker) {
  const absl::StatusOr<Caller> other = CallerOf(context);
  if (!other.ok()) return other.status();
  if (!other->name.has_value()) return absl::OkStatus();
  const auto* const named =
      std::get_if<identity::WorkerName>(&other->name->who);
  if (named != nullptr && named->worker == worker) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(skerry::transport::Describe(*other), " answers there"));
}

}  // namespace

struct Trial::Dialling {
  std::string worker;
  std::vector<std::string> endpoints;
  Done done;
  size_t next = 0;  // of the endpoints
  std::vector<std::string> failed;
  std::shared_ptr<grpc::Channel> channel;
  // The newest call's.
  std::unique_ptr<grpc::ClientContext> context;
  grpc::ByteBuffer question;
  grpc::ByteBuffer answer;
  Instant asked;
};

Trial::Trial(TrialOptions options, runtime::EventLoop& loop)
    : options_(std::move(options)), loop_(loop) {}

Trial::~Trial() {
  alive_.reset();
  for (const std::weak_ptr<Dialling>& one : under_way_) {
    const std::shared_ptr<Dialling> dialling = one.lock();
    if (dialling != nullptr && dialling->context != nullptr) {
      dialling->context->TryCancel();
    }
  }
  open_calls_.AwaitNone();
}

void Trial::Dial(const std::string& worker, std::vector<std::string> endpoints,
                 Done done) {
  auto dialling = std::make_shared<Dialling>();
  dialling->worker = worker;
  dialling->endpoints = std::move(endpoints);
  dialling->done = std::move(done);
  std::erase_if(under_way_, [](const auto& one) { return one.expired(); });
  under_way_.push_back(dialling);
  Next(std::move(dialling));
}

void Trial::Next(std::shared_ptr<Dialling> dialling) {
  if (dialling->next == dialling->endpoints.size()) {
    std::move(dialling->done)(
        absl::UnavailableError(absl::StrJoin(dialling->failed, "; ")));
    return;
  }
  const std::string& endpoint = dialling->endpoints[dialling->next++];
  const absl::Status may = options_.credentials->CheckReach(endpoint);
  if (!may.ok()) {
    loop_.Post([this, alive = std::weak_ptr<char>(alive_), dialling, may] {
      if (!alive.expired()) Fail(dialling, std::string(may.message()));
    });
    return;
  }
  // A channel of its own, so that it connects anew.
  dialling->channel = options_.credentials->ChannelTo(
      endpoint, ServerKind::kWorker, BulkChannelArguments());
  Ask(std::move(dialling), false);
}

void Trial::Ask(std::shared_ptr<Dialling> dialling, bool is_timed) {
  Dialling& one = *dialling;
  one.context = std::make_unique<grpc::ClientContext>();
  CallTarget{options_.from, ""}.AddTo(*one.context);
  // A span, not a time: gRPC adds it to its own clock.
  one.context->set_deadline(gpr_time_from_millis(
      absl::ToInt64Milliseconds(options_.answer_max), GPR_TIMESPAN));
  const grpc::Slice nothing;
  one.question = grpc::ByteBuffer(&nothing, 1);
  one.answer.Clear();
  one.asked = loop_.Now();
  open_calls_.Add();
  grpc::GenericStub(one.channel)
      .UnaryCall(one.context.get(), kQuestion, grpc::StubOptions(),
                 &one.question, &one.answer,
                 [this, alive = std::weak_ptr<char>(alive_), dialling,
                  is_timed](grpc::Status status) mutable {
                   absl::Status failed;
                   if (IsAnswer(status)) {
                     failed = CheckIdentity(*dialling->context->auth_context(),
                                            dialling->worker);
                   } else if (status.error_code() ==
                              grpc::StatusCode::DEADLINE_EXCEEDED) {
                     failed = absl::UnavailableError(absl::StrCat(
                         "no answer within ",
                         absl::FormatDuration(options_.answer_max)));
                   } else {
                     failed = absl::UnavailableError(
                         PlainCause(status.error_message()));
                   }
                   // The loop lets go of it: gRPC's thread of callbacks would
                   // end itself with the process's last channel, and abort.
                   loop_.Post([this, alive, dialling = std::move(dialling),
                               is_timed, failed] {
                     if (!alive.expired()) OnAnswer(dialling, is_timed, failed);
                   });
                   open_calls_.Remove();
                 });
}

void Trial::OnAnswer(std::shared_ptr<Dialling> dialling, bool is_timed,
                     const absl::Status& failed) {
  if (!failed.ok()) {
    return Fail(std::move(dialling), std::string(failed.message()));
  }
  // The first answer took the connection and the handshake, too.
  if (!is_timed) return Ask(std::move(dialling), true);
  const double round_trip_ms =
      absl::ToDoubleMilliseconds(loop_.Now() - dialling->asked);
  std::move(dialling->done)(round_trip_ms);
}

void Trial::Fail(std::shared_ptr<Dialling> dialling, const std::string& why) {
  dialling->failed.push_back(
      absl::StrCat(dialling->endpoints[dialling->next - 1], ": ", why));
  Next(std::move(dialling));
}

}  // namespace skerry::transport
