// Any bytes as a job's description: what passes the review is filled, and stays
// the same when it is reviewed or sent again.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "job/convert/job_spec.h"
#include "job/review.h"
#include "proto/skerry/v1/job.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using skerry::job::JobSpecFromProto;
  using skerry::job::ReviewJobSpec;
  skerry::v1::JobSpec message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto spec = JobSpecFromProto(message);
  if (!spec.ok()) return 0;
  const auto reviewed = ReviewJobSpec(*spec);
  if (!reviewed.ok()) return 0;
  SKERRY_CHECK(reviewed->spec.training.samples > 0);
  SKERRY_CHECK(reviewed->spec.training.batch_samples > 0);
  SKERRY_CHECK(reviewed->spec.training.tau > 0);
  SKERRY_CHECK(reviewed->spec.exchange.spans > 0);
  const auto again = ReviewJobSpec(reviewed->spec);
  SKERRY_CHECK(again.ok() && again->spec == reviewed->spec);
  skerry::v1::JobSpec sent;
  skerry::job::JobSpecToProto(reviewed->spec, &sent);
  const auto received = JobSpecFromProto(sent);
  SKERRY_CHECK(received.ok() && *received == reviewed->spec);
  return 0;
}
