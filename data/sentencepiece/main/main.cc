// The program beside skerryctl and skerry-trainer that encodes and decodes by a
// model of sentencepiece: it is linked with that library and no other, as the
// library brings a protobuf of its own (docs/decisions/0009).
#include <sentencepiece_processor.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/release.h"
#include "data/sentencepiece/frames.h"

namespace skerry::data {
namespace {

constexpr char kUsage[] =
    "usage: skerry-sentencepiece [--version]\n"
    "Answers frames on standard input with frames on standard output. It is "
    "started by skerryctl and skerry-trainer.\n";

// The library says more of a mistake than its message: file and line of its own
// sources before it.
std::string Cause(const sentencepiece::util::Status& status) {
  std::string text = status.message();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text.empty() ? "for no reason that it names" : text;
}

// A frame to answer with, whichever way it went.
using Answer = std::optional<std::string>;

Answer Failure(std::string_view why) {
  const std::string_view text[] = {why};
  return WriteFrame(FrameKind::kFailed, text);
}

class Server {
 public:
  std::string AnswerTo(std::string_view question) {
    std::string why;
    const std::optional<Frame> frame = ParseFrame(question, why);
    const Answer answer = frame.has_value() ? Do(*frame) : Failure(why);
    return answer.has_value() ? *answer
                              : *Failure("the answer is too long for a frame");
  }

 private:
  Answer Do(const Frame& frame) {
    if (frame.kind == FrameKind::kOpen) return Open(frame.texts[0]);
    if (!is_open_) return Failure("no model has been opened");
    if (frame.kind == FrameKind::kEncode) return Encode(frame.texts);
    if (frame.kind == FrameKind::kDecode) return Decode(frame.lists);
    return Failure("this is no question");
  }

  Answer Open(std::string_view model) {
    const auto opened = library_.LoadFromSerializedProto(model);
    if (!opened.ok()) {
      return Failure("sentencepiece does not take the model: " + Cause(opened));
    }
    is_open_ = true;
    const std::vector<int32_t> sizes[] = {{library_.GetPieceSize()}};
    return WriteFrame(FrameKind::kOpened, sizes);
  }

  Answer Encode(const std::vector<std::string_view>& texts) {
    std::vector<std::vector<int32_t>> lists(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto encoded = library_.Encode(texts[i], &lists[i]);
      if (!encoded.ok()) {
        return Failure("sentencepiece does not encode a text: " +
                       Cause(encoded));
      }
    }
    return WriteFrame(FrameKind::kEncoded, lists);
  }

  Answer Decode(const std::vector<std::vector<int32_t>>& lists) {
    std::vector<std::string> texts(lists.size());
    for (size_t i = 0; i < lists.size(); ++i) {
      const auto decoded = library_.Decode(lists[i], &texts[i]);
      if (!decoded.ok()) {
        return Failure("sentencepiece does not decode tokens: " +
                       Cause(decoded));
      }
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return WriteFrame(FrameKind::kDecoded, views);
  }

  sentencepiece::SentencePieceProcessor library_;
  bool is_open_ = false;
};

// Reads exactly `count` bytes, in steps, so that memory grows with what comes.
// 0 at the end of the input, -1 when it ends inside or cannot be read.
int ReadAll(int fd, size_t count, std::string& bytes) {
  constexpr size_t kStep = size_t{1} << 20;
  bytes.clear();
  while (bytes.size() < count) {
    const size_t before = bytes.size();
    bytes.resize(std::min(count, before + kStep));
    const ssize_t got = read(fd, &bytes[before], bytes.size() - before);
    const bool again = got < 0 && errno == EINTR;
    if (got == 0 && before == 0) return 0;
    if (got <= 0 && !again) return -1;
    bytes.resize(before + static_cast<size_t>(again ? 0 : got));
  }
  return 1;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

int Fail(const char* what) {
  std::fprintf(stderr, "skerry-sentencepiece: %s\n", what);
  return 1;
}

// Until the input ends.
int Serve(int input, int output) {
  Server server;
  std::string bytes;
  for (;;) {
    const int got = ReadAll(input, kFrameLengthBytes, bytes);
    if (got == 0) return 0;
    if (got < 0) return Fail("the input ends inside a frame");
    const std::optional<size_t> length =
        FrameLength(std::span<const char, kFrameLengthBytes>(bytes));
    if (!length.has_value()) return Fail("a frame is too long");
    if (*length > 0 && ReadAll(input, *length, bytes) != 1) {
      return Fail("the input ends inside a frame");
    }
    if (*length == 0) bytes.clear();
    if (!WriteAll(output, server.AnswerTo(bytes))) {
      return Fail("nobody takes the answer");
    }
  }
}

int Main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts(kRelease);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (argc != 1) {
    std::fprintf(stderr,
                 "skerry-sentencepiece: no argument is known: %s (see "
                 "skerry-sentencepiece --help)\n",
                 argv[1]);
    return 2;
  }
  if (isatty(STDIN_FILENO) == 1) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  // What the library may print is no answer.
  const int output = dup(STDOUT_FILENO);
  if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return Fail(std::strerror(errno));
  }
  return Serve(STDIN_FILENO, output);
}

}  // namespace
}  // namespace skerry::data

int main(int argc, char** argv) { return skerry::data::Main(argc, argv); }
