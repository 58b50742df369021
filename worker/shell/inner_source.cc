#include "worker/shell/inner_source.h"

namespace skerry::worker {
namespace {

// Whether commits have been made since the job began or went back.
bool IsOnItsWay(const protocol::JobOrders& orders, const JobStart& start) {
  for (const protocol::FragmentOrders& one : orders.fragments) {
    const uint32_t fragment = one.fragment.value();
    if (fragment < start.at().size() && one.newest > start.at()[fragment]) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<InnerSource> FindInnerSource(const protocol::JobOrders& orders,
                                           const JobStart& start,
                                           bool reads_base) {
  if (IsOver(orders.phase)) return std::nullopt;
  InnerSource from{.job = orders.spec.name,
                   .number = orders.job,
                   .restored = start.restored()};
  if (reads_base) {
    const job::JobSpec spec = start.SpecToRead(orders.spec);
    if (!start.GoesOn() || spec.model.checkpoint->name.empty()) {
      return std::nullopt;
    }
    from.place = spec.model.checkpoint->path;
    from.name = spec.model.checkpoint->name;
    from.sha256 = spec.model.checkpoint->sha256;
    return from;
  }
  if (!orders.spec.checkpoint.has_value() || !IsOnItsWay(orders, start)) {
    return std::nullopt;
  }
  from.place = orders.spec.checkpoint->directory;
  return from;
}

}  // namespace skerry::worker
