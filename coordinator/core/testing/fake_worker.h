// coordinator/core/testing/fake_worker.h
//
// Fake workers put load on a coordinator: they say what workers say when
// nothing goes wrong, with hashes in place of tensors. A result's hash names
// its attempt and members, and an anchor's hash is the fold of the committed
// results. What workers do under faults is the simulator's.
#ifndef SKERRY_COORDINATOR_CORE_TESTING_FAKE_WORKER_H_
#define SKERRY_COORDINATOR_CORE_TESTING_FAKE_WORKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"
#include "protocol/fragment_facts.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "protocol/orders.h"
#include "protocol/status_facts.h"

namespace skerry::coordinator {

using protocol::JobOrders;
using protocol::SeatState;

// Hash of the result of `span` in an attempt over these members.
uint64_t ResultHash(Attempt attempt,
                    const std::vector<protocol::Member>& members,
                    uint32_t span);
uint64_t FoldAnchor(uint64_t anchor, uint64_t result);

// One fragment of a job on one worker process.
struct FakePart {
  Sequence applied;
  std::map<uint32_t, uint64_t> anchors;
  std::optional<protocol::StoredResult> stored;
  std::optional<protocol::Contribution> ready;
  // The samples trained on since its last boundary.
  data::RangeSet trained;
};

// One job on one worker process.
struct FakeSeat {
  JobOrders orders;
  Life life;
  SeatState state = SeatState::kStarting;
  Instant started;
  uint32_t span_begin = 0;
  uint32_t span_end = 0;
  std::vector<FakePart> parts{1};
  data::RangeSet used;
  Round newest_round;

  std::optional<protocol::OpenExchange> Open(size_t part) const;
  // Ends the round of these samples, or of nothing, at the boundary of a part.
  void Deliver(size_t part, Round round);
};

class FakeWorker {
 public:
  FakeWorker(std::string name, std::string island);

  const std::string& name() const { return name_; }
  void Start(Random& random, Instant now);

  protocol::StatusFacts Status();
  void OnOrders(const protocol::Orders& orders, Random& random, Instant now);

  Boot boot() const { return boot_; }
  std::map<JobId, FakeSeat>& seats() { return seats_; }

 private:
  void Follow(FakeSeat& seat, const JobOrders& orders, Random& random,
              Instant now);

  const std::string name_;
  const std::string island_;
  Boot boot_;
  Incarnation incarnation_;
  Revision revision_;
  uint64_t counter_ = 0;
  std::map<JobId, FakeSeat> seats_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_TESTING_FAKE_WORKER_H_
