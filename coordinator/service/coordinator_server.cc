#include "coordinator/service/coordinator_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/status.h"
#include "coordinator/service/coordinator_metrics.h"
#include "coordinator/service/page_feed.h"
#include "transport/grpc/identity_metrics.h"

namespace skerry::coordinator {
namespace {

// A client that pings more often than this is told to go away.
constexpr int kPingIntervalMinMs = 10'000;
// A worker that vanished without closing its connection is noticed within the
// sum of both.
constexpr int kKeepaliveTimeMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
constexpr int kMetadataBytesMax = 8 << 10;
constexpr int kStreamsPerConnectionMax = 128;

// An admin call does not wait longer for the loop.
constexpr absl::Duration kAnswerMax = absl::Seconds(2);

// Runs `task` on the loop and waits until it calls what it is given.
template <typename Task>
void AndWait(runtime::EventLoop& loop, Task task) {
  absl::Notification done;
  loop.Post([&] { task([&done] { done.Notify(); }); });
  done.WaitForNotification();
}

ControlOptions WithRevocations(const ServerOptions& options) {
  ControlOptions control = options.control;
  control.revocations = options.credentials->revocations();
  return control;
}

OperatorOptions OperatorsWithRevocations(const ServerOptions& options) {
  OperatorOptions operators = options.operators;
  operators.revocations = options.credentials->revocations();
  return operators;
}

void SetArguments(const ServerOptions& options, grpc::ServerBuilder* builder) {
  grpc::ResourceQuota quota("coordinator");
  quota.Resize(options.memory_bytes_max);
  builder->SetResourceQuota(quota);
  builder->SetMaxReceiveMessageSize(options.receive_bytes_max);
  builder->SetMaxSendMessageSize(-1);
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kPingIntervalMinMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              kStreamsPerConnectionMax);
  // Two coordinators on one port would each see half of the workers.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

CoordinatorServer::CoordinatorServer(const ServerOptions& options,
                                     runtime::EventLoop& loop, Journal& journal)
    : options_(options),
      loop_(loop),
      shell_(options.cluster, loop, journal),
      control_(WithRevocations(options), loop, shell_),
      operators_(OperatorsWithRevocations(options), journal.term(), loop,
                 shell_),
      pieces_(options.pieces, loop, shell_) {
  shell_.set_observer(&operators_);
  // A token does not go over plaintext.
  if (options.operators.issuer.cluster != nullptr &&
      options.credentials->is_tls()) {
    join_ =
        std::make_unique<JoinService>(options.operators.issuer, loop, shell_);
  }
}

CoordinatorServer::~CoordinatorServer() = default;

absl::Status CoordinatorServer::Start() {
  SKERRY_RETURN_IF_ERROR(options_.credentials->CheckReach(options_.listen));
  SKERRY_RETURN_IF_ERROR(Recover());
  stage_ = Stage::kRecovered;
  SKERRY_RETURN_IF_ERROR(Listen());
  stage_ = Stage::kServing;
  return absl::OkStatus();
}

absl::Status CoordinatorServer::Recover() {
  absl::Status recovered;
  AndWait(loop_, [&](auto done) {
    recovered = shell_.Recover();
    done();
  });
  SKERRY_RETURN_IF_ERROR(recovered);
  // Before the first call is taken.
  AndWait(loop_, [&](auto done) {
    shell_.Look([this, done](const Cluster& cluster, Instant) {
      operators_.ApplyRevoked(cluster);
      done();
    });
  });
  return absl::OkStatus();
}

absl::Status CoordinatorServer::Listen() {
  grpc::EnableDefaultHealthCheckService(true);
  if (options_.reflection) {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  }
  grpc::ServerBuilder builder;
  SetArguments(options_, &builder);
  options_.credentials->AddPort(options_.listen, builder, &port_);
  builder.RegisterService(&control_);
  builder.RegisterService(&operators_);
  builder.RegisterService(&pieces_);
  if (join_ != nullptr) builder.RegisterService(join_.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port_ == 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", options_.listen,
                     "; is another process using the port?"));
  }
  server_->GetHealthCheckService()->SetServingStatus(true);
  return absl::OkStatus();
}

