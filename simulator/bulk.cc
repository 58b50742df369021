#include "simulator/bulk.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "simulator/worker_node.h"
#include "simulator/world.h"
#include "transport/fetch_wire.h"

namespace skerry::sim {
namespace {

constexpr int kOpener = 0;
constexpr int kTaker = 1;
// Headers, checksums and what the transport below adds.
constexpr double kFrameOverhead = 160;

SharedBytes FlipOneBit(const SharedBytes& payload, uint64_t luck) {
  std::vector<std::byte> bytes(payload.bytes().begin(), payload.bytes().end());
  const uint64_t bit = luck % (bytes.size() * 8);
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  return SharedBytes(std::move(bytes));
}

using Object = absl::StatusOr<SharedBytes>;

// Sends what the holder has found back to whoever asked for it.
void AnswerFetch(const Scale& scale, const protocol::PieceKey& key,
                 Object object, std::function<void(Object)> end,
                 const std::shared_ptr<Stream>& stream) {
  const double bytes = object.ok() ? static_cast<double>(object->size())
                                   : scale.Fixed(kFrameOverhead);
  stream->Send(
      kTaker, bytes,
      [key, end = std::move(end), object = std::move(object),
       stream]() mutable {
        stream->Close(kOpener, absl::OkStatus());
        if (object.ok() && !transport::IsObjectOf(key, object->bytes())) {
          object = absl::DataLossError("the object does not match its hash");
        }
        end(std::move(object));
      });
}

}  // namespace

// One stream: frames one way, answers the other. What runs at an end runs only
// while the process there is the one that the stream was opened to.
class SimBulk::Pipe final : public transport::IncomingStream {
 public:
  Pipe(SimBulk& from, const Endpoint& to, transport::StreamEvents& events)
      : world_(from.world_),
        from_(from),
        from_alive_(from.process_.alive()),
        to_(to),
        events_(&events) {}

  void Connect(const std::shared_ptr<Pipe>& self) {
    self_ = self;
    std::weak_ptr<Pipe> weak = self;
    stream_ = world_.network.Connect({from_.host_,
                                      [weak](const absl::Status& why) {
                                        if (const auto pipe = weak.lock())
                                          pipe->BrokenHere(why);
                                      }},
                                     {to_.host, [weak](const absl::Status&) {
                                        if (const auto pipe = weak.lock())
                                          pipe->BrokenThere();
                                      }});
    // The opener may be gone when this arrives.
    Deliver(0, [this, name = world_.NameOf(from_.host_)] {
      id_ = taker_->bulk().inbox_.OnOpened(name, *this);
    });
  }

  void Write(const transport::Frame& frame) {
    const uint64_t ordinal = next_ordinal_++;
    transport::Frame sent = frame;
    if (sent.payload.size() > 0 && world_.setting.damaged > 0 &&
        world_.random.Uniform() < world_.setting.damaged) {
      sent.payload = FlipOneBit(sent.payload, world_.random());
    }
    const Scale& scale = world_.setting.scale;
    const double bytes = static_cast<double>(sent.payload.size()) *
                             scale.OfFrame(sent.header.codec) +
                         scale.Fixed(kFrameOverhead);
    const auto arrive = [this, ordinal, sent] {
      transport::Inbox& inbox = taker_->bulk().inbox_;
      const bool whole =
          compression::CheckPayload(sent.header, sent.payload.bytes()).ok();
      if (whole) {
        inbox.OnFrame(*id_, ordinal, sent.header, sent.payload);
      } else {
        inbox.OnCorrupt(*id_, ordinal);
      }
    };
    if (world_.network.is_shared()) {
      Deliver(bytes, arrive, [pipe = self_.lock()] { pipe->Written(); });
    } else {
      Deliver(bytes, arrive);
      Written();
    }
  }

  void Answer(std::span<const transport::Answered> answers) override {
    stream_->Send(kTaker,
                  world_.setting.scale.Fixed(static_cast<double>(
                      answers.size() * transport::kAnsweredBytes)),
                  [pipe = self_.lock(),
                   all = std::vector(answers.begin(), answers.end())] {
                    pipe->Here([pipe, all] {
                      if (pipe->events_ != nullptr) {
                        pipe->events_->OnAnswers(all);
                      }
                    });
                  });
  }

  // The opener has let go.
  void Close() {
    events_ = nullptr;
    stream_->Close(kOpener, absl::UnavailableError("the peer closed"));
  }

 private:
  void Written() {
    Here([this] {
      if (events_ != nullptr) events_->OnWritten();
    });
  }

  // Runs `task` on the loop of the opener's process.
  void Here(std::function<void()> task) {
    if (from_alive_.expired()) return;
    from_.process_.Post(
        [pipe = self_.lock(), task = std::move(task)] { task(); });
  }

