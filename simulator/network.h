// simulator/network.h
//
// The links between simulated machines: how long a message takes, and whether
// it arrives once, never or twice.
#ifndef SKERRY_SIMULATOR_NETWORK_H_
#define SKERRY_SIMULATOR_NETWORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/instant.h"
#include "base/random.h"
#include "simulator/shared_links.h"
#include "simulator/timeline.h"

namespace skerry::sim {

// Number of a machine; 0 has the coordinator.
using HostId = uint32_t;

// How links misbehave, as shares of the messages in [0, 1].
struct LinkFaults {
  // Share that is lost. On a stream, a lost message is sent again.
  double lost = 0;
  // Share that arrives twice.
  double repeated = 0;
  // Share that takes up to `late_max` longer, so that other messages overtake
  // it.
  double late = 0;
  absl::Duration late_max = absl::ZeroDuration();
  // Share of the messages on a stream that break it.
  double broken = 0;
};

struct Link {
  // One-way delay.
  absl::Duration delay = absl::Milliseconds(1);
  double bytes_per_s = 100e6;
  // Factor by which faults slow the link now.
  double slowness = 1;
  // Number of faults that cut the link now.
  int cuts = 0;
  // When the link has carried everything that it was given.
  Instant busy_until = Instant();
};

class Stream;

class Network {
 public:
  // A cut stream is noticed by each end after so long at most.
  static constexpr absl::Duration kNoticeMax = absl::Seconds(2);

  // Both outlive the network.
  Network(Timeline& timeline, Random& random, uint32_t hosts);

  Link& link(HostId from, HostId to) { return links_[from * hosts_ + to]; }
  void set_faults(const LinkFaults& faults) { faults_ = faults; }

  // From now on streams share `links`: the bytes between two hosts pass the
  // path that `path_of` names, and only the delay and the cuts of the hosts'
  // own link still count. Send() is not affected. `links` outlive the network.
  using PathOf =
      std::function<std::vector<SharedLinks::LinkId>(HostId from, HostId to)>;
  void Share(SharedLinks& links, PathOf path_of);
  bool is_shared() const { return shared_ != nullptr; }
  // What streams have carried over shared links.
  double carried(HostId from, HostId to) const {
    return carried_[from * hosts_ + to];
  }

  // One message by itself: `arrive` runs once, never or twice.
  void Send(HostId from, HostId to, double bytes, std::function<void()> arrive);

  // A stream of messages that arrive in order, each once, until it breaks.
  // `broken` runs at most once an end, some time after the break.
  struct End {
    HostId host = 0;
    absl::AnyInvocable<void(absl::Status why)> broken;
  };
  std::shared_ptr<Stream> Connect(End from, End to);
  // Its streams break; the other ends hear of it.
  void OnProcessEnd(HostId host);

 private:
  friend class Stream;
  // Empty when the message is lost.
  std::optional<absl::Duration> Carry(HostId from, HostId to, double bytes);
  bool Toss(double share) { return share > 0 && random_.Uniform() < share; }

  Timeline& timeline_;
  Random& random_;
  const uint32_t hosts_;
  LinkFaults faults_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::vector<Link> links_;
  // Null when every pair has links of its own.
  SharedLinks* shared_ = nullptr;
  PathOf path_of_;
  std::vector<double> carried_;
};

// Two ends, both of which may break it. Either may be gone.
class Stream {
 public:
  Stream(Network& network, Network::End a, Network::End b);

  // Sends from `end` (0 or 1) to the other end. `left` runs once the last byte
  // is under way, but only over shared links.
  void Send(int end, double bytes, absl::AnyInvocable<void() &&> arrive,
            absl::AnyInvocable<void() &&> left = nullptr);
  // What is under way is lost. `why` reaches both ends that still listen.
  void Break(const absl::Status& why);
  // This end hears nothing any more.
  void Forget(int end) { ends_[end].broken = nullptr; }
  // In a moment the other end hears that this one closed, and why.
  void Close(int end, const absl::Status& why);
  bool is_broken() const { return is_broken_; }

 private:
  void Tell(int end, absl::Duration after, const absl::Status& why);
  void SendShared(int end, double bytes, absl::AnyInvocable<void() &&> arrive,
                  absl::AnyInvocable<void() &&> left);
  // What waits in it is lost, and takes nobody's share.
  void LeaveShared();

  Network& network_;
  Network::End ends_[2];
  bool is_broken_ = false;
  // When the newest message towards each end arrives.
  Instant arrival_[2];
  // The flow from each end, once the end has sent something over shared links.
  std::optional<SharedLinks::FlowId> flow_[2];
  std::weak_ptr<Stream> self_;
  friend class Network;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_NETWORK_H_
