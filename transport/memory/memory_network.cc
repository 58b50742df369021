#include "transport/memory/memory_network.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::transport {
namespace {

SharedBytes FlipOneBit(const SharedBytes& payload, uint64_t random) {
  std::vector<std::byte> bytes(payload.bytes().begin(), payload.bytes().end());
  const uint64_t bit = random % (bytes.size() * 8);
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  return SharedBytes(std::move(bytes));
}

absl::Status Unreachable(const std::string& name) {
  return absl::UnavailableError(absl::StrCat("nobody is at ", name));
}

}  // namespace

// One stream: frames one way, answers the other. Kept alive by the sender's
// handle and by messages under way.
class MemoryPipe final : public IncomingStream {
 public:
  MemoryPipe(MemoryNetwork& network, std::string from, std::string to,
             StreamEvents& events)
      : network_(network),
        from_(std::move(from)),
        to_(std::move(to)),
        events_(&events) {}

  void Connect(const std::shared_ptr<MemoryPipe>& self) {
    self_ = self;
    Send([this] {
      Inbox* inbox = network_.Find(to_);
      if (inbox == nullptr) return Break(Unreachable(to_));
      id_ = inbox->OnOpened(from_, *this);
    });
  }

  void Write(const Frame& frame) {
    const uint64_t ordinal = next_ordinal_++;
    const MemoryLink link = network_.LinkOf(from_, to_);
    Frame sent = frame;
    if (sent.payload.size() > 0 && network_.Toss(link.corrupt_probability)) {
      sent.payload = FlipOneBit(sent.payload, network_.random_());
    }
    const int copies = network_.Toss(link.duplicate_probability) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      Send([this, ordinal, sent] { Arrive(ordinal, sent); });
    }
    network_.loop_.Post([pipe = self_.lock()] {
      if (pipe->events_ != nullptr) pipe->events_->OnWritten();
    });
  }

  void Answer(std::span<const Answered> answers) override {
    const bool is_carried =
        network_.Carry(to_, from_,
                       [pipe = self_.lock(),
                        answers = std::vector(answers.begin(), answers.end())] {
                         if (pipe->events_ != nullptr && !pipe->is_broken_) {
                           pipe->events_->OnAnswers(answers);
                         }
                       });
    has_lost_messages_ = has_lost_messages_ || !is_carried;
  }

  // The sender has let go.
  void Close() {
    events_ = nullptr;
    Send([this] { CloseThere(); });
  }

  // Ends both sides; what is under way is lost.
  void Break(const absl::Status& why) {
    if (is_broken_) return;
    is_broken_ = true;
    CloseThere();
    network_.loop_.Post([pipe = self_.lock(), why] {
      if (pipe->events_ == nullptr) return;
      std::exchange(pipe->events_, nullptr)->OnClosed(why);
    });
  }

  bool has_lost_messages() const { return has_lost_messages_; }

 private:
  void Send(absl::AnyInvocable<void() &&> arrival) {
    const bool is_carried = network_.Carry(
        from_, to_,
        [pipe = self_.lock(), arrival = std::move(arrival)]() mutable {
          if (!pipe->is_broken_) std::move(arrival)();
        });
    has_lost_messages_ = has_lost_messages_ || !is_carried;
  }

  void Arrive(uint64_t ordinal, const Frame& frame) {
    Inbox* inbox = network_.Find(to_);
    if (!id_.has_value() || inbox == nullptr) return Break(Unreachable(to_));
    if (compression::CheckPayload(frame.header, frame.payload.bytes()).ok()) {
      inbox->OnFrame(*id_, ordinal, frame.header, frame.payload);
    } else {
      inbox->OnCorrupt(*id_, ordinal);
    }
  }

  void CloseThere() {
    Inbox* inbox = network_.Find(to_);
    if (id_.has_value() && inbox != nullptr) inbox->OnClosed(*id_);
    id_.reset();
  }

  MemoryNetwork& network_;
  const std::string from_;
  const std::string to_;
  std::weak_ptr<MemoryPipe> self_;
  StreamEvents* events_;
  uint64_t next_ordinal_ = 0;
  bool is_broken_ = false;
  bool has_lost_messages_ = false;
  std::optional<Inbox::StreamId> id_;
};

