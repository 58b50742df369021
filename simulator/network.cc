#include "simulator/network.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace skerry::sim {
namespace {

// A lost segment is sent again after this.
constexpr absl::Duration kResend = absl::Milliseconds(200);
// How soon the end of a process is seen at the other end of its streams.
constexpr uint64_t kCloseMicros = 5'000;
// Largest slowness of a link, however many faults slow it at once. It bounds
// how long the link takes to drain after the last fault is over.
constexpr double kSlowLinkMax = 500;
// Longest time for which a link is busy with what it holds. A sender would wait
// for room, so a link never holds more.
constexpr absl::Duration kBacklogMax = absl::Seconds(2);

}  // namespace

Network::Network(Timeline& timeline, Random& random, uint32_t hosts)
    : timeline_(timeline),
      random_(random),
      hosts_(hosts),
      links_(static_cast<size_t>(hosts) * hosts),
      carried_(links_.size()) {}

void Network::Share(SharedLinks& links, PathOf path_of) {
  shared_ = &links;
  path_of_ = std::move(path_of);
}

std::optional<absl::Duration> Network::Carry(HostId from, HostId to,
                                             double bytes) {
  Link& way = link(from, to);
  if (way.cuts > 0) return std::nullopt;
  const Instant now = timeline_.now();
  const absl::Duration sending = absl::Seconds(bytes / way.bytes_per_s) *
                                 std::min(way.slowness, kSlowLinkMax);
  way.busy_until =
      std::min(std::max(way.busy_until, now) + sending, now + kBacklogMax);
  const double jitter = 0.9 + 0.3 * random_.Uniform();
  return way.busy_until - now + way.delay * jitter;
}

void Network::Send(HostId from, HostId to, double bytes,
                   std::function<void()> arrive) {
  const int copies = Toss(faults_.repeated) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    std::optional<absl::Duration> wait = Carry(from, to, bytes);
    if (!wait.has_value() || Toss(faults_.lost)) continue;
    if (i > 0 || Toss(faults_.late))
      *wait += random_.Uniform() * faults_.late_max;
    timeline_.After(*wait, arrive);
  }
}

std::shared_ptr<Stream> Network::Connect(End from, End to) {
  auto stream = std::make_shared<Stream>(*this, std::move(from), std::move(to));
  stream->self_ = stream;
  std::erase_if(streams_, [](const auto& weak) {
    const auto one = weak.lock();
    return one == nullptr || one->is_broken();
  });
  streams_.push_back(stream);
  return stream;
}

void Network::OnProcessEnd(HostId host) {
  for (const std::weak_ptr<Stream>& weak : streams_) {
    const auto stream = weak.lock();
    if (stream == nullptr) continue;
    for (const int end : {0, 1}) {
      if (stream->ends_[end].host != host) continue;
      stream->Close(end, absl::UnavailableError("the process ended"));
    }
  }
}

Stream::Stream(Network& network, Network::End a, Network::End b)
    : network_(network), ends_{std::move(a), std::move(b)} {}

void Stream::LeaveShared() {
  for (const int end : {0, 1}) {
    if (flow_[end].has_value()) network_.shared_->Close(*flow_[end]);
    flow_[end].reset();
  }
}

void Stream::SendShared(int end, double bytes,
                        absl::AnyInvocable<void() &&> arrive,
                        absl::AnyInvocable<void() &&> left) {
  const HostId from = ends_[end].host;
  const HostId to = ends_[1 - end].host;
  if (network_.link(from, to).cuts > 0) {
    Break(absl::UnavailableError("the connection broke"));
    return;
  }
  if (!flow_[end].has_value()) {
    flow_[end] = network_.shared_->Open(network_.path_of_(from, to));
  }
  network_.shared_->Send(
      *flow_[end], bytes,
      [self = self_.lock(), from, to, bytes, arrive = std::move(arrive),
       left = std::move(left)]() mutable {
        Network& network = self->network_;
        network.carried_[from * network.hosts_ + to] += bytes;
        if (left) std::move(left)();
        network.timeline_.After(network.link(from, to).delay,
                                [self, arrive = std::move(arrive)]() mutable {
                                  if (!self->is_broken_) std::move(arrive)();
                                });
      });
}

void Stream::Send(int end, double bytes, absl::AnyInvocable<void() &&> arrive,
                  absl::AnyInvocable<void() &&> left) {
  if (is_broken_) return;
  if (network_.shared_ != nullptr) {
    return SendShared(end, bytes, std::move(arrive), std::move(left));
  }
  const auto wait = network_.Carry(ends_[end].host, ends_[1 - end].host, bytes);
  if (!wait.has_value() || network_.Toss(network_.faults_.broken)) {
    Break(absl::UnavailableError("the connection broke"));
    return;
  }
  absl::Duration more;
  while (network_.Toss(network_.faults_.lost)) more += kResend;
  Instant& arrival = arrival_[1 - end];
  arrival = std::max(arrival, network_.timeline_.now() + *wait + more);
  network_.timeline_.At(
      arrival, [self = self_.lock(), arrive = std::move(arrive)]() mutable {
        if (!self->is_broken_) std::move(arrive)();
      });
}

void Stream::Tell(int end, absl::Duration after, const absl::Status& why) {
  network_.timeline_.After(after, [self = self_.lock(), end, why] {
    auto broken = std::exchange(self->ends_[end].broken, nullptr);
    if (broken) broken(why);
  });
}

void Stream::Break(const absl::Status& why) {
  if (std::exchange(is_broken_, true)) return;
  LeaveShared();
  for (const int end : {0, 1}) {
    Tell(end, network_.random_.Uniform() * Network::kNoticeMax, why);
  }
}

void Stream::Close(int end, const absl::Status& why) {
  Forget(end);
  if (std::exchange(is_broken_, true)) return;
  LeaveShared();
  // A cut keeps the news away as it does everything else.
  const Link& way = network_.link(ends_[end].host, ends_[1 - end].host);
  absl::Duration after =
      way.delay + absl::Microseconds(network_.random_.Below(kCloseMicros));
  if (way.cuts > 0) after += Network::kNoticeMax;
  Tell(1 - end, after, why);
}

}  // namespace skerry::sim
