#include "coordinator/core/rules/worker_directory.h"

#include <string>

#include "absl/container/btree_set.h"
#include "coordinator/core/rules/relays.h"

namespace skerry::coordinator {
namespace {

using protocol::Directory;
using protocol::PeerAddress;
using protocol::SpanHolder;
using protocol::StatePiece;

class Writer {
 public:
  // Null: somebody in no island, who can be dialled by nobody.
  Writer(const WorkerTable& workers, const Worker* reader)
      : workers_(workers), reader_(reader) {}

  void Add(const std::vector<SpanHolder>& holders) {
    for (const SpanHolder& holder : holders) Add(holder.peer);
  }
  void Add(const std::vector<StatePiece>& pieces) {
    for (const StatePiece& piece : pieces) {
      for (const std::string& name : piece.workers) Add({name, "", ""});
    }
  }
  // `then`: where a record says that it was.
  void Add(const PeerAddress& then) {
    // Orders of a large job name hundreds, so each name is looked up once.
    const auto [entry, is_new] = directory_.try_emplace(then.worker);
    if (!is_new) return;
    entry->second = EndpointsOf(then);
    if (entry->second.empty()) directory_.erase(entry);
  }
  Directory Take() { return std::move(directory_); }

 private:
  // Returns an entry of the directory; empty when the reader gets none.
  std::vector<std::string> EndpointsOf(const PeerAddress& then) const {
    const auto it = workers_.all().find(then.worker);
    const bool known = it != workers_.all().end();
    const PeerAddress& at = known ? it->second.self : then;
    const bool inside =
        known && reader_ != nullptr && it->second.island == reader_->island;
    const bool hidden = known ? it->second.IsHidden() : at.outbound_only;
    if (inside) return AfterFirst("", {at.inside()});
    if (!hidden) return AfterFirst("", at.outside());
    if (reader_ == nullptr || !reader_->IsHidden() || !known) {
      if (reader_ != nullptr && known && !reader_->takes_streams) return {};
      return AfterFirst(protocol::kReverse, at.outside());
    }
    if (const Worker* relay = RelayFor(workers_, *reader_, it->second)) {
      return AfterFirst(protocol::ViaRelay(relay->self.worker), at.outside());
    }
    return {};
  }
  // `first` is how it is reached, if not at the endpoints.
  static std::vector<std::string> AfterFirst(
      std::string first, std::vector<std::string> endpoints) {
    if (endpoints.front().empty()) return {};
    if (!first.empty()) endpoints.insert(endpoints.begin(), std::move(first));
    return endpoints;
  }

  const WorkerTable& workers_;
  const Worker* const reader_;
  Directory directory_;
};

}  // namespace

Directory DirectoryFor(const protocol::Orders& orders,
                       const std::vector<std::string>& others,
                       const WorkerTable& workers, const Worker& reader) {
  Writer writer(workers, &reader);
  for (const std::string& name : others) writer.Add({name, "", ""});
  for (const protocol::JobOrders& job : orders.jobs) {
    writer.Add(job.holders);
    for (const protocol::FragmentOrders& fragment : job.fragments) {
      for (const protocol::Source& source : fragment.sources) {
        writer.Add(source.holder.peer);
      }
      if (!fragment.open.has_value()) continue;
      for (const protocol::Member& member : fragment.open->members) {
        writer.Add(member.holders);
      }
    }
    if (job.checkpoint.has_value()) writer.Add(job.checkpoint->pieces);
    for (const std::string& name : job.data_holders) writer.Add({name, "", ""});
  }
  return writer.Take();
}

void AddRelays(const WorkerTable& workers, const Worker& reader,
               Directory& directory) {
  absl::btree_set<std::string> relays;
  for (const auto& [name, endpoints] : directory) {
    relays.emplace(protocol::RelayIn(endpoints.front()));
  }
  Writer writer(workers, &reader);
  for (const std::string& relay : relays) writer.Add({relay, "", ""});
  for (const auto& [name, endpoints] : writer.Take()) {
    directory.try_emplace(name, endpoints);
  }
}

Directory DirectoryOf(const std::vector<StatePiece>& pieces,
                      const WorkerTable& workers) {
  Writer writer(workers, nullptr);
  writer.Add(pieces);
  return writer.Take();
}

std::vector<std::string> AwaitedBy(const Directory& directory,
                                   const WorkerTable& workers,
                                   const Worker& reader) {
  std::vector<std::string> names;
  if (!reader.IsHidden()) return names;
  for (const auto& [name, endpoints] : directory) {
    const Worker* const peer = workers.FindCurrent(name);
    if (peer != nullptr && peer->island != reader.island &&
        CanReach(workers, reader, *peer)) {
      names.push_back(name);
    }
  }
  return names;
}

void NameLinks(const WorkerTable& workers,
               std::vector<protocol::PeerLink>& links) {
  for (protocol::PeerLink& link : links) {
    if (!link.worker.empty()) continue;
    for (const auto& [name, worker] : workers.all()) {
      if (!worker.left && worker.self.address == link.address) {
        link.worker = name;
      }
    }
  }
  std::erase_if(links, [](const protocol::PeerLink& link) {
    return link.worker.empty();
  });
}

}  // namespace skerry::coordinator
