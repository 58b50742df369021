// Any bytes as Orders and as a cut: what passes the checks holds what the
// worker's core relies on.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "compression/codec.h"
#include "proto/skerry/v1/control.pb.h"
#include "proto/skerry/v1/peer.pb.h"
#include "worker/convert/control.h"
#include "worker/convert/peer.h"

namespace skerry::worker {
namespace {

void CheckFragment(const FragmentOrders& orders) {
  for (const CommittedEntry& entry : orders.committed) {
    SKERRY_CHECK(!entry.hashes.empty());
    SKERRY_CHECK(std::isfinite(static_cast<float>(entry.total_weight)));
  }
  if (!orders.open) return;
  SKERRY_CHECK(!orders.open->members.empty());
  SKERRY_CHECK(static_cast<float>(orders.open->total_weight) > 0.0f);
  for (const uint32_t owner : orders.open->owners) {
    SKERRY_CHECK(owner < orders.open->members.size());
  }
  for (const Member& member : orders.open->members) {
    SKERRY_CHECK(compression::FindCodec(member.codec).ok());
  }
}

void CheckAccepted(const JobOrders& orders) {
  SKERRY_CHECK(orders.job.is_set());
  SKERRY_CHECK(optimizer::ValidateOuter(orders.settings.outer).ok());
  SKERRY_CHECK(orders.settings.batch_samples > 0 && orders.settings.tau > 0);
  uint32_t next = 0;
  for (const SpanHolder& holder : orders.holders) {
    SKERRY_CHECK(holder.begin == next && holder.end > holder.begin);
    SKERRY_CHECK(!holder.peer.island_address.empty());
    next = holder.end;
  }
  SKERRY_CHECK(orders.fragments.size() == orders.settings.fragments);
  for (const FragmentOrders& fragment : orders.fragments) {
    CheckFragment(fragment);
  }
}

}  // namespace
}  // namespace skerry::worker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace v1 = skerry::v1;
  namespace worker = skerry::worker;
  const int bytes = static_cast<int>(size);
  v1::Orders orders;
  if (orders.ParseFromArray(data, bytes)) {
    for (const v1::JobOrders& job : orders.jobs()) {
      const auto checked = worker::JobOrdersFromProto(job);
      if (checked.ok()) worker::CheckAccepted(*checked);
    }
  }
  v1::AgreeCutReply reply;
  if (reply.ParseFromArray(data, bytes)) {
    const auto checked = worker::CutReplyFromProto(reply);
    if (checked.ok()) {
      v1::AgreeCutReply again;
      worker::CutReplyToProto(*checked, &again);
      SKERRY_CHECK(worker::CutReplyFromProto(again).value() == *checked);
    }
  }
  return 0;
}
