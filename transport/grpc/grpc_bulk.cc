#include "transport/grpc/grpc_bulk.h"

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"
#include "transport/grpc/bulk_names.h"
#include "transport/grpc/bulk_service.h"
#include "transport/grpc/call_target.h"
#include "transport/grpc/channel_args.h"
#include "transport/grpc/fetch_call.h"
#include "transport/grpc/fetch_in_progress.h"
#include "transport/grpc/frame_call.h"
#include "transport/grpc/relay_book.h"
#include "transport/grpc/reverse_book.h"
#include "transport/grpc/reverse_dialer.h"
#include "transport/inbox.h"

namespace skerry::transport {
namespace {

// How often the channels of workers with several endpoints are looked at, and
// how long one of them may try to connect.
constexpr absl::Duration kLookEvery = absl::Milliseconds(500);
constexpr absl::Duration kConnectMax = absl::Seconds(6);

absl::Status Nowhere(const std::string& peer) {
  return absl::UnavailableError(
      absl::StrCat("nobody has said where worker ", peer, " is reached"));
}

// The outbox's end of a call; closes it when it lets go.
class CallHandle final : public OutgoingStream {
 public:
  explicit CallHandle(std::shared_ptr<FrameCall> call)
      : call_(std::move(call)) {}
  ~CallHandle() override { call_->Close(); }
  void Write(const Frame& frame) override { call_->Write(frame); }

 private:
  std::shared_ptr<FrameCall> call_;
};

// Stands for the stream to a peer of which nobody has said where it is. It ends
// at once, and is opened again like any other.
class NowhereStream final : public OutgoingStream {
 public:
  NowhereStream(const std::string& peer, runtime::EventLoop& loop,
                StreamEvents& events) {
    loop.Post([peer, &events, alive = std::weak_ptr<char>(alive_)] {
      if (!alive.expired()) events.OnClosed(Nowhere(peer));
    });
  }
  void Write(const Frame&) override {}

 private:
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// Holds the library from the first use to the end of the process. When its last
// object goes it shuts down, and now and then waits ten seconds in vain for a
// timer of its own.
void KeepLibrary() {
  [[maybe_unused]] static const bool is_kept = [] {
    grpc_init();
    return true;
  }();
}

absl::Status CheckName(const std::string& name) {
  bool is_printable = !name.empty() && name.size() <= kNameBytesMax;
  for (const char c : name)
    is_printable = is_printable && absl::ascii_isprint(c);
  if (is_printable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a worker's name has 1 to 256 printable characters");
}

OutboxOptions WithChannels(const GrpcBulkOptions& options) {
  OutboxOptions outbox = options.outbox;
  outbox.bulk_streams_per_peer = options.channels_per_peer;
  return outbox;
}

ReverseDialerOptions DialerOptions(const GrpcBulkOptions& options) {
  return {.name = options.name,
          .streams_per_peer = 1 + options.channels_per_peer,
          .reopen_min = options.outbox.reopen_min,
          .reopen_max = options.outbox.reopen_max,
          .seed = options.seed};
}

// "host:0" with the port that the kernel chose.
std::string BoundAddress(const std::string& listen_address, int port) {
  if (listen_address.starts_with("unix")) return listen_address;
  return absl::StrCat(listen_address.substr(0, listen_address.rfind(':')), ":",
                      port);
}

}  // namespace

class GrpcBulk::Impl final : public StreamOpener {
 public:
  Impl(const GrpcBulkOptions& options, runtime::EventLoop& loop,
       Directory& directory, BulkReceiver& receiver)
      : options_(options),
        loop_(loop),
        directory_(directory),
        inbox_(options.gate, loop, receiver),
        reverse_(std::in_place, loop, directory),
        relay_(std::in_place, options.relay, loop, directory,
               options.credentials->refused_calls()),
        outbox_(std::in_place, WithChannels(options), loop, *this,
                options.seed),
        state_(std::make_shared<BulkCallState>(
            BulkCallState{loop, options.unhandled_bytes_max,
                          options.fetch_object_bytes_max, &inbox_, &*reverse_,
                          &*relay_, options.credentials->revocations()})),
        dialer_(std::in_place, DialerOptions(options), state_, open_calls_,
                directory,
                [this](const std::string& peer, int stream_index) {
                  return ChannelTo(peer, stream_index);
                }),
        service_(state_) {
    directory_.set_on_moved([this](const std::string& peer) { OnMoved(peer); });
    directory_.set_on_awaited(
        [this] { dialer_->Await(directory_.awaited_by()); });
    directory_.set_on_relayed([this] { relay_->OnPairsChanged(); });
  }

