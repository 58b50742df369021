// Any bytes as a Status: what passes the checks holds what the coordinator's
// core relies on, and the core takes it.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/release.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/orders_of.h"
#include "job/testing/specs.h"
#include "proto/skerry/v1/control.pb.h"
#include "protocol/convert/status.h"
#include "protocol/fragment_facts.h"
#include "protocol/job_facts.h"
#include "protocol/status_facts.h"

namespace skerry::coordinator {
namespace {

void CheckAccepted(const StatusFacts& facts) {
  SKERRY_CHECK(facts.boot.is_set() && !facts.self.worker.empty());
  for (const JobFacts& job : facts.jobs) {
    for (const FragmentFacts& fragment : job.fragments) {
      SKERRY_CHECK(fragment.span_begin + fragment.anchor_hashes.size() <= 4096);
      if (!fragment.ready.has_value()) continue;
      SKERRY_CHECK(fragment.ready->weight > 0);
      SKERRY_CHECK(std::isfinite(fragment.ready->weight));
      uint64_t last = 0;
      for (const data::SampleRange& range : fragment.ready->ranges.ranges()) {
        SKERRY_CHECK(last <= range.begin && range.begin < range.end);
        last = range.end;
      }
    }
  }
}

// What was heard can be said, and is heard again as the same.
void CheckSaid(const StatusFacts& facts) {
  v1::Status said;
  StatusToProto(facts, &said);
  const auto again = protocol::StatusFromProto(said);
  SKERRY_CHECK(again.ok() && *again == facts);
}

// A worker that says so twice, with a job that it may be about.
void Drive(StatusFacts facts) {
  const Instant start(absl::Seconds(1));
  Cluster cluster(ClusterOptions{});
  cluster.Recovered(start);
  SKERRY_CHECK(cluster.Submit(job::SmallJob("job", 1000), "key", start).ok());
  facts.incarnation = Incarnation();
  for (JobFacts& job : facts.jobs) job.job = JobId(1);
  for (int i = 0; i < 3; ++i) {
    const Instant now = start + i * absl::Seconds(1);
    cluster.OnStatus(facts, now).IgnoreError();
    cluster.Tick(now);
    cluster.TakeRecords();
    cluster.CheckInvariants();
    OrdersOf(cluster, facts.self.worker, now).IgnoreError();
    // It adopts the life that it was given, if any.
    const auto view = cluster.ViewJob(JobId(1), now);
    for (JobFacts& job : facts.jobs) {
      if (!view->replicas.empty()) job.life = view->replicas[0].life;
    }
    ++facts.counter;
  }
}

}  // namespace
}  // namespace skerry::coordinator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  skerry::v1::Status status;
  if (!status.ParseFromArray(data, static_cast<int>(size))) return 0;
  status.set_protocol_version(skerry::kProtocolVersion);
  const auto facts = skerry::protocol::StatusFromProto(status);
  if (!facts.ok()) return 0;
  skerry::coordinator::CheckAccepted(*facts);
  skerry::coordinator::CheckSaid(*facts);
  skerry::coordinator::Drive(*facts);
  return 0;
}
