// tests/sim/check/owed.h
//
// Checks owed and contributions (A2, A7; DESIGN 5: 2, 8). Everything that was
// produced is in the model, owed, or counted as lost. A contribution does not
// change from ready to its outcome. A life starts with nothing owed, and
// nothing of a dropped contribution stays owed. A stored result is the mean of
// exactly the contributions that its attempt names. A commit takes from its
// members what it puts into the model.
#ifndef SKERRY_TESTS_SIM_CHECK_OWED_H_
#define SKERRY_TESTS_SIM_CHECK_OWED_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class OwedChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit OwedChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override;
  void OnJournalReplaced(Revision last) override;
  void OnSeat(const SeatSight& sight) override;

 private:
  struct Seen {
    Life life;
    std::optional<Round> ready;
    Attempt stored;
    double taken = 0;
  };
  // The values that a commit took from its members, and those that it put into
  // the model.
  struct Balance {
    size_t holders = 0;  // of all members
    size_t settled = 0;
    double taken = 0;
    double offered = 0;                  // magnitudes, for the tolerance
    std::map<uint32_t, double> decoded;  // by span, times the weight
  };

  void ForgetLife(Life life);
  void OnFragment(const FragmentSight& sight);
  void CheckBalance(const FragmentSight& sight);
  void CheckStart(const FragmentSight& sight, Seen& seen);
  void Settle(const FragmentSight& sight, Seen& seen);
  void CheckCommit(Attempt attempt);
  void Offer(const FragmentSight& sight);
  void CheckMean(const FragmentSight& sight, uint32_t span, uint64_t hash);

  Violations& out_;
  // The newest record, and the newest of all journals that were replaced.
  Revision last_;
  Revision lost_end_;
  std::map<Attempt, coordinator::Opened> attempts_;
  // Attempts that the lost part of a journal had opened.
  std::set<Attempt> lost_;
  // Contributions in weighted units, by job, life, round and span.
  std::map<std::tuple<JobId, Life, Round, uint32_t>, worker::Values> offered_;
  // By run, job and fragment.
  std::map<std::tuple<HostId, uint64_t, JobId, uint32_t>, Seen> seen_;
  std::map<Attempt, Balance> balances_;
  std::map<std::tuple<JobId, Life, Round>, Attempt> committed_;
  std::set<std::tuple<JobId, Life, Round>> dropped_;
  // Results that were compared with their members', by attempt, span and hash.
  std::set<std::tuple<Attempt, uint32_t, uint64_t>> means_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_OWED_H_
