#include "protocol/convert/directory.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "protocol/convert/fields.h"

namespace skerry::protocol {
namespace {

// Names of workers by the address that other islands reach them at.
using Names = absl::btree_map<std::string, std::string>;

bool IsEndpoint(const std::string& entry) {
  return entry != kReverse && !entry.starts_with(kRelayPrefix);
}

void Learn(const SpanHolder& holder, Orders& orders, Names& names) {
  names.emplace(holder.peer.address, holder.peer.worker);
  orders.directory.try_emplace(holder.peer.worker,
                               std::vector<std::string>{holder.peer.address});
}

void LearnAll(const JobOrders& job, Orders& orders, Names& names) {
  for (const SpanHolder& holder : job.holders) {
    names.emplace(holder.peer.address, holder.peer.worker);
    orders.directory[holder.peer.worker] = {holder.peer.inside()};
  }
  for (const FragmentOrders& fragment : job.fragments) {
    for (const Source& source : fragment.sources) {
      Learn(source.holder, orders, names);
    }
    if (!fragment.open.has_value()) continue;
    for (const Member& member : fragment.open->members) {
      for (const SpanHolder& holder : member.holders) {
        Learn(holder, orders, names);
      }
    }
  }
}

}  // namespace

void DirectoryToProto(const Directory& directory, EndpointsProto* out) {
  for (const auto& [worker, endpoints] : directory) {
    v1::Endpoints* one = out->Add();
    one->set_worker(worker);
    for (const std::string& endpoint : endpoints) {
      if (endpoint == kReverse) {
        one->set_reverse(true);
      } else if (const std::string_view relay = RelayIn(endpoint);
                 !relay.empty()) {
        one->set_relay(std::string(relay));
      } else {
        one->add_endpoints(endpoint);
      }
    }
  }
}

Directory DirectoryFromProto(const EndpointsProto& entries) {
  Directory directory;
  for (const v1::Endpoints& entry : entries) {
    if (!CheckName(entry.worker(), "worker").ok()) continue;
    std::vector<std::string> endpoints;
    if (CheckName(entry.relay(), "relay").ok()) {
      endpoints.push_back(ViaRelay(entry.relay()));
    } else if (entry.reverse()) {
      endpoints.emplace_back(kReverse);
    }
    for (const std::string& endpoint : entry.endpoints()) {
      if (CheckName(endpoint, "endpoints").ok() && IsEndpoint(endpoint)) {
        endpoints.push_back(endpoint);
      }
    }
    if (!endpoints.empty()) directory[entry.worker()] = std::move(endpoints);
  }
  return directory;
}

namespace {

// The first endpoint that older releases can dial; empty when there is none.
std::string Dialled(const std::vector<std::string>& endpoints) {
  for (const std::string& endpoint : endpoints) {
    if (IsEndpoint(endpoint)) return endpoint;
  }
  return "";
}

}  // namespace

void PieceToProto(const StatePiece& piece, const Directory& directory,
                  v1::StatePiece* out) {
  out->set_hash(piece.hash);
  for (const std::string& worker : piece.workers) {
    out->add_workers(worker);
    const auto entry = directory.find(worker);
    if (entry != directory.end()) out->add_addresses(Dialled(entry->second));
  }
}

StatePiece PieceFromProto(const v1::StatePiece& piece) {
  const auto& holders =
      piece.workers().empty() ? piece.addresses() : piece.workers();
  return {piece.hash(), {holders.begin(), holders.end()}};
}

void FillDirectory(Orders& orders) {
  if (!orders.directory.empty()) return;
  Names names;
  for (const JobOrders& job : orders.jobs) LearnAll(job, orders, names);
  for (JobOrders& job : orders.jobs) {
    if (!job.checkpoint.has_value()) continue;
    for (StatePiece& piece : job.checkpoint->pieces) {
      for (std::string& holder : piece.workers) {
        const auto name = names.find(holder);
        if (name != names.end()) {
          holder = name->second;
        } else if (CheckName(holder, "addresses").ok()) {
          orders.directory.try_emplace(holder,
                                       std::vector<std::string>{holder});
        }
      }
    }
  }
}

}  // namespace skerry::protocol
