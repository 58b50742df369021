// tests/sim/check/checker_set.h
//
// Runs all checkers as one observer.
#ifndef SKERRY_TESTS_SIM_CHECK_CHECKER_SET_H_
#define SKERRY_TESTS_SIM_CHECK_CHECKER_SET_H_

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/observer.h"
#include "tests/sim/check/anchors.h"
#include "tests/sim/check/averages.h"
#include "tests/sim/check/durable.h"
#include "tests/sim/check/folders.h"
#include "tests/sim/check/heard.h"
#include "tests/sim/check/ledger.h"
#include "tests/sim/check/live.h"
#include "tests/sim/check/owed.h"
#include "tests/sim/check/turns.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class CheckerSet final : public Observer {
 public:
  // At most `seats_max` jobs share an island. `out` outlives the set.
  CheckerSet(Violations& out, size_t seats_max)
      : ledger_(out),
        anchors_(out),
        durable_(out),
        folders_(out),
        heard_(out),
        owed_(out),
        live_(out),
        averages_(out),
        turns_(out, seats_max) {}

  void OnDurable(const coordinator::Entry& entry) override {
    for (Observer* one : all_) one->OnDurable(entry);
  }
  void OnJournalReplaced(Revision last) override {
    for (Observer* one : all_) one->OnJournalReplaced(last);
  }
  void OnState(Revision revision, uint64_t hash) override {
    for (Observer* one : all_) one->OnState(revision, hash);
  }
  void OnOrdersSaid(HostId to, const protocol::Orders& orders) override {
    for (Observer* one : all_) one->OnOrdersSaid(to, orders);
  }
  void OnFactsSaid(const JobSight& sight, const WorkerDisk& disk,
                   const std::string& folder) override {
    for (Observer* one : all_) one->OnFactsSaid(sight, disk, folder);
  }
  void OnStatusTaken(HostId from, uint64_t run,
                     const protocol::StatusFacts& status) override {
    for (Observer* one : all_) one->OnStatusTaken(from, run, status);
  }
  void OnOrdersHeard(HostId host, uint64_t run,
                     const protocol::JobOrders& orders) override {
    for (Observer* one : all_) one->OnOrdersHeard(host, run, orders);
  }
  void OnFrameTaken(HostId host, uint64_t run,
                    const compression::FrameHeader& header) override {
    for (Observer* one : all_) one->OnFrameTaken(host, run, header);
  }
  void OnFolderRemoved(HostId host, JobId job, uint64_t uid) override {
    for (Observer* one : all_) one->OnFolderRemoved(host, job, uid);
  }
  void OnLive(const LiveSight& sight) override {
    for (Observer* one : all_) one->OnLive(sight);
  }
  void OnSeat(const SeatSight& sight) override {
    for (Observer* one : all_) one->OnSeat(sight);
  }
  void OnBroken(const std::string& what) override {
    for (Observer* one : all_) one->OnBroken(what);
  }

 private:
  LedgerChecker ledger_;
  AnchorChecker anchors_;
  DurableChecker durable_;
  FolderChecker folders_;
  HeardChecker heard_;
  OwedChecker owed_;
  LiveChecker live_;
  AverageChecker averages_;
  TurnChecker turns_;
  const std::vector<Observer*> all_ = {&ledger_,  &anchors_,  &durable_,
                                       &folders_, &heard_,    &owed_,
                                       &live_,    &averages_, &turns_};
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_CHECKER_SET_H_
