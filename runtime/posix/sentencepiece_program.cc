#include "runtime/posix/sentencepiece_program.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "data/sentencepiece/frames.h"
#include "runtime/posix/piped_child.h"

namespace skerry::runtime {
namespace {

constexpr char kName[] = "skerry-sentencepiece";

class ChildChannel final : public data::Channel {
 public:
  explicit ChildChannel(std::unique_ptr<PipedChild> child)
      : child_(std::move(child)) {}

  absl::StatusOr<std::string> Exchange(std::string_view frame) override {
    SKERRY_RETURN_IF_ERROR(child_->Send(frame));
    std::string length;
    SKERRY_RETURN_IF_ERROR(child_->Receive(data::kFrameLengthBytes, length));
    const auto bytes = data::FrameLength(
        std::span<const char, data::kFrameLengthBytes>(length));
    if (!bytes.has_value()) {
      return absl::InternalError(
          absl::StrCat(kName, " answers what is no frame"));
    }
    std::string answer;
    SKERRY_RETURN_IF_ERROR(child_->Receive(*bytes, answer));
    return answer;
  }

 private:
  const std::unique_ptr<PipedChild> child_;
};

}  // namespace

std::string SentencePieceBeside() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / kName).string();
}

data::OpenChannel SentencePieceProgram(std::string program) {
  return [program = std::move(
              program)]() -> absl::StatusOr<std::unique_ptr<data::Channel>> {
    auto child = PipedChild::Start({program});
    if (absl::IsNotFound(child.status()) ||
        absl::IsPermissionDenied(child.status())) {
      return absl::FailedPreconditionError(
          absl::StrCat("a model of sentencepiece is read by ", kName,
                       ", and there is none: ", child.status().message(),
                       "; install it beside this program"));
    }
    SKERRY_RETURN_IF_ERROR(child.status());
    return std::make_unique<ChildChannel>(*std::move(child));
  };
}

}  // namespace skerry::runtime
