// coordinator/page/change_log.h
//
// Keeps what the page shows as JSON objects and knows which of them changed
// when, so that each reader is sent only what is new to it. All readers share
// one log, so an object is put into JSON once per change, however many look.
#ifndef SKERRY_COORDINATOR_PAGE_CHANGE_LOG_H_
#define SKERRY_COORDINATOR_PAGE_CHANGE_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "base/instant.h"

namespace skerry::coordinator {

// The lists in which objects are sent.
enum class PageList { kJobs, kWorkers, kEvents };

// A field that rises with time and is no news by itself. It is written as the
// milliseconds since then, in decimal digits and quoted, as 64-bit numbers are.
struct PageAge {
  std::string field;
  Instant since;
};

class ChangeLog {
 public:
  // Takes in the objects as they are now: Begin, Put or Keep each, then End.
  void Begin(Instant now);
  // The object of `key`, among those of its list in the order of keys. If the
  // hash `news` differs from what was kept, `text` makes its JSON object, which
  // has at least one field. It is not looked at sooner than `rest` after the
  // last change, nor so soon that the object takes more than kBytesPerSecond.
  void Put(PageList list, const std::string& key, uint64_t news,
           absl::Duration rest, std::optional<PageAge> age,
           absl::FunctionRef<std::string()> text);
  // The objects whose keys begin with `prefix` stay as they are.
  void Keep(PageList list, const std::string& prefix);
  // Forgets what was neither put nor kept. If that was a job or a worker,
  // readers are sent everything.
  void End();

  // The number of the newest change; it rises by at most one in each End().
  uint64_t tick() const { return tick_; }
  // Members of a JSON object, without its braces: the lists with everything
  // that changed after `tick`, and "whole":true when that is everything there
  // is. Empty when nothing changed. A tick that is not reached counts as 0.
  std::string Since(uint64_t tick, Instant now) const;

  // How fast one object may grow the answer.
  static constexpr double kBytesPerSecond = 65536;

 private:
  struct Object {
    uint64_t news = 0;
    uint64_t tick = 0;
    Instant changed;
    std::string text;
    std::optional<PageAge> age;
    bool seen = false;
  };

  absl::btree_map<std::pair<PageList, std::string>, Object> objects_;
  uint64_t tick_ = 0;
  // Readers that have seen less than this are sent everything.
  uint64_t whole_since_ = 1;
  Instant now_;
  bool changed_ = false;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_PAGE_CHANGE_LOG_H_
