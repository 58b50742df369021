// coordinator/core/testing/fluid_exchange.h
//
// Computes how long a two-hop exchange takes. It simulates flows as fluids, and
// does not use the planner's model.
//
// A member encodes its contribution and then sends to all owners at once. The
// rate of a flow is the smaller of two even shares: of its sender's link out,
// and of its receiver's link in. A receiver decodes arrivals one after another.
// An owner that has decoded all contributions encodes their mean and sends it
// to all members. To each member it sends this after everything that still goes
// there, as transport/bulk.h promises.
#ifndef SKERRY_COORDINATOR_CORE_TESTING_FLUID_EXCHANGE_H_
#define SKERRY_COORDINATOR_CORE_TESTING_FLUID_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skerry::coordinator::testing {

struct Machine {
  double up = 0.0;  // bytes a second
  double down = 0.0;
  std::vector<double> encode = {};  // elements a second, by codec
  std::vector<double> decode = {};
  std::vector<double> one_way = {};  // seconds, by member
  double owned = 0.0;                // elements
};
using Cluster = std::vector<Machine>;

// When owners send results.
enum class Results {
  kWhenReady,
  // When every owner is ready: nobody does so, but planner/exchange_time counts
  // hops like that.
  kTogether,
};

class FluidExchange {
 public:
  // `bytes_per_element` is by codec, `codecs` by member. All are referred to.
  FluidExchange(const Cluster& cluster,
                const std::vector<double>& bytes_per_element,
                const std::vector<uint32_t>& codecs,
                Results results = Results::kWhenReady);

  // Returns the time until all members have decoded all results. Call it once.
  double Seconds();

 private:
  enum class State { kWaits, kFlows, kTravels, kArrived };

  struct Flow {
    size_t from = 0;
    size_t to = 0;
    double elements = 0.0;
    bool is_result = false;
    double at = 0.0;  // when it may begin; when it arrives, once it travels
    double bytes_left = 0.0;
    State state = State::kWaits;
  };

  void Add(size_t from, size_t to, size_t owner, double at, bool is_result);
  // A contribution between the same two is not sent yet.
  bool IsBehind(const Flow& flow) const;
  double Rate(const Flow& flow) const;  // bytes a second
  // To the next moment at which a flow begins, ends or arrives; false when
  // there is none.
  bool Step();
  void Advance(double next, const std::vector<double>& moments);
  // `flow` has arrived.
  void Take(Flow flow);
  void SendResults(size_t owner, double at);

  const Cluster& cluster_;
  const std::vector<double>& bytes_per_element_;
  const std::vector<uint32_t>& codecs_;
  const Results results_;
  std::vector<Flow> flows_;
  std::vector<size_t> arrived_;       // in this step
  std::vector<size_t> awaited_;       // contributions, by owner
  std::vector<double> decoder_free_;  // when, by member
  std::vector<size_t> ready_;         // owners that wait for others
  double now_ = 0.0;
  double end_ = 0.0;
};

}  // namespace skerry::coordinator::testing

#endif  // SKERRY_COORDINATOR_CORE_TESTING_FLUID_EXCHANGE_H_
