// Any bytes as Orders and as a cut: what passes the checks holds what the
// worker's core relies on.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "compression/codec.h"
#include "proto/skerry/v1/control.pb.h"
#include "proto/skerry/v1/peer.pb.h"
#include "protocol/convert/orders.h"
#include "protocol/exchange.h"
#include "protocol/fragment_orders.h"
#include "protocol/job_orders.h"
#include "protocol/orders.h"
#include "protocol/peers.h"
#include "worker/convert/peer.h"
#include "worker/core/job_settings.h"

namespace skerry::worker {
namespace {

using protocol::FragmentOrders;

void CheckFragment(const FragmentOrders& orders) {
  for (const protocol::CommittedEntry& entry : orders.committed) {
    SKERRY_CHECK(!entry.hashes.empty());
    SKERRY_CHECK(std::isfinite(static_cast<float>(entry.total_weight)));
  }
  if (!orders.open) return;
  SKERRY_CHECK(!orders.open->members.empty());
  SKERRY_CHECK(static_cast<float>(orders.open->total_weight) > 0.0f);
  for (const uint32_t owner : orders.open->owners) {
    SKERRY_CHECK(owner < orders.open->members.size());
  }
  for (const protocol::Member& member : orders.open->members) {
    SKERRY_CHECK(compression::FindCodec(member.codec).ok());
  }
}

void CheckAccepted(const protocol::JobOrders& orders) {
  SKERRY_CHECK(orders.job.is_set());
  uint32_t next = 0;
  for (const protocol::SpanHolder& holder : orders.holders) {
    SKERRY_CHECK(holder.span_begin == next && holder.span_end > next);
    SKERRY_CHECK(!holder.peer.inside().empty());
    next = holder.span_end;
  }
  for (const FragmentOrders& fragment : orders.fragments) {
    SKERRY_CHECK(fragment.fragment.value() < job::FragmentCount(orders.spec));
    CheckFragment(fragment);
  }
  const auto settings = JobSettingsOf(orders);
  if (!settings.ok()) return;
  SKERRY_CHECK(optimizer::ValidateOuter(settings->outer).ok());
  SKERRY_CHECK(settings->batch_samples > 0 && settings->tau > 0);
  SKERRY_CHECK(settings->fragments == job::FragmentCount(orders.spec));
}

void CheckDirectory(const protocol::Directory& directory) {
  for (const auto& [worker, endpoints] : directory) {
    SKERRY_CHECK(!worker.empty() && !endpoints.empty());
    for (const std::string& endpoint : endpoints) {
      SKERRY_CHECK(!endpoint.empty());
    }
  }
}

// What was heard can be said, and is heard again as the same.
void CheckSaid(protocol::Orders orders) {
  // A description may have numbers that are none, which equal nothing.
  for (protocol::JobOrders& job : orders.jobs) {
    job::JobSpec spec;
    spec.exchange.fragments = job.spec.exchange.fragments;
    job.spec = spec;
  }
  v1::Orders said;
  OrdersToProto(orders, &said);
  const protocol::HeardOrders again = protocol::OrdersFromProto(said);
  SKERRY_CHECK(again.refused.empty() && again.orders == orders);
}

}  // namespace
}  // namespace skerry::worker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace v1 = skerry::v1;
  namespace worker = skerry::worker;
  const int bytes = static_cast<int>(size);
  v1::Orders orders;
  if (orders.ParseFromArray(data, bytes)) {
    const auto heard = skerry::protocol::OrdersFromProto(orders);
    for (const auto& job : heard.orders.jobs) worker::CheckAccepted(job);
    worker::CheckDirectory(heard.orders.directory);
    worker::CheckSaid(heard.orders);
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
