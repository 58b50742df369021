// simulator/shared_links.h
//
// Links that many connections cross at once: an island's way out, its way in,
// and the way between two islands. Connections that meet on a link share it as
// long TCP connections do (max-min fairness): its rate is divided evenly,
// except that no connection gets more than it can use. A connection carries its
// bytes in order.
#ifndef SKERRY_SIMULATOR_SHARED_LINKS_H_
#define SKERRY_SIMULATOR_SHARED_LINKS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "base/instant.h"
#include "simulator/timeline.h"

namespace skerry::sim {

class SharedLinks {
 public:
  using LinkId = uint32_t;
  using FlowId = uint64_t;

  // Outlives the links.
  explicit SharedLinks(Timeline& timeline) : timeline_(timeline) {}

  // Requires: `bytes_per_s` > 0.
  LinkId AddLink(double bytes_per_s);
  // A connection over these links; over none it is as fast as memory.
  FlowId Open(std::vector<LinkId> path);
  // `left` runs when the last byte has left the slowest of its links.
  void Send(FlowId flow, double bytes, Timeline::Task left);
  // What waits in it is lost. Others have its share.
  void Close(FlowId flow);

 private:
  struct Message {
    double bytes = 0;
    Timeline::Task left;
  };
  struct Flow {
    std::vector<LinkId> path;
    std::deque<Message> waiting;
    double rate = 0;  // while something waits
  };

  // Brings every flow to the present.
  void Advance();
  // Gives every busy flow its share, and arms the next end of a message.
  void Share();
  void Arm();
  void OnTime();

  Timeline& timeline_;
  std::vector<double> links_;
  // Ordered, so that equal ends come in the same order always.
  std::map<FlowId, Flow> flows_;
  FlowId opened_ = 0;
  Instant advanced_to_;
  // The wake-up that counts; others find it changed.
  uint64_t armed_ = 0;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SHARED_LINKS_H_
