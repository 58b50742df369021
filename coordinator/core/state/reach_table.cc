#include "coordinator/core/state/reach_table.h"

#include <utility>

namespace skerry::coordinator {

ReachTable::Names ReachTable::Heard(const std::string& finder,
                                    const std::vector<protocol::Tried>& found,
                                    Instant now) {
  Names before = std::exchange(dialled_[finder], {});
  Names& dialled = dialled_[finder];
  for (const protocol::Tried& tried : found) {
    dialled.insert(tried.worker);
    before.erase(tried.worker);
    const auto [it, fresh] = findings_[tried.worker].try_emplace(
        finder, Finding{tried, now, now, std::nullopt});
    Finding& finding = it->second;
    if (fresh || finding.tried.ok() != tried.ok()) {
      finding.since = now;
      finding.dialled_back.reset();
    }
    finding.at = now + -tried.age;
    finding.tried = tried;
  }
  Names touched = dialled;
  touched.insert(finder);
  for (const std::string& gone : before) {
    findings_[gone].erase(finder);
    if (findings_[gone].empty()) findings_.erase(gone);
  }
  if (dialled.empty()) dialled_.erase(finder);
  Names changed;
  for (const std::string& worker : touched) {
    if (Decide(worker)) changed.insert(worker);
  }
  return changed;
}

bool ReachTable::Decide(const std::string& worker) {
  const auto found = findings_.find(worker);
  if (found == findings_.end()) return false;
  bool is_hidden = IsHidden(worker);
  bool is_proved = false;
  for (auto& [finder, finding] : found->second) {
    if (finding.tried.ok()) return hidden_.erase(worker) > 0;
    const Finding* const back = Find(worker, finder);
    if (!finding.dialled_back.has_value() && back != nullptr &&
        back->tried.ok() && back->at > finding.since) {
      finding.dialled_back = back->at;
    }
    is_proved |=
        finding.dialled_back.has_value() && finding.at > *finding.dialled_back;
  }
  if (is_hidden || !is_proved) return false;
  hidden_.insert(worker);
  return true;
}

Finding* ReachTable::Find(const std::string& finder,
                          const std::string& worker) {
  const auto of = findings_.find(worker);
  if (of == findings_.end()) return nullptr;
  const auto by = of->second.find(finder);
  return by == of->second.end() ? nullptr : &by->second;
}

void ReachTable::Forget(const std::string& worker) {
  hidden_.erase(worker);
  const auto of = findings_.find(worker);
  if (of != findings_.end()) {
    for (const auto& [finder, finding] : of->second) {
      const auto dialled = dialled_.find(finder);
      if (dialled == dialled_.end()) continue;
      dialled->second.erase(worker);
      if (dialled->second.empty()) dialled_.erase(dialled);
    }
    findings_.erase(of);
  }
  const auto dialled = dialled_.find(worker);
  if (dialled == dialled_.end()) return;
  for (const std::string& other : dialled->second) {
    const auto it = findings_.find(other);
    if (it == findings_.end()) continue;
    it->second.erase(worker);
    if (it->second.empty()) findings_.erase(it);
  }
  dialled_.erase(dialled);
}

const absl::btree_map<std::string, Finding>& ReachTable::Of(
    const std::string& worker) const {
  static const auto* const kNone = new absl::btree_map<std::string, Finding>();
  const auto it = findings_.find(worker);
  return it == findings_.end() ? *kNone : it->second;
}

}  // namespace skerry::coordinator
