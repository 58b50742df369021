// trainer/attach/core/line_splitter.h
//
// Cuts a stream of bytes into lines.
#ifndef SKERRY_TRAINER_ATTACH_CORE_LINE_SPLITTER_H_
#define SKERRY_TRAINER_ATTACH_CORE_LINE_SPLITTER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skerry::trainer::attach {

// The bytes of one line, its line feed included, that either side takes
// (docs/formats/attach.md).
inline constexpr size_t kLineBytesMax = size_t{32} << 20;

class LineSplitter {
 public:
  explicit LineSplitter(size_t line_bytes_max)
      : line_bytes_max_(line_bytes_max) {}

  void Add(std::string_view bytes) { bytes_.append(bytes); }

  // The next line without its line feed, which is valid until the next call of
  // a member. Nothing when none has ended yet.
  std::optional<std::string_view> Next();

  // Whether the line that has not ended is longer than a line may be. Asked
  // when Next() has returned nothing.
  bool IsTooLong() const { return Rest().size() >= line_bytes_max_; }

  // What has come of a line that has not ended.
  std::string_view Rest() const {
    return std::string_view(bytes_).substr(begin_);
  }
  // Takes that away.
  void Clear();

 private:
  const size_t line_bytes_max_;
  std::string bytes_;
  size_t begin_ = 0;     // of the next line
  size_t searched_ = 0;  // there is no line feed in [begin_, searched_)
};

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CORE_LINE_SPLITTER_H_