  ~Impl() override {
    *alive_ = false;
    directory_.set_on_moved(nullptr);
    directory_.set_on_awaited(nullptr);
    directory_.set_on_relayed(nullptr);
    state_->inbox = nullptr;
    state_->reverse = nullptr;
    state_->relay = nullptr;
    for (const auto& [id, fetch] : fetches_) fetch.call->Cancel();
    fetches_.clear();
    dialer_.reset();
    outbox_.reset();
    reverse_.reset();
    relay_.reset();
    open_calls_.AwaitNone();
    if (server_ == nullptr) return;
    server_->Shutdown(gpr_inf_past(GPR_CLOCK_REALTIME));
    server_->Wait();
    service_.AwaitCalls();
  }

  absl::Status Listen(
      absl::AnyInvocable<void(grpc::ServerBuilder&) &&> also_serve) {
    SKERRY_RETURN_IF_ERROR(
        options_.credentials->CheckReach(options_.listen_address));
    SKERRY_RETURN_IF_ERROR(CheckName(options_.name));
    grpc::ServerBuilder builder;
    SetBulkServerArguments(builder);
    grpc::ResourceQuota quota("bulk");
    quota.Resize(options_.server_memory_bytes_max);
    builder.SetResourceQuota(quota);
    int port = 0;
    options_.credentials->AddPort(options_.listen_address, builder, &port);
    builder.RegisterCallbackGenericService(&service_);
    if (also_serve) std::move(also_serve)(builder);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", options_.listen_address,
                       "; is another process using the port?"));
    }
    address_ = BoundAddress(options_.listen_address, port);
    return absl::OkStatus();
  }

  std::unique_ptr<OutgoingStream> Open(const std::string& peer,
                                       int stream_index,
                                       StreamEvents& events) override {
    if (directory_.IsReverse(peer)) {
      return reverse_->Open(peer, stream_index, events);
    }
    const auto channel = ChannelFor(peer, stream_index);
    if (channel == nullptr) {
      return std::make_unique<NowhereStream>(peer, loop_, events);
    }
    return std::make_unique<CallHandle>(FrameCall::Start(
        channel, TargetOf(peer), stream_index, loop_, events, open_calls_));
  }

  void Fetch(const std::string& peer, const PieceKey& key, FetchDone done) {
    const uint64_t id = next_fetch_++;
    auto finish = [this, alive = alive_, id, peer, done = std::move(done)](
                      absl::StatusOr<SharedBytes> object) mutable {
      if (*alive) EndFetch(id, peer, std::move(object), std::move(done));
    };
    if (directory_.IsReverse(peer)) {
      fetches_[id] = {peer, reverse_->Fetch(peer, key, std::move(finish))};
      return WatchFetch(id);
    }
    const auto channel = ChannelFor(peer, 1);
    if (channel == nullptr) {
      loop_.Post([peer, finish = std::move(finish)]() mutable {
        finish(Nowhere(peer));
      });
      return;
    }
    fetches_[id] = {peer,
                    FetchCall::Start(channel, TargetOf(peer), key,
                                     options_.fetch_object_bytes_max, loop_,
                                     open_calls_, std::move(finish))};
    WatchFetch(id);
  }

