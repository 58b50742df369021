#include "coordinator/service/page_feed.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/release.h"
#include "base/status.h"
#include "coordinator/core/views/events.h"
#include "coordinator/page/page_files.h"

namespace skerry::coordinator {
namespace {

using runtime::WebAnswer;

constexpr absl::Duration kLookPause = absl::Milliseconds(900);
// So many looks until what seldom changes is looked at too.
constexpr uint64_t kThoroughEvery = 10;
// A stream says that it lives after so many calls without news.
constexpr int kSilentMax = 5;

constexpr char kJson[] = "application/json";
constexpr char kText[] = "text/plain; charset=utf-8";

// The page loads its own files and data, runs no inline script or style, sends
// no form, and stands in no frame.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

// Keeps at most `most` events that are routine, and as many that are not.
void KeepNewest(size_t most, std::vector<LoggedEvent>& events) {
  size_t routine = 0;
  size_t others = 0;
  for (size_t i = events.size(); i > 0; --i) {
    const auto it = events.begin() + static_cast<ptrdiff_t>(i) - 1;
    size_t& count = IsRoutine(it->event) ? routine : others;
    if (count++ >= most) events.erase(it);
  }
}

WebAnswer Plain(int code, std::string type, std::string body) {
  WebAnswer answer;
  answer.code = code;
  answer.type = std::move(type);
  answer.body = std::move(body);
  answer.headers = {{"Content-Security-Policy", kPolicy},
                    {"X-Content-Type-Options", "nosniff"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Opener-Policy", "same-origin"},
                    {"Cross-Origin-Resource-Policy", "same-origin"}};
  return answer;
}

WebAnswer Refusal(const absl::Status& why) {
  const int code = absl::IsNotFound(why)           ? 404
                   : absl::IsPermissionDenied(why) ? 403
                   : absl::IsInvalidArgument(why)  ? 400
                                                   : 503;
  return Plain(code, kText, absl::StrCat(why.message(), "\n"));
}

}  // namespace

PageFeed::PageFeed(uint64_t term, Look look, std::function<Instant()> now)
    : term_(term), look_(std::move(look)), now_(std::move(now)) {}

absl::Status PageFeed::Refresh() {
  if (looked_.has_value() && now_() - *looked_ < kLookPause) return found_;
  const Revision newest =
      events_.empty() ? Revision() : events_.back().event.revision;
  absl::StatusOr<PageFacts> facts = look_(newest);
  // Also after an error, so that many readers do not wait one after another.
  looked_ = now_();
  found_ = facts.status();
  if (!facts.ok()) return found_;
  core_now_ = facts->now;
  events_.insert(events_.end(), std::make_move_iterator(facts->events.begin()),
                 std::make_move_iterator(facts->events.end()));
  KeepNewest(PageFeed::kEventsMax, events_);
  facts->events = events_;
  PutViews(*facts, turns_ % kThoroughEvery == 0, log_);
  ++turns_;
  return found_;
}

absl::StatusOr<std::string> PageFeed::News(PageMark& seen) {
  const runtime::MutexLock lock(mutex_);
  SKERRY_RETURN_IF_ERROR(Refresh());
  const uint64_t after = seen.term == term_ ? seen.tick : 0;
  const std::string news = log_.Since(after, core_now_ + (now_() - *looked_));
  seen = {term_, log_.tick()};
  if (news.empty()) return news;
  return absl::StrCat("{\"mark\":\"", FormatMark(seen), "\",\"release\":\"",
                      kRelease, "\",", news, "}");
}

std::string PageFeed::Next(Reader& reader) {
  const absl::StatusOr<std::string> news = News(reader.seen);
  if (news.ok() && !news->empty()) {
    reader.silent = 0;
    return absl::StrCat("id: ", FormatMark(reader.seen), "\ndata: ", *news,
                        "\n\n");
  }
  if (++reader.silent < kSilentMax) return "";
  reader.silent = 0;
  if (news.ok()) return "event: still\ndata:\n\n";
  std::string why(news.status().message());
  std::replace_if(
      why.begin(), why.end(), [](char c) { return c == '\n' || c == '\r'; },
      ' ');
  return absl::StrCat("event: trouble\ndata: ", why, "\n\n");
}

WebAnswer PageFeed::Answer(const runtime::WebRequest& request) {
  const absl::Status may =
      CheckSender({request.address, request.host, request.fetch_site});
  if (!may.ok()) return Refusal(may);
  const absl::StatusOr<PageRequest> asked =
      ParsePageRequest(request.path, request.query, request.last_event_id);
  if (!asked.ok()) return Refusal(asked.status());
  switch (asked->what) {
    case PageRequest::What::kFile: {
      const std::optional<PageFile> file = FindPageFile(asked->name);
      if (!file.has_value()) {
        return Refusal(absl::NotFoundError("there is no such page"));
      }
      return Plain(200, std::string(file->type), std::string(file->content));
    }
    case PageRequest::What::kView: {
      PageMark none;
      absl::StatusOr<std::string> news = News(none);
      if (!news.ok()) return Refusal(news.status());
      return Plain(200, kJson, *std::move(news));
    }
    case PageRequest::What::kChanges: {
      WebAnswer answer = Plain(200, "text/event-stream", "");
      const auto reader = std::make_shared<Reader>();
      reader->seen = asked->after.value_or(PageMark());
      answer.next = [this, reader] { return Next(*reader); };
      return answer;
    }
  }
  return Refusal(absl::NotFoundError("there is no such page"));
}

}  // namespace skerry::coordinator
