#include "coordinator/core/log/audit.h"

#include <utility>

namespace skerry::coordinator {
namespace {

// More than a job keeps, and the one that it went back to.
constexpr size_t kCheckpointsMax = 1025;

}  // namespace

Audit::Audit(JobId job, uint64_t samples_total, data::RangeSet consumed,
             uint32_t fragments)
    : job_(job),
      samples_total_(samples_total),
      consumed_before_(std::move(consumed)),
      fragments_(fragments) {}

void Audit::Add(const Entry& entry) {
  if (const auto* granted = std::get_if<Granted>(&entry.record)) {
    if (granted->job != job_) return;
    samples_returned_ += ever_granted_.Intersect(granted->ranges).total();
    ever_granted_ = ever_granted_.Union(granted->ranges);
  } else if (const auto* opened = std::get_if<Opened>(&entry.record)) {
    if (opened->job != job_) return;
    Open open{Attempt(entry.index.value()), opened->members.size(), {}};
    for (const Member& member : opened->members) {
      open.ranges.emplace_back(member.contribution.ranges);
    }
    open_[opened->fragment] = std::move(open);
  } else if (const auto* commit = std::get_if<Committed>(&entry.record)) {
    if (commit->job != job_) return;
    const auto it = open_.find(commit->fragment);
    if (it == open_.end() || it->second.attempt != commit->attempt) return;
    data::RangeSet& committed =
        committed_.try_emplace(commit->fragment, consumed_before_)
            .first->second;
    for (const data::RangeSet& ranges : it->second.ranges) {
      doubled_ = doubled_.Union(committed.Intersect(ranges));
      committed = committed.Union(ranges);
    }
    ++commits_;
    contributions_ += it->second.contributions;
    open_.erase(it);
  } else if (const auto* saved = std::get_if<Checkpointed>(&entry.record)) {
    if (saved->job != job_ || !saved->error.empty()) return;
    std::vector<data::RangeSet>& in = checkpoints_[saved->sequence];
    in.assign(fragments_, saved->consumed);
    for (size_t f = 0; f < in.size() && f < saved->lacking.size(); ++f) {
      in[f] = in[f].Subtract(saved->lacking[f]);
    }
    if (checkpoints_.size() > kCheckpointsMax) {
      checkpoints_.erase(checkpoints_.begin());
    }
  } else if (const auto* adopted = std::get_if<Adopted>(&entry.record)) {
    if (adopted->job == job_) open_.clear();
  } else if (const auto* restored = std::get_if<Restored>(&entry.record)) {
    if (restored->job != job_) return;
    open_.clear();
    committed_.clear();
    const std::vector<data::RangeSet>& in = checkpoints_[restored->checkpoint];
    for (size_t f = 0; f < in.size(); ++f) committed_[FragmentId(f)] = in[f];
  }
}

AuditReport Audit::Report() const {
  data::RangeSet committed = consumed_before_;
  data::RangeSet everywhere(data::SampleRange{0, samples_total_});
  for (uint32_t f = 0; f < fragments_; ++f) {
    const auto it = committed_.find(FragmentId(f));
    const data::RangeSet& in =
        it == committed_.end() ? consumed_before_ : it->second;
    committed = committed.Union(in);
    everywhere = everywhere.Intersect(in);
  }
  AuditReport report;
  report.samples_total = samples_total_;
  report.samples_committed = committed.total();
  report.commits = commits_;
  report.contributions = contributions_;
  report.missing =
      data::RangeSet(data::SampleRange{0, samples_total_}).Subtract(committed);
  report.doubled = doubled_;
  report.samples_returned = samples_returned_;
  report.samples_partly = committed.Subtract(everywhere).total();
  report.fragments = fragments_;
  return report;
}

AuditSnapshot Audit::Save() const {
  AuditSnapshot saved;
  for (const auto& [fragment, open] : open_) {
    saved.open.push_back(
        {fragment, open.attempt, open.contributions, open.ranges});
  }
  saved.committed.assign(committed_.begin(), committed_.end());
  saved.doubled = doubled_;
  saved.ever_granted = ever_granted_;
  saved.samples_returned = samples_returned_;
  saved.commits = commits_;
  saved.contributions = contributions_;
  return saved;
}

void Audit::Restore(const AuditSnapshot& saved) {
  for (const AuditSnapshot::Open& one : saved.open) {
    open_[one.fragment] = {one.attempt, one.contributions, one.ranges};
  }
  for (const auto& [fragment, ranges] : saved.committed) {
    committed_[fragment] = ranges;
  }
  doubled_ = saved.doubled;
  ever_granted_ = saved.ever_granted;
  samples_returned_ = saved.samples_returned;
  commits_ = saved.commits;
  contributions_ = saved.contributions;
}

}  // namespace skerry::coordinator
