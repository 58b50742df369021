#include "coordinator/service/control_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "coordinator/service/grpc_status.h"
#include "protocol/convert/orders.h"
#include "protocol/convert/status.h"
#include "protocol/fragment_orders.h"
#include "protocol/job_orders.h"
#include "protocol/orders.h"

namespace skerry::coordinator {
absl::Status BoundOrders(size_t bytes_max, v1::Orders* orders) {
  while (orders->ByteSizeLong() > bytes_max) {
    v1::FragmentOrders* longest = nullptr;
    for (v1::JobOrders& job : *orders->mutable_jobs()) {
      for (v1::FragmentOrders& fragment : *job.mutable_fragments()) {
        if (longest == nullptr ||
            fragment.committed_size() > longest->committed_size()) {
          longest = &fragment;
        }
      }
    }
    // The last entry stays: without one the worker could never go on.
    if (longest == nullptr || longest->committed_size() < 2) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "orders of ", orders->ByteSizeLong(), " bytes, at most ", bytes_max));
    }
    const int kept = longest->committed_size() / 2;
    longest->mutable_committed()->DeleteSubrange(
        kept, longest->committed_size() - kept);
  }
  return absl::OkStatus();
}

ControlStream::ControlStream(uint64_t id, transport::Caller caller,
                             std::string from, runtime::EventLoop& loop,
                             ControlStreamOwner& owner, size_t orders_bytes_max)
    : id_(id),
      caller_(std::move(caller)),
      from_(std::move(from)),
      loop_(loop),
      owner_(owner),
      orders_bytes_max_(orders_bytes_max) {
  StartRead(&incoming_);
}

void ControlStream::OnReadDone(bool ok) {
  if (!ok) {
    loop_.Post([&owner = owner_, id = id_] { owner.OnClosed(id); });
    return;
  }
  loop_.Post([this, status = protocol::StatusFromProto(incoming_)]() mutable {
    if (!status.ok()) {
      owner_.OnBadStatus(id_, status.status());
    } else if (!finished()) {
      owner_.OnStatus(id_, *std::move(status));
    }
  });
}

void ControlStream::OnWriteDone(bool) {
  // A write that failed is followed by a read that fails.
  loop_.Post([this] { Written(); });
}

void ControlStream::OnDone() {
  loop_.Post([&owner = owner_, id = id_] { owner.OnDone(id); });
}

void ControlStream::Accepted() {
  if (!finished()) StartRead(&incoming_);
}

void ControlStream::Send(const Orders& orders) {
  SKERRY_CHECK(ready());
  outgoing_.Clear();
  OrdersToProto(orders, &outgoing_);
  const absl::Status bounded = BoundOrders(orders_bytes_max_, &outgoing_);
  if (!bounded.ok()) {
    Finish(bounded);
    return;
  }
  writing_ = true;
  StartWrite(&outgoing_);
}

void ControlStream::Written() {
  writing_ = false;
  if (finish_.has_value()) {
    ServerBidiReactor::Finish(ToGrpc(*finish_));
    return;
  }
  if (on_ready_) on_ready_();
}

void ControlStream::Finish(const absl::Status& status) {
  if (finish_.has_value()) return;
  finish_ = status;
  if (!writing_) ServerBidiReactor::Finish(ToGrpc(status));
}

}  // namespace skerry::coordinator
