// trainer/attach/service/rank_log.h
//
// The file with what one rank prints.
#ifndef SKERRY_TRAINER_ATTACH_SERVICE_RANK_LOG_H_
#define SKERRY_TRAINER_ATTACH_SERVICE_RANK_LOG_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer/attach/core/line_splitter.h"

namespace skerry::trainer::attach {

// Writes whole lines to DIRECTORY/rank-R.log, behind what is there. When the
// file would have more than kRankLogBytesMax bytes, it becomes rank-R.log.1, in
// place of the one before, and a new one begins. One thread uses it.
class RankLog {
 public:
  // Codes: PermissionDenied and others of a file that cannot be opened, with
  // its path.
  static absl::StatusOr<std::unique_ptr<RankLog>> Open(
      const std::string& directory, int rank);
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  // Takes what the rank has printed. Bytes that cannot be written are dropped.
  void Write(std::string_view bytes);
  // The rank prints no more: writes the line that has not ended.
  void End();

  // The last lines, the newest last, at most kTailLines.
  const std::deque<std::string>& tail() const { return tail_; }
  // The last line that is not blank, empty when there is none.
  std::string LastLine() const;

 private:
  RankLog(std::string path, int fd, size_t bytes);
  void WriteLine(std::string_view line);

  const std::string path_;
  int fd_;
  size_t bytes_;  // in the file
  LineSplitter splitter_;
  std::deque<std::string> tail_;
};

inline constexpr size_t kRankLogBytesMax = size_t{8} << 20;
inline constexpr size_t kTailLines = 20;
// A longer line is cut into several.
inline constexpr size_t kPrintedLineBytesMax = size_t{16} << 10;

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_SERVICE_RANK_LOG_H_
