#include "coordinator/core/worker_directory.h"

#include <string>

namespace skerry::coordinator {
namespace {

using protocol::Directory;
using protocol::PeerAddress;
using protocol::SpanHolder;
using protocol::StatePiece;

class Writer {
 public:
  Writer(const WorkerTable& workers, std::string_view island)
      : workers_(workers), island_(island) {}

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
    if (directory_.contains(then.worker)) return;
    const auto it = workers_.all().find(then.worker);
    const bool known = it != workers_.all().end();
    const PeerAddress& at = known ? it->second.self : then;
    const bool inside = known && it->second.island == island_;
    const std::string& endpoint = inside ? at.inside() : at.address;
    if (!endpoint.empty()) directory_[then.worker] = {endpoint};
  }
  Directory Take() { return std::move(directory_); }

 private:
  const WorkerTable& workers_;
  const std::string_view island_;
  Directory directory_;
};

}  // namespace

Directory DirectoryFor(const protocol::Orders& orders,
                       const WorkerTable& workers, std::string_view island) {
  Writer writer(workers, island);
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
  }
  return writer.Take();
}

Directory DirectoryOf(const std::vector<StatePiece>& pieces,
                      const WorkerTable& workers) {
  Writer writer(workers, "");
  writer.Add(pieces);
  return writer.Take();
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