  // Runs `arrive` on the loop of the process at the other end, which is there
  // as `taker_`.
  void Deliver(double bytes, std::function<void()> arrive,
               absl::AnyInvocable<void() &&> left = nullptr) {
    stream_->Send(
        kOpener, bytes,
        [pipe = self_.lock(), arrive] {
          if (!pipe->Reach()) return;
          pipe->taker_->process().Post([pipe, arrive] {
            if (!pipe->closed_there_) arrive();
          });
        },
        std::move(left));
  }

  bool Reach() {
    if (taker_ == nullptr) {
      taker_ = world_.NodeAt(to_);
      if (taker_ != nullptr) taker_alive_ = taker_->process().alive();
    }
    if (taker_ != nullptr && !taker_alive_.expired()) return true;
    stream_->Close(kTaker, absl::UnavailableError("nobody is there"));
    return false;
  }

  void BrokenHere(const absl::Status& why) {
    Here([this, why] {
      if (events_ == nullptr) return;
      std::exchange(events_, nullptr)->OnClosed(why);
    });
  }

  void BrokenThere() {
    if (taker_ == nullptr || taker_alive_.expired()) return;
    taker_->process().Post([pipe = self_.lock()] {
      if (std::exchange(pipe->closed_there_, true)) return;
      if (pipe->id_.has_value()) {
        pipe->taker_->bulk().inbox_.OnClosed(*pipe->id_);
      }
    });
  }

  World& world_;
  SimBulk& from_;
  const std::weak_ptr<char> from_alive_;
  const Endpoint to_;
  std::shared_ptr<Stream> stream_;
  std::weak_ptr<Pipe> self_;
  transport::StreamEvents* events_;
  WorkerNode* taker_ = nullptr;
  std::weak_ptr<char> taker_alive_;
  bool closed_there_ = false;
  uint64_t next_ordinal_ = 0;
  std::optional<transport::Inbox::StreamId> id_;
};

// The opener's end. The pipe stays for as long as the other end may answer.
class SimBulk::Handle final : public transport::OutgoingStream {
 public:
  explicit Handle(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}
  ~Handle() override { pipe_->Close(); }
  void Write(const transport::Frame& frame) override { pipe_->Write(frame); }

 private:
  std::shared_ptr<Pipe> pipe_;
};

std::unique_ptr<transport::OutgoingStream> SimBulk::Opener::Open(
    const std::string& peer, int, transport::StreamEvents& events) {
  auto pipe = std::make_shared<Pipe>(
      bulk_, EndpointOf(bulk_.directory_.EndpointOf(peer)), events);
  bulk_.world_.Keep(pipe);
  pipe->Connect(pipe);
  return std::make_unique<Handle>(std::move(pipe));
}

SimBulk::SimBulk(World& world, Process& process, HostId host,
                 transport::Directory& directory,
                 transport::BulkReceiver& receiver)
    : world_(world),
      process_(process),
      host_(host),
      directory_(directory),
      opener_(*this),
      inbox_(world.setting.gate, process, receiver),
      outbox_(world.setting.outbox, process, opener_, world.random()) {
  directory_.set_on_moved(
      [this](const std::string& peer) { outbox_.OnMoved(peer); });
}

SimBulk::~SimBulk() { directory_.set_on_moved(nullptr); }

void SimBulk::Send(const std::string& peer, transport::Frame frame,
                   transport::TrafficClass traffic_class, SendDone done) {
  outbox_.Send(peer, std::move(frame), traffic_class, std::move(done));
}

void SimBulk::ForgetBefore(uint64_t job, uint32_t fragment, uint64_t attempt) {
  outbox_.ForgetBefore(job, fragment, attempt);
}

void SimBulk::Reoffer(uint64_t job, uint32_t fragment) {
  inbox_.Reoffer(job, fragment);
}

void SimBulk::Fetch(const std::string& peer, const protocol::PieceKey& key,
                    FetchDone done) {
  auto answer = std::make_shared<FetchDone>(std::move(done));
  const auto end = [this, alive = process_.alive(), answer](Object object) {
    if (alive.expired()) return;
    process_.Post([answer, object = std::move(object)]() mutable {
      if (*answer == nullptr) return;
      FetchDone run = std::exchange(*answer, nullptr);
      std::move(run)(std::move(object));
    });
  };
  const Endpoint to = EndpointOf(directory_.EndpointOf(peer));
  const auto stream = world_.network.Connect(
      {host_, [end](const absl::Status& why) { end(why); }},
      {to.host, nullptr});
  world_.Keep(stream);
  stream->Send(
      kOpener, world_.setting.scale.Fixed(kFrameOverhead),
      [&world = world_, key, to, end, stream, from = host_] {
        WorkerNode* holder = world.NodeAt(to);
        if (holder == nullptr) {
          stream->Close(kTaker, absl::UnavailableError("nobody is there"));
          return;
        }
        holder->process().Post([&world, holder, key, from, end, stream] {
          holder->bulk().inbox_.OnFetch(
              {world.NameOf(from), true}, key,
              [&world, key, end, stream](Object object) {
                AnswerFetch(world.setting.scale, key, std::move(object), end,
                            stream);
              });
        });
      });
}

}  // namespace skerry::sim
