// coordinator/core/rules/worker_directory.h
//
// Knows the addresses at which workers are reached. The rules of this folder
// know workers by name only.
#ifndef SKERRY_COORDINATOR_CORE_RULES_WORKER_DIRECTORY_H_
#define SKERRY_COORDINATOR_CORE_RULES_WORKER_DIRECTORY_H_

#include <string>
#include <vector>

#include "coordinator/core/state/worker_table.h"
#include "protocol/job_facts.h"
#include "protocol/orders.h"
#include "protocol/peers.h"
#include "protocol/state_piece.h"

namespace skerry::coordinator {

// Says where `reader` reaches every worker that the orders name, and every one
// of `others`. Who has registered anew since a record named it is where it is
// now. Whom it cannot reach is left out.
protocol::Directory DirectoryFor(const protocol::Orders& orders,
                                 const std::vector<std::string>& others,
                                 const WorkerTable& workers,
                                 const Worker& reader);

// The workers of the directory that wait for streams of `reader`, which it
// opens to them or to the relay between them.
std::vector<std::string> AwaitedBy(const protocol::Directory& directory,
                                   const WorkerTable& workers,
                                   const Worker& reader);

// Adds the relays that the directory names. They wait for no streams of their
// own, so AwaitedBy() is asked before.
void AddRelays(const WorkerTable& workers, const Worker& reader,
               protocol::Directory& directory);

// Says where somebody in no island reaches every worker that has a piece.
protocol::Directory DirectoryOf(const std::vector<protocol::StatePiece>& pieces,
                                const WorkerTable& workers);

// Names the peers of links that a worker of an older release knows by address,
// and leaves out those that nobody is at.
void NameLinks(const WorkerTable& workers,
               std::vector<protocol::PeerLink>& links);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_WORKER_DIRECTORY_H_
