// protocol/fragment_orders.h
//
// Defines what a worker is told about one fragment of a model.
#ifndef SKERRY_PROTOCOL_FRAGMENT_ORDERS_H_
#define SKERRY_PROTOCOL_FRAGMENT_ORDERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"
#include "protocol/kept_state.h"
#include "protocol/peers.h"

namespace skerry::protocol {

// A worker that can serve spans that another one lacks.
struct Source {
  SpanHolder holder;
  // Newest base there; sequence 0 with no hashes: none but the initial state.
  Sequence base;
  Sequence results_from;  // 0: no results
  Sequence results_through;
  // One hash for each span of the base, in order from holder.span_begin.
  std::vector<uint64_t> base_hashes;
  Attempt base_attempt = {};  // as in HeldBase

  friend bool operator==(const Source&, const Source&) = default;
};

struct FragmentOrders {
  FragmentId fragment;
  Sequence newest;
  // Entries after the worker's `applied`, oldest first, without gaps.
  std::vector<CommittedEntry> committed;
  std::optional<OpenExchange> open;
  std::optional<Outcome> outcome;
  Sequence keep_from;
  std::vector<Source> sources;
  // The others wait for this replica in this fragment while it waits for them
  // in another. It delivers what it has of this fragment.
  bool wanted = false;
  // Set once an operator has kept what workers hold of a lost history.
  KeptState kept = {};

  friend bool operator==(const FragmentOrders&,
                         const FragmentOrders&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_FRAGMENT_ORDERS_H_
