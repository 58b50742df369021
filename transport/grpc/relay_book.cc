#include "transport/grpc/relay_book.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/log.h"

namespace skerry::transport {
namespace {

// More than any worker keeps ready, and more than any has under way.
constexpr size_t kFetchesMax = 256;

template <typename Calls>
void Remove(const RelayedCall& call, Calls& calls) {
  std::erase_if(calls, [&call](const auto& one) { return one.get() == &call; });
}

}  // namespace

RelayBook::RelayBook(const RelayOptions& options, runtime::EventLoop& loop,
                     const Directory& directory, RefusedCalls& refused)
    : options_(options),
      loop_(loop),
      directory_(directory),
      refused_(refused) {}

RelayBook::~RelayBook() {
  *alive_ = false;
  const absl::Status gone = absl::UnavailableError("the relay is stopping");
  for (const auto& [route, meeting] : meetings_) {
    for (const Calls* calls :
         {&meeting.senders, &meeting.receivers, &meeting.spliced}) {
      for (const auto& call : *calls) call->End(gone);
    }
  }
}

absl::Status RelayBook::Take(const std::shared_ptr<RelayedCall>& call) {
  const auto open = calls_of_.find(call->worker());
  if (open != calls_of_.end() &&
      open->second >= options_.calls_per_worker_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("worker ", call->worker(), " has ",
                     options_.calls_per_worker_max, " calls at this relay"));
  }
  const RelayRoute& route = call->route();
  if (!route.is_fetch()) ReplaceOlder(*call);
  Meeting& meeting = meetings_[route];
  Calls& own = call->side() == RelayedCall::Side::kFrom ? meeting.senders
                                                        : meeting.receivers;
  if (own.size() >= kFetchesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kFetchesMax, " calls of worker ", call->worker(),
                     " wait at this relay, and no more are taken"));
  }
  ++calls_of_[call->worker()];
  own.push_back(call);
  Match(route, meeting);
  Watch(call);
  return absl::OkStatus();
}

void RelayBook::ReplaceOlder(const RelayedCall& newer) {
  const auto it = meetings_.find(newer.route());
  if (it == meetings_.end()) return;
  std::vector<std::shared_ptr<RelayedCall>> older;
  for (const Calls* calls :
       {&it->second.senders, &it->second.receivers, &it->second.spliced}) {
    for (const auto& call : *calls) {
      if (call->side() == newer.side()) older.push_back(call);
    }
  }
  for (const auto& call : older) {
    Lose(*call);
    // If it has a partner, that one ends with it and comes back.
    call->End(absl::AbortedError("a newer stream has taken its place"));
  }
}

void RelayBook::Match(const RelayRoute& route, Meeting& meeting) {
  if (!directory_.Relays(route.from, route.to)) return;
  meeting.was_relayed = true;
  while (!meeting.senders.empty() && !meeting.receivers.empty()) {
    const auto sender = std::move(meeting.senders.front());
    const auto receiver = std::move(meeting.receivers.front());
    meeting.senders.pop_front();
    meeting.receivers.pop_front();
    meeting.spliced.push_back(sender);
    meeting.spliced.push_back(receiver);
    RelayedCall::Splice(sender, receiver);
  }
}

void RelayBook::Watch(const std::shared_ptr<RelayedCall>& call) {
  if (call->is_spliced()) return;
  const auto later = [&](absl::Duration wait, auto and_then) {
    loop_.RunAt(loop_.Now() + wait,
                [alive = alive_, waiting = std::weak_ptr<RelayedCall>(call),
                 and_then = std::move(and_then)] {
                  const auto late = waiting.lock();
                  if (!*alive || late == nullptr || late->is_spliced()) return;
                  and_then(*late);
                });
  };
  if (!directory_.Relays(call->route().from, call->route().to)) {
    later(options_.named_within, [this](RelayedCall& late) {
      if (directory_.Relays(late.route().from, late.route().to)) return;
      late.End(Refuse(late));
    });
  }
  if (call->side() == RelayedCall::Side::kTo) return;
  later(options_.opened_within, [](RelayedCall& late) {
    late.End(absl::UnavailableError(
        absl::StrCat("worker ", late.route().to,
                     " cannot be dialled and has opened no stream for ",
                     late.route().from, " at the relay")));
  });
}

absl::Status RelayBook::Refuse(const RelayedCall& call) {
  const RelayRoute& route = call.route();
  const absl::Status refused = absl::PermissionDeniedError(
      absl::StrCat("this worker passes nothing on between workers ", route.from,
                   " and ", route.to, ": none of its orders say so"));
  refused_.Count(CallRefusal::kNotAllowed);
  const absl::Time now = absl::UnixEpoch() + (loop_.Now() - Instant());
  if (const std::optional<uint64_t> unsaid = refusals_.Count(now)) {
    runtime::Log(runtime::Severity::kWarning, "transport.call.refused",
                 {{"caller", call.certificate()},
                  {"serial", call.serial()},
                  {"cause", std::string(refused.message())},
                  {"more_refused", *unsaid}});
  }
  return refused;
}

void RelayBook::OnPairsChanged() {
  std::vector<std::shared_ptr<RelayedCall>> ending;
  for (auto& [route, meeting] : meetings_) {
    if (directory_.Relays(route.from, route.to)) {
      Match(route, meeting);
    } else if (std::exchange(meeting.was_relayed, false)) {
      for (const Calls* calls :
           {&meeting.senders, &meeting.receivers, &meeting.spliced}) {
        ending.insert(ending.end(), calls->begin(), calls->end());
      }
    }
  }
  for (const auto& call : ending) {
    call->End(absl::UnavailableError(
        absl::StrCat("this worker no longer passes anything on between "
                     "workers ",
                     call->route().from, " and ", call->route().to)));
  }
  absl::erase_if(meetings_, [](const auto& one) {
    return one.second.is_empty() && !one.second.was_relayed;
  });
}

// A call is lost twice if a newer one has taken its place.
void RelayBook::Lose(const RelayedCall& call) {
  const auto it = meetings_.find(call.route());
  if (it == meetings_.end()) return;
  Meeting& meeting = it->second;
  const auto count = [&meeting] {
    return meeting.senders.size() + meeting.receivers.size() +
           meeting.spliced.size();
  };
  const size_t before = count();
  Remove(call, meeting.senders);
  Remove(call, meeting.receivers);
  Remove(call, meeting.spliced);
  if (count() == before) return;
  const auto calls = calls_of_.find(call.worker());
  if (--calls->second == 0) calls_of_.erase(calls);
  if (meeting.is_empty() && !meeting.was_relayed) meetings_.erase(it);
}

}  // namespace skerry::transport
