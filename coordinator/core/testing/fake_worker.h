// coordinator/core/testing/fake_worker.h
//
// Fake workers behave as PROTOCOL 4 and 6 say, with hashes in place of tensors.
// A result's hash names its attempt and members, and an anchor's hash is the
// fold of the committed results. The world around the workers does what they
// share: frames, fetches, and the agreement on a cut.
#ifndef SKERRY_COORDINATOR_CORE_TESTING_FAKE_WORKER_H_
#define SKERRY_COORDINATOR_CORE_TESTING_FAKE_WORKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
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

// What the disk of a worker keeps of one job over restarts.
struct FakeDisk {
  // By (sequence, attempt, span).
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, uint64_t> results;
};

// A round that the head has fixed for a whole replica.
struct FakeRound {
  Round round;
  // The fragment whose boundary ends it.
  size_t turn = 0;
  Instant ends;
};

// One fragment of a job on one worker process.
struct FakePart {
  Sequence applied;
  std::map<uint32_t, uint64_t> anchors;
  std::optional<protocol::StoredResult> stored;
  std::optional<protocol::Contribution> ready;
  // The samples trained on since its last boundary, and whether it is at one
  // now.
  data::RangeSet trained;
  bool at_boundary = false;
  // The newest attempt that this seat has joined.
  Attempt joined;
  Instant frames_at;
  bool lies = false;
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
  std::optional<FakeRound> running;
  data::RangeSet used;
  Round newest_round;
  std::vector<protocol::EvaluationFact> evaluations;

  std::optional<protocol::OpenExchange> Open(size_t part) const;
  Sequence State() const;
  // The part that is furthest behind.
  size_t NextTurn() const;
  // Ends the round of these samples, or of nothing, at the boundary of a part.
  void Deliver(size_t part, Round round);
};

class FakeWorker {
 public:
  FakeWorker(std::string name, std::string island);

  bool alive() const { return alive_; }
  const std::string& name() const { return name_; }
  void Start(Random& random, Instant now);
  void Kill();
  void Drain() { draining_ = true; }
  bool released() const { return released_; }

  protocol::StatusFacts Status();
  void OnOrders(const protocol::Orders& orders, Random& random, Instant now);

  Boot boot() const { return boot_; }
  std::map<JobId, FakeSeat>& seats() { return seats_; }
  std::map<JobId, FakeDisk>& disks() { return disks_; }
  bool draining() const { return draining_ || told_to_drain_; }
  // Whether it may end as soon as it is released.
  bool leaving() const { return draining_; }
  // Outcomes heard since the last call: (life, round) and whether committed.
  using Heard = std::pair<std::pair<uint64_t, uint64_t>, bool>;
  std::vector<Heard> TakeOutcomes() { return std::exchange(outcomes_, {}); }

 private:
  void Follow(FakeSeat& seat, const JobOrders& orders, Random& random,
              Instant now);

  const std::string name_;
  const std::string island_;
  bool alive_ = false;
  Boot boot_;
  Incarnation incarnation_;
  Revision revision_;
  uint64_t counter_ = 0;
  bool draining_ = false;
  bool told_to_drain_ = false;
  bool released_ = false;
  std::map<JobId, FakeSeat> seats_;
  std::map<JobId, FakeDisk> disks_;
  std::vector<Heard> outcomes_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_TESTING_FAKE_WORKER_H_
