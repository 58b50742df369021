#include "worker/daemon/preemption_watch.h"

#include <algorithm>
#include <utility>

#include "runtime/log.h"

namespace skerry::worker {
namespace {

// Waits after a failed look. They stay far below the shortest notice.
constexpr absl::Duration kWaitMin = absl::Seconds(1);
constexpr absl::Duration kWaitMax = absl::Seconds(10);
// A source that keeps failing is logged again after that.
constexpr absl::Duration kWarnAgain = absl::Minutes(10);

}  // namespace

PreemptionWatch::PreemptionWatch(runtime::EventLoop& loop,
                                 runtime::Executor& executor,
                                 std::vector<NoticeSource> sources,
                                 absl::Duration lead, Handler on_change)
    : loop_(loop),
      executor_(executor),
      book_(lead),
      on_change_(std::move(on_change)) {
  for (NoticeSource& source : sources) {
    sources_.push_back(std::make_shared<Watched>());
    sources_.back()->source = std::move(source);
  }
}

void PreemptionWatch::Start() {
  for (const auto& watched : sources_) Look(watched);
}

void PreemptionWatch::Look(const std::shared_ptr<Watched>& watched) {
  executor_.Run([this, watched, &loop = loop_,
                 alive = std::weak_ptr<char>(alive_)]() mutable {
    absl::StatusOr<Finding> found = watched->source.look();
    loop.Post([this, watched = std::move(watched), found = std::move(found),
               alive = std::move(alive)] {
      if (!alive.expired()) OnLooked(watched, found);
    });
  });
}

void PreemptionWatch::OnLooked(const std::shared_ptr<Watched>& watched,
                               const absl::StatusOr<Finding>& found) {
  if (found.ok()) {
    OnFound(*watched, *found);
  } else {
    OnFailed(*watched, found.status());
  }
  const absl::Duration wait = std::max(watched->wait, watched->source.pause);
  loop_.RunAt(loop_.Now() + wait,
              [this, watched, alive = std::weak_ptr<char>(alive_)] {
                if (!alive.expired()) Look(watched);
              });
}

void PreemptionWatch::OnFailed(Watched& watched, const absl::Status& why) {
  watched.wait = std::clamp(2 * watched.wait, kWaitMin, kWaitMax);
  const Instant now = loop_.Now();
  if (watched.warned.has_value() && now - *watched.warned < kWarnAgain) return;
  watched.warned = now;
  watched.told = true;
  runtime::Log(runtime::Severity::kWarning, "worker.preemption.unanswered",
               {{"source", watched.source.name}, {"cause", why}});
}

void PreemptionWatch::OnFound(Watched& watched, const Finding& found) {
  const std::string& name = watched.source.name;
  watched.wait = absl::ZeroDuration();
  if (std::exchange(watched.told, false)) {
    runtime::Log(runtime::Severity::kInfo, "worker.preemption.answered_again",
                 {{"source", name}});
  }
  const Instant now = loop_.Now();
  switch (book_.Take(name, found.notice, now)) {
    case NoticeBook::Change::kNone:
      return;
    case NoticeBook::Change::kWithdrawn:
      runtime::Log(runtime::Severity::kInfo, "worker.preemption.withdrawn",
                   {{"source", name}});
      break;
    case NoticeBook::Change::kNew: {
      const PendingNotice& notice = *book_.Of(name);
      const absl::Duration drains =
          std::max(book_.DrainAt(notice) - now, absl::ZeroDuration());
      runtime::Log(
          runtime::Severity::kWarning, "worker.preemption.notice",
          {{"source", name},
           {"what", notice.what},
           {"deadline_s", absl::ToDoubleSeconds(notice.deadline - now)},
           {"drains_in_s", absl::ToDoubleSeconds(drains)}});
      break;
    }
  }
  Update();
}

void PreemptionWatch::Update() {
  const PendingNotice* earliest = book_.Earliest();
  std::optional<PendingNotice> due;
  if (earliest != nullptr) {
    const Instant drains = book_.DrainAt(*earliest);
    if (drains <= loop_.Now()) {
      due = *earliest;
    } else {
      loop_.RunAt(drains, [this, alive = std::weak_ptr<char>(alive_)] {
        if (!alive.expired()) Update();
      });
    }
  }
  if (due == due_) return;
  due_ = due;
  on_change_(due_);
}

}  // namespace skerry::worker