  Outbox& outbox() { return *outbox_; }
  const Outbox& outbox() const { return *outbox_; }
  Inbox& inbox() { return inbox_; }
  const Inbox& inbox() const { return inbox_; }
  const std::string& address() const { return address_; }

 private:
  struct RunningFetch {
    std::string peer;
    std::shared_ptr<FetchInProgress> call;
    uint64_t pieces_seen = 0;
  };

  // Null when nobody has said where the worker is.
  std::shared_ptr<grpc::Channel> ChannelTo(const std::string& worker,
                                           int stream_index);
  // Leads to the peer, or to the relay before it.
  std::shared_ptr<grpc::Channel> ChannelFor(const std::string& peer,
                                            int stream_index) {
    const std::string relay = directory_.RelayOf(peer);
    return ChannelTo(relay.empty() ? peer : relay, stream_index);
  }
  CallTarget TargetOf(const std::string& peer) const {
    return {options_.name, directory_.RelayOf(peer).empty() ? "" : peer};
  }
  // Connections to its old place end: nobody may be left there to say so.
  void OnMoved(const std::string& peer);
  // Workers with several endpoints: goes on to the next when one fails.
  void WatchChannels();
  void LookAtChannels();
  void WatchFetch(uint64_t id);
  void EndFetch(uint64_t id, const std::string& peer,
                absl::StatusOr<SharedBytes> object, FetchDone done);

  const GrpcBulkOptions options_;
  runtime::EventLoop& loop_;
  Directory& directory_;
  std::string address_;
  // Its end tells tasks left on the loop that this is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  OpenCalls open_calls_;
  absl::btree_map<std::pair<std::string, int>, std::shared_ptr<grpc::Channel>>
      channels_;
  // Since when a channel to a worker with several endpoints has been trying to
  // connect.
  absl::btree_map<std::pair<std::string, int>, Instant> connecting_since_;
  bool watches_channels_ = false;
  uint64_t next_fetch_ = 0;
  absl::btree_map<uint64_t, RunningFetch> fetches_;
  Inbox inbox_;
  std::optional<ReverseBook> reverse_;
  std::optional<RelayBook> relay_;
  std::optional<Outbox> outbox_;
  std::shared_ptr<BulkCallState> state_;
  std::optional<ReverseDialer> dialer_;
  BulkService service_;
  std::unique_ptr<grpc::Server> server_;
};

// Connections are made when the first call needs them, and come back by
// themselves.
std::shared_ptr<grpc::Channel> GrpcBulk::Impl::ChannelTo(
    const std::string& worker, int stream_index) {
  const std::string address = directory_.EndpointOf(worker);
  if (address.empty()) return nullptr;
  std::shared_ptr<grpc::Channel>& channel = channels_[{worker, stream_index}];
  if (channel != nullptr) return channel;
  channel = options_.credentials->ChannelTo(address, ServerKind::kWorker,
                                            BulkChannelArguments());
  if (directory_.HasChoice(worker)) WatchChannels();
  return channel;
}

void GrpcBulk::Impl::WatchChannels() {
  if (std::exchange(watches_channels_, true)) return;
  loop_.RunAt(loop_.Now() + kLookEvery, [this, alive = alive_] {
    if (!*alive) return;
    watches_channels_ = false;
    LookAtChannels();
  });
}

void GrpcBulk::Impl::LookAtChannels() {
  absl::btree_map<std::string, std::string> failed;  // endpoints by worker
  bool has_choice = false;
  for (const auto& [key, channel] : channels_) {
    if (!directory_.HasChoice(key.first)) continue;
    has_choice = true;
    const grpc_connectivity_state state = channel->GetState(false);
    if (state != GRPC_CHANNEL_CONNECTING) connecting_since_.erase(key);
    const bool is_late =
        state == GRPC_CHANNEL_CONNECTING &&
        loop_.Now() -
                connecting_since_.try_emplace(key, loop_.Now()).first->second >
            kConnectMax;
    if (is_late || state == GRPC_CHANNEL_TRANSIENT_FAILURE) {
      failed[key.first] = directory_.EndpointOf(key.first);
    }
  }
  for (const auto& [worker, endpoint] : failed) {
    directory_.OnFailed(worker, endpoint);
    runtime::Log(runtime::Severity::kInfo, "bulk.endpoint.failed",
                 {{"peer", worker},
                  {"endpoint", endpoint},
                  {"next", directory_.EndpointOf(worker)}});
  }
  if (has_choice) WatchChannels();
}

