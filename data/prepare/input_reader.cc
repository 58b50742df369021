#include "data/prepare/input_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "data/prepare/text_units.h"

namespace skerry::data {
namespace {

constexpr size_t kReadBytes = size_t{1} << 18;

std::string_view TextIn(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

absl::StatusOr<InputReader> InputReader::Open(std::string path,
                                              const std::string& file,
                                              std::optional<TextKind> wanted,
                                              const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(std::unique_ptr<runtime::ByteSource> source,
                          files.Open(file));
  InputReader reader(std::move(path), std::move(source));
  SKERRY_RETURN_IF_ERROR(reader.ReadRaw());
  reader.packing_ = PackingOf(TextIn(reader.raw_));
  if (reader.packing_ != Packing::kNone) {
    reader.unpacker_ = MakeDecompressor(reader.packing_);
  }
  SKERRY_RETURN_IF_ERROR(reader.FindKind(wanted));
  return reader;
}

absl::Status InputReader::FindKind(std::optional<TextKind> wanted) {
  // One byte more tells whether the head is the whole.
  SKERRY_RETURN_IF_ERROR(Fill(kTextHeadBytes + 1));
  const std::string_view head = window().substr(0, kTextHeadBytes);
  const bool is_whole = at_end_ && window().size() == head.size();
  if (wanted.has_value()) {
    kind_ = *wanted;
    return absl::OkStatus();
  }
  SKERRY_RETURN_IF_ERROR(Annotate(CheckIsText(head, path_), path_));
  const auto kind = TextKindOf(head, is_whole, path_);
  if (!kind.ok()) return Annotate(kind.status(), path_);
  kind_ = *kind;
  return absl::OkStatus();
}

// A pipe gives a little at a time; what is decided by the first bytes needs
// more than that.
absl::Status InputReader::ReadRaw() {
  raw_.resize(kReadBytes);
  raw_begin_ = 0;
  size_t filled = 0;
  while (filled < raw_.size() && !raw_ended_) {
    SKERRY_ASSIGN_OR_RETURN(
        const size_t count,
        source_->Read(std::span<std::byte>(raw_).subspan(filled)));
    raw_ended_ = count == 0;
    filled += count;
  }
  raw_.resize(filled);
  return absl::OkStatus();
}

absl::Status InputReader::Unpack() {
  if (raw_begin_ == raw_.size() && !raw_ended_) {
    SKERRY_RETURN_IF_ERROR(ReadRaw());
  }
  const std::span<const std::byte> raw =
      std::span<const std::byte>(raw_).subspan(raw_begin_);
  const size_t had = buffer_.size();
  size_t made = 0;
  if (unpacker_ == nullptr) {
    buffer_.append(TextIn(raw));
    raw_begin_ = raw_.size();
    made = raw.size();
    at_end_ = raw_ended_;
  } else {
    buffer_.resize(had + kReadBytes);
    const auto step = unpacker_->Next(
        raw, std::as_writable_bytes(std::span(buffer_).subspan(had)));
    made = step.ok() ? step->made : 0;
    buffer_.resize(had + made);
    if (!step.ok()) return Annotate(step.status(), path_);
    raw_begin_ += step->taken;
    at_end_ = raw_ended_ && raw_begin_ == raw_.size() && made == 0;
    if (at_end_) {
      SKERRY_RETURN_IF_ERROR(Annotate(unpacker_->CheckEnd(), path_));
    }
  }
  sha256_.Update(std::as_bytes(std::span(buffer_).subspan(had, made)));
  return absl::OkStatus();
}

absl::Status InputReader::Fill(uint64_t bytes) {
  if (window().size() >= bytes) return absl::OkStatus();
  buffer_.erase(0, begin_);
  begin_ = 0;
  while (buffer_.size() < bytes && !at_end_) SKERRY_RETURN_IF_ERROR(Unpack());
  return absl::OkStatus();
}

void InputReader::Drop(size_t bytes) {
  const std::string_view dropped = window().substr(0, bytes);
  SKERRY_CHECK(dropped.size() == bytes);
  if (kind_ == TextKind::kJsonLines) {
    line_ +=
        static_cast<uint64_t>(std::count(dropped.begin(), dropped.end(), '\n'));
  }
  begin_ += bytes;
  position_ += bytes;
}

absl::Status InputReader::SkipTo(uint64_t position) {
  while (position_ < position) {
    SKERRY_RETURN_IF_ERROR(
        Fill(std::min<uint64_t>(position - position_, kReadBytes)));
    if (window().empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, " has changed while it was read; start again"));
    }
    Drop(std::min<uint64_t>(window().size(), position - position_));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> InputReader::ReadAll() {
  SKERRY_RETURN_IF_ERROR(Fill(kDocumentBytesMax + 1));
  if (at_end_ && window().size() <= kDocumentBytesMax) return window();
  return Annotate(DocumentTooLong(), path_);
}

}  // namespace skerry::data
