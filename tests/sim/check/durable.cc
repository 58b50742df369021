#include "tests/sim/check/durable.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/daemon/store_file.h"

namespace skerry::sim {

using worker::PieceKey;
using worker::StoredFile;

void DurableChecker::OnState(Revision revision, uint64_t hash) {
  if (revision.value() > durable_) {
    out_.Add(absl::StrCat("durable: the coordinator stands on record ",
                          revision.value(), ", durable are ", durable_));
  }
  const auto [it, fresh] = states_.emplace(revision, hash);
  if (it->second != hash) {
    out_.Add(absl::StrCat("durable: a replay to record ", revision.value(),
                          " gives another state"));
  }
}

void DurableChecker::OnOrdersSaid(HostId to, const protocol::Orders& orders) {
  const auto check = [&](const char* what, uint64_t number) {
    if (number > durable_) {
      out_.Add(absl::StrCat("durable: worker ", to, " hears of ", what, " ",
                            number, ", durable are ", durable_));
    }
  };
  check("revision", orders.revision.value());
  check("incarnation", orders.incarnation.value());
  for (const protocol::JobOrders& job : orders.jobs) {
    check("job", job.job.value());
    check("epoch", job.epoch.value());
    check("life", job.life.value());
    for (const protocol::FragmentOrders& fragment : job.fragments) {
      if (fragment.open) check("attempt", fragment.open->attempt.value());
    }
  }
}

void DurableChecker::OnFactsSaid(const JobSight& sight, const WorkerDisk& disk,
                                 const std::string& folder) {
  // What was whole may have rotted, and its worker cannot know.
  if (disk.has_rotten()) return;
  // Nor does it know that its folder is gone, until it writes there.
  if (disk.IsGone(folder)) return;
  for (uint32_t f = 0; f < sight.facts.fragments.size(); ++f) {
    CheckFragment(sight, f, disk, folder);
  }
}

void DurableChecker::CheckFragment(const JobSight& sight, uint32_t index,
                                   const WorkerDisk& disk,
                                   const std::string& folder) {
  const protocol::FragmentFacts& facts = sight.facts.fragments[index];
  // Both are looked at when they are said for the first time: later the file of
  // one that was applied, or that lost, may be gone. Both are looked at once
  // more after the folder was made anew.
  Said& said = said_[{sight.host, sight.run, sight.facts.job, index,
                      disk.TimesMadeAnew(folder)}];
  if (facts.stored.has_value() && facts.stored->attempt > said.stored) {
    said.stored = facts.stored->attempt;
    CheckStored(sight, index, disk, folder);
  }
  for (const protocol::HeldBase& base : facts.bases) {
    if (base.sequence <= said.base) continue;
    said.base = base.sequence;
    CheckBase(sight, index, base, disk, folder);
  }
}

void DurableChecker::CheckStored(const JobSight& sight, uint32_t index,
                                 const WorkerDisk& disk,
                                 const std::string& folder) {
  const protocol::FragmentFacts& facts = sight.facts.fragments[index];
  StoredFile file{PieceKey::Kind::kResult,
                  facts.stored->sequence,
                  facts.stored->attempt,
                  {},
                  index};
  uint32_t span = facts.span_begin;
  for (const uint64_t hash : facts.stored->hashes) {
    file.pieces.push_back({span++, hash});
  }
  const FileBytes bytes =
      disk.Find(absl::StrCat(folder, "/", worker::StoreFileName(file)));
  bool whole = false;
  if (bytes != nullptr) {
    const auto header = worker::DecodeStoreHeader(*bytes);
    whole = header.ok() && header->file == file;
  }
  if (!whole) {
    out_.Add(absl::StrCat(
        "durable: worker ", sight.host, " reports the result of attempt ",
        facts.stored->attempt.value(), ", which is not on its disk"));
  }
}

void DurableChecker::CheckBase(const JobSight& sight, uint32_t index,
                               const protocol::HeldBase& base,
                               const WorkerDisk& disk,
                               const std::string& folder) {
  size_t found = 0;
  for (const std::string& name : disk.List(folder)) {
    const FileBytes bytes = disk.Find(absl::StrCat(folder, "/", name));
    const auto header = worker::DecodeStoreHeader(*bytes);
    if (!header.ok() || header->file.kind != PieceKey::Kind::kBase ||
        header->file.sequence != base.sequence ||
        header->file.fragment != index) {
      continue;
    }
    for (const StoredFile::Piece& piece : header->file.pieces) {
      const uint32_t index = piece.span - base.span_begin;
      found += piece.span >= base.span_begin && index < base.hashes.size() &&
               base.hashes[index] == piece.hash;
    }
  }
  if (found < base.hashes.size()) {
    out_.Add(absl::StrCat("durable: worker ", sight.host, " lists base ",
                          base.sequence.value(), ", which is not on its disk"));
  }
}

}  // namespace skerry::sim
