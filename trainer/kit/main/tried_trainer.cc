#include "trainer/kit/main/tried_trainer.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "runtime/posix/entropy.h"
#include "runtime/posix/monotonic_clock.h"
#include "transport/grpc/credentials.h"

namespace skerry::trainer::kit {
namespace {

// Descriptions have files of up to 16 MiB in them, and tables of tensors.
constexpr int kReplyBytesMax = 64 << 20;

// No process id is in it: containers that share memory may have equal ones.
std::string Unique() {
  return absl::StrCat("skerry-kit-", absl::Hex(runtime::DrawRandom64()));
}

std::unique_ptr<TriedTrainer::Stub> StubOf(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, kReplyBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return v1::Trainer::NewStub(transport::Credentials::Plaintext()->ChannelTo(
      absl::StrCat("unix:", socket), transport::ServerKind::kWorker,
      arguments));
}

template <typename Request>
Request RangeOf(ElementRange range) {
  Request request;
  request.add_ranges()->set_begin(range.begin);
  request.mutable_ranges(0)->set_end(range.end);
  return request;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

absl::StatusOr<std::unique_ptr<TriedTrainer>> TriedTrainer::Start(
    std::vector<std::string> command, const v1::JobSpec& job, int output_fd) {
  std::unique_ptr<TriedTrainer> trainer(
      new TriedTrainer(absl::StrCat("/tmp/", Unique(), ".sock"), job));
  command.push_back(absl::StrCat("--socket=", trainer->socket_));
  runtime::ProcessSpec spec;
  spec.argv = std::move(command);
  spec.output_fd = output_fd;
  SKERRY_ASSIGN_OR_RETURN(
      trainer->process_,
      runtime::Process::Start(spec, trainer->loop_,
                              [raw = trainer.get()](runtime::ProcessExit exit) {
                                const runtime::MutexLock lock(raw->mutex_);
                                raw->exit_ = exit;
                                raw->ended_.NotifyAll();
                              }));
  return trainer;
}

TriedTrainer::TriedTrainer(std::string socket, const v1::JobSpec& job)
    : socket_(std::move(socket)),
      job_(job),
      loop_("kit"),
      stub_(StubOf(socket_)) {}

TriedTrainer::~TriedTrainer() {
  loop_.Stop();
  process_.reset();
  unlink(socket_.c_str());
}

void TriedTrainer::Prepare(grpc::ClientContext& context) {
  context.set_wait_for_ready(true);
  context.set_deadline(
      gpr_time_from_seconds(absl::ToInt64Seconds(kCallWithin), GPR_TIMESPAN));
}

v1::DescribeRequest TriedTrainer::DescribeRequest() const {
  v1::DescribeRequest request;
  request.set_protocol_version(kProtocolVersion);
  *request.mutable_job() = job_;
  if (memory_ != nullptr) request.set_shared_memory(memory_->name());
  return request;
}

absl::StatusOr<v1::DescribeReply> TriedTrainer::SetUp() {
  v1::DescribeReply reply;
  SKERRY_RETURN_IF_ERROR(Call(&Stub::Describe, DescribeRequest(), reply));
  if (reply.element_count() == 0) {
    return absl::InternalError("the model has no element");
  }
  SKERRY_ASSIGN_OR_RETURN(
      memory_, runtime::SharedMemory::Create(
                   "/" + Unique(), reply.element_count() * sizeof(float)));
  const absl::Status described =
      Call(&Stub::Describe, DescribeRequest(), reply);
  SKERRY_RETURN_IF_ERROR(described);
  return reply;
}

std::span<float> TriedTrainer::state() {
  const std::span<std::byte> bytes = memory_->bytes();
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

absl::Status TriedTrainer::Run(uint64_t begin, uint64_t end, uint64_t batch,
                               v1::RunReply* reply) {
  v1::RunRequest request;
  request.add_ranges()->set_begin(begin);
  request.mutable_ranges(0)->set_end(end);
  request.set_replica_batch_samples(batch);
  v1::RunReply ignored;
  return Call(&Stub::Run, request, reply == nullptr ? ignored : *reply);
}

absl::Status TriedTrainer::Snapshot(ElementRange range) {
  v1::SnapshotReply reply;
  return Call(&Stub::Snapshot, RangeOf<v1::SnapshotRequest>(range), reply);
}

absl::Status TriedTrainer::Load(ElementRange range) {
  v1::LoadReply reply;
  return Call(&Stub::Load, RangeOf<v1::LoadRequest>(range), reply);
}

absl::StatusOr<std::vector<float>> TriedTrainer::Values() {
  SKERRY_RETURN_IF_ERROR(Snapshot({0, state().size()}));
  return std::vector<float>(state().begin(), state().end());
}

std::optional<runtime::ProcessExit> TriedTrainer::AwaitExit(
    absl::Duration time) {
  const Instant end = runtime::MonotonicNow() + time;
  const runtime::MutexLock lock(mutex_);
  while (!exit_.has_value() && ended_.WaitUntil(mutex_, end)) {
  }
  return exit_;
}

}  // namespace skerry::trainer::kit