void GrpcBulk::Impl::OnMoved(const std::string& peer) {
  const auto is_to = [&peer](const auto& one) {
    return one.first.first == peer;
  };
  absl::erase_if(channels_, is_to);
  absl::erase_if(connecting_since_, is_to);
  for (const auto& [id, fetch] : fetches_) {
    if (fetch.peer == peer) fetch.call->Cancel();
  }
  dialer_->OnMoved(peer);
  reverse_->Forget(peer);
  outbox_->OnMoved(peer);
}

void GrpcBulk::Impl::WatchFetch(uint64_t id) {
  loop_.RunAt(loop_.Now() + options_.fetch_stall_max,
              [this, alive = alive_, id] {
                if (!*alive) return;
                const auto it = fetches_.find(id);
                if (it == fetches_.end()) return;
                RunningFetch& fetch = it->second;
                const uint64_t pieces = fetch.call->pieces_received();
                if (pieces == fetch.pieces_seen) return fetch.call->Cancel();
                fetch.pieces_seen = pieces;
                WatchFetch(id);
              });
}

void GrpcBulk::Impl::EndFetch(uint64_t id, const std::string& peer,
                              absl::StatusOr<SharedBytes> object,
                              FetchDone done) {
  fetches_.erase(id);
  PeerCounters& counters = outbox_->CountersOf(peer);
  ++(object.ok() ? counters.fetches_done : counters.fetches_failed);
  std::move(done)(std::move(object));
}

absl::StatusOr<std::unique_ptr<GrpcBulk>> GrpcBulk::Start(
    const GrpcBulkOptions& options, runtime::EventLoop& loop,
    Directory& directory, BulkReceiver& receiver,
    absl::AnyInvocable<void(grpc::ServerBuilder&) &&> also_serve) {
  KeepLibrary();
  auto impl = std::make_unique<Impl>(options, loop, directory, receiver);
  SKERRY_RETURN_IF_ERROR(impl->Listen(std::move(also_serve)));
  return std::unique_ptr<GrpcBulk>(new GrpcBulk(std::move(impl)));
}

GrpcBulk::GrpcBulk(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcBulk::~GrpcBulk() = default;

const std::string& GrpcBulk::address() const { return impl_->address(); }

void GrpcBulk::Send(const std::string& peer, Frame frame,
                    TrafficClass traffic_class, SendDone done) {
  impl_->outbox().Send(peer, std::move(frame), traffic_class, std::move(done));
}

void GrpcBulk::ForgetBefore(uint64_t job, uint32_t fragment, uint64_t attempt) {
  impl_->outbox().ForgetBefore(job, fragment, attempt);
}

void GrpcBulk::Reoffer(uint64_t job, uint32_t fragment) {
  impl_->inbox().Reoffer(job, fragment);
}

void GrpcBulk::Fetch(const std::string& peer, const PieceKey& key,
                     FetchDone done) {
  impl_->Fetch(peer, key, std::move(done));
}

BulkCounters GrpcBulk::counters() const {
  return {impl_->outbox().counters(), impl_->inbox().counters()};
}

absl::btree_map<std::string, LinkEstimate> GrpcBulk::links() const {
  return impl_->outbox().links();
}

std::vector<std::string> GrpcBulk::unreached() const {
  return impl_->outbox().unreached();
}

}  // namespace skerry::transport