// The sender's end.
class MemoryNetwork::PipeHandle final : public OutgoingStream {
 public:
  explicit PipeHandle(std::shared_ptr<MemoryPipe> pipe)
      : pipe_(std::move(pipe)) {}
  ~PipeHandle() override { pipe_->Close(); }
  void Write(const Frame& frame) override { pipe_->Write(frame); }

 private:
  std::shared_ptr<MemoryPipe> pipe_;
};

MemoryLink MemoryNetwork::LinkOf(const std::string& from,
                                 const std::string& to) const {
  const auto it = links_.find({from, to});
  return it == links_.end() ? MemoryLink() : it->second;
}

Inbox* MemoryNetwork::Find(const std::string& name) const {
  const auto it = inboxes_.find(name);
  return it == inboxes_.end() ? nullptr : it->second;
}

bool MemoryNetwork::Carry(const std::string& from, const std::string& to,
                          runtime::Task arrival) {
  const MemoryLink link = LinkOf(from, to);
  if (link.is_cut) return false;
  Instant& last = last_arrival_[{from, to}];
  last = std::max(last, loop_.Now() + link.delay);
  loop_.RunAt(last, std::move(arrival));
  return true;
}

void MemoryNetwork::SetLink(const std::string& from, const std::string& to,
                            const MemoryLink& link) {
  links_[{from, to}] = link;
  if (link.is_cut) return;
  // A stream loses what either direction lost.
  for (const Pair& pair : {Pair(from, to), Pair(to, from)}) {
    for (const std::weak_ptr<MemoryPipe>& weak : pipes_[pair]) {
      const std::shared_ptr<MemoryPipe> pipe = weak.lock();
      if (pipe != nullptr && pipe->has_lost_messages()) {
        pipe->Break(absl::UnavailableError("the link was cut"));
      }
    }
  }
}

void MemoryNetwork::BreakStreams(const std::string& from,
                                 const std::string& to) {
  for (const std::weak_ptr<MemoryPipe>& weak : pipes_[{from, to}]) {
    if (const std::shared_ptr<MemoryPipe> pipe = weak.lock()) {
      pipe->Break(absl::UnavailableError("the stream was broken"));
    }
  }
}

void MemoryNetwork::Add(const std::string& name, Inbox& inbox) {
  SKERRY_CHECK(inboxes_.emplace(name, &inbox).second);
}

void MemoryNetwork::Remove(const std::string& name) {
  for (const auto& [pair, pipes] : pipes_) {
    if (pair.second != name) continue;
    for (const std::weak_ptr<MemoryPipe>& weak : pipes) {
      if (const std::shared_ptr<MemoryPipe> pipe = weak.lock()) {
        pipe->Break(absl::UnavailableError("the peer went away"));
      }
    }
  }
  inboxes_.erase(name);
}

std::unique_ptr<OutgoingStream> MemoryNetwork::OpenStream(
    const std::string& from, const std::string& to, StreamEvents& events) {
  auto pipe = std::make_shared<MemoryPipe>(*this, from, to, events);
  auto& tracked = pipes_[{from, to}];
  std::erase_if(tracked, [](const auto& weak) { return weak.expired(); });
  tracked.push_back(pipe);
  pipe->Connect(pipe);
  return std::make_unique<PipeHandle>(std::move(pipe));
}

void MemoryNetwork::Fetch(const std::string& from, const std::string& to,
                          const PieceKey& key, BulkTransport::FetchDone done) {
  Carry(from, to, [this, from, to, key, done = std::move(done)]() mutable {
    BulkReceiver::FetchAnswer answer =
        [this, from, to,
         done = std::move(done)](absl::StatusOr<SharedBytes> object) mutable {
          Carry(to, from,
                [done = std::move(done), object = std::move(object)]() mutable {
                  std::move(done)(std::move(object));
                });
        };
    Inbox* inbox = Find(to);
    if (inbox == nullptr) return std::move(answer)(Unreachable(to));
    inbox->OnFetch({from, true}, key, std::move(answer));
  });
}

}  // namespace skerry::transport