void CoordinatorServer::Stop() {
  const absl::Status why =
      absl::UnavailableError("the coordinator is stopping; try again");
  stage_ = Stage::kStopping;
  if (server_ != nullptr) {
    server_->GetHealthCheckService()->SetServingStatus(false);
  }
  AndWait(loop_, [&](auto done) {
    shell_.StopClock();
    control_.Close(why);
    operators_.Close(why);
    pieces_.Close(why);
    if (join_ != nullptr) join_->Close(why);
    done();
  });
  if (server_ != nullptr) {
    server_->Shutdown(gpr_time_from_millis(
        absl::ToInt64Milliseconds(options_.stop_max), GPR_TIMESPAN));
    server_->Wait();
  }
  AndWait(loop_, [&](auto done) { shell_.WhenIdle(done); });
}

absl::Status CoordinatorServer::Healthy() {
  const auto answered = std::make_shared<absl::Notification>();
  loop_.Post([answered] { answered->Notify(); });
  if (answered->WaitForNotificationWithTimeout(kAnswerMax)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError("the loop does not answer");
}

absl::Status CoordinatorServer::Ready() const {
  switch (stage_) {
    case Stage::kRecovering:
      return absl::UnavailableError("the journal is being recovered");
    case Stage::kRecovered:
      return absl::UnavailableError("the port is not open yet");
    case Stage::kServing:
      return absl::OkStatus();
    case Stage::kStopping:
      break;
  }
  return absl::UnavailableError("the coordinator is stopping");
}

template <typename Answer, typename Look>
absl::StatusOr<Answer> CoordinatorServer::AskLoop(Look look) {
  if (stage_ == Stage::kRecovering) {
    return absl::UnavailableError("the journal is being recovered");
  }
  struct Asked {
    absl::Notification done;
    Answer answer;
  };
  const auto asked = std::make_shared<Asked>();
  loop_.Post([this, asked, look = std::move(look)] {
    // Before this very question counts as one that waits.
    const ShellFacts shell = shell_.Counted();
    shell_.Look([asked, look, shell](const Cluster& cluster, Instant now) {
      look(cluster, now, shell, asked->answer);
      asked->done.Notify();
    });
  });
  if (!asked->done.WaitForNotificationWithTimeout(kAnswerMax)) {
    return absl::UnavailableError("the journal's disk does not answer");
  }
  return std::move(asked->answer);
}

absl::StatusOr<std::vector<runtime::Metric>> CoordinatorServer::Metrics() {
  auto metrics = AskLoop<std::vector<runtime::Metric>>(
      [this](const Cluster& cluster, Instant now, const ShellFacts& shell,
             std::vector<runtime::Metric>& out) {
        out = MetricsOf(cluster, now, shell);
        if (join_ != nullptr) out.push_back(join_->Counted());
      });
  if (metrics.ok()) {
    transport::AddIdentityMetrics(*options_.credentials, *metrics);
  }
  return metrics;
}

absl::StatusOr<PageFacts> CoordinatorServer::LookForPage(Revision after) {
  return AskLoop<PageFacts>([this, after](const Cluster& cluster, Instant now,
                                          const ShellFacts&, PageFacts& out) {
    out.jobs = cluster.ViewJobs(now);
    out.workers = cluster.ViewWorkers(now);
    out.events = operators_.NewestEvents(after, PageFeed::kEventsMax);
    out.now = now;
  });
}

std::string CoordinatorServer::Doing() const {
  return absl::StrCat("serves on port ", port_,
                      "; connected workers: ", shell_.Counted().streams);
}

uint64_t CoordinatorServer::StateHash() {
  uint64_t hash = 0;
  AndWait(loop_, [&](auto done) {
    shell_.Look([&hash, done](const Cluster& cluster, Instant) {
      hash = cluster.StateHash();
      done();
    });
  });
  return hash;
}

}  // namespace skerry::coordinator
