#include "coordinator/core/rules/seat_totals.h"

namespace skerry::coordinator {
namespace {

bool HasFallen(const SeatCounters& before, const SeatCounters& now) {
  return now.bulk_sent_bytes < before.bulk_sent_bytes ||
         now.compute_s < before.compute_s || now.stall_s < before.stall_s;
}

// Unless the journal has it already.
void Write(const JobState& job, const Decider& decider,
           const std::string& worker, const SeatCounters& counters) {
  const auto written = job.counted.find(worker);
  if (written != job.counted.end() && written->second == counters) return;
  decider.emit(Counted{job.id, worker, counters});
}

}  // namespace

void CountSeat(JobState& job, const Decider& decider, const std::string& worker,
               const SeatCounters& now) {
  const auto heard = job.counting.find(worker);
  const auto written = job.counted.find(worker);
  const bool fallen =
      heard != job.counting.end()
          ? HasFallen(heard->second, now)
          : written != job.counted.end() && HasFallen(written->second, now);
  if (fallen) {
    CountLost(job, decider, worker);
    decider.emit(Counted{job.id, worker, now});
  }
  job.counting[worker] = now;
}

void CountLost(JobState& job, const Decider& decider, std::string_view worker) {
  const auto heard = job.counting.find(std::string(worker));
  if (heard == job.counting.end()) return;
  Write(job, decider, heard->first, heard->second);
  job.counting.erase(std::string(worker));
}

void CountAll(JobState& job, const Decider& decider) {
  for (const auto& [worker, counters] : job.counting) {
    Write(job, decider, worker, counters);
  }
}

SeatCounters TotalsOf(const JobState& job) {
  SeatCounters totals = job.totals;
  for (const auto& [worker, now] : job.counting) {
    const auto written = job.counted.find(worker);
    AddGrowth(written == job.counted.end() ? SeatCounters{} : written->second,
              now, totals);
  }
  return totals;
}

}  // namespace skerry::coordinator
