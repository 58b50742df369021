// What bulk frames cost on loopback beside a plain TCP stream of the same
// bytes, and how near to its rate a wide-area link is filled.
//
// The two ends of everything are in this process, so CPU time is that of both.

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "runtime/posix/monotonic_clock.h"
#include "runtime/posix/posix_loop.h"
#include "tests/netem/relay.h"
#include "tests/netem/sockets.h"
#include "transport/directory.h"
#include "transport/grpc/grpc_bulk.h"

namespace skerry {
namespace {

using transport::Frame;
using transport::GrpcBulk;
using transport::GrpcBulkOptions;

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
};

double CpuSeconds() {
  rusage usage;
  SKERRY_CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <typename Body>
Cost Measure(Body body) {
  const Instant begin = runtime::MonotonicNow();
  const double cpu = CpuSeconds();
  body();
  return {absl::ToDoubleSeconds(runtime::MonotonicNow() - begin),
          CpuSeconds() - cpu};
}

Cost Median(std::vector<Cost> costs) {
  const auto middle = [&costs](double Cost::*member) {
    std::vector<double> values;
    for (const Cost& cost : costs) values.push_back(cost.*member);
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  return {middle(&Cost::seconds), middle(&Cost::cpu_seconds)};
}

// Takes every frame and copies it where a decoder would read it.
class CopyingReceiver final : public transport::BulkReceiver {
 public:
  protocol::FrameVerdict OnFrame(const std::string&,
                                 const compression::FrameHeader& header,
                                 const SharedBytes& payload) override {
    std::copy(payload.bytes().begin(), payload.bytes().end(), buffer_.begin());
    return protocol::FrameVerdict::kAccepted;
  }
  absl::StatusOr<SharedBytes> OnFetch(const transport::Fetcher&,
                                      const protocol::PieceKey&) override {
    return absl::NotFoundError("nothing to fetch");
  }

 private:
  std::vector<std::byte> buffer_ =
      std::vector<std::byte>(compression::kFramePayloadBytesMax);
};

// Two workers, each with a loop of its own.
class BulkPair {
 public:
  explicit BulkPair(int channels) : channels_(channels) {
    sending_ = Make("a", sending_loop_, sending_directory_);
    receiving_ = Make("b", receiving_loop_, receiving_directory_);
  }
  ~BulkPair() {
    sending_loop_.Stop();
    receiving_loop_.Stop();
  }

  const std::string& address() const { return receiving_->address(); }

  // Returns when the last frame was accepted by who is at `address`.
  void Transfer(const std::string& address, const std::vector<Frame>& frames) {
    std::promise<void> done;
    size_t left = frames.size();
    sending_loop_.Post([&] {
      sending_directory_.Learn({{"receiving", {address}}});
      for (const Frame& frame : frames) {
        sending_->Send("receiving", frame, transport::TrafficClass::kBulk,
                       [&](absl::Status status) {
                         SKERRY_CHECK(status.ok());
                         if (--left == 0) done.set_value();
                       });
      }
    });
    done.get_future().get();
  }

 private:
  std::unique_ptr<GrpcBulk> Make(const std::string& name,
                                 runtime::EventLoop& loop,
                                 transport::Directory& directory) {
    GrpcBulkOptions options;
    options.listen_address = "127.0.0.1:0";
    options.name = name;
    options.channels_per_peer = channels_;
    auto bulk = GrpcBulk::Start(options, loop, directory, receiver_);
    SKERRY_CHECK(bulk.ok());
    return *std::move(bulk);
  }

  const int channels_;
  CopyingReceiver receiver_;
  transport::Directory sending_directory_;
  transport::Directory receiving_directory_;
  runtime::PosixLoop sending_loop_{"sending"};
  runtime::PosixLoop receiving_loop_{"receiving"};
  std::unique_ptr<GrpcBulk> sending_;
  std::unique_ptr<GrpcBulk> receiving_;
};

std::vector<Frame> CutIntoFrames(const SharedBytes& all, size_t frame_bytes) {
  std::vector<Frame> frames;
  for (size_t at = 0; at < all.size(); at += frame_bytes) {
    Frame frame;
    frame.payload = all.Part(at, std::min(frame_bytes, all.size() - at));
    frame.header.attempt = 1;
    frame.header.part = static_cast<uint32_t>(frames.size());
    frame.header.parts = static_cast<uint32_t>(all.size() / frame_bytes + 1);
    frame.header.payload_bytes = frame.payload.size();
    frame.header.payload_hash = Hash64(frame.payload.bytes());
    frames.push_back(std::move(frame));
  }
  return frames;
}

void Await(int fd, short what) {
  pollfd waiting = {fd, what, 0};
  while (poll(&waiting, 1, -1) < 1) {
  }
}

// A connected pair of TCP sockets that goes by `address`, or straight.
class TcpPair {
 public:
  // `target` is made first, so that a relay can be pointed at it.
  TcpPair() : listener_(netem::ListenOn("127.0.0.1:0").value()) {}
  ~TcpPair() {
    close(listener_);
    close(from_);
    close(to_);
  }
  std::string target() const { return netem::LocalAddress(listener_); }
  void Connect(const std::string& address) {
    from_ = netem::ConnectTo(address).value();
    Await(listener_, POLLIN);
    to_ = netem::Accept(listener_);
    SKERRY_CHECK(to_ >= 0);
  }
  // Ends with one byte on the way back, as an answer would.
  void Transfer(std::span<const std::byte> bytes) {
    std::thread reader([this, size = bytes.size()] { ReadAndAnswer(size); });
    while (!bytes.empty()) {
      const size_t n = std::min<size_t>(bytes.size(), 1 << 20);
      const ssize_t sent = send(from_, bytes.data(), n, MSG_NOSIGNAL);
      if (sent > 0) bytes = bytes.subspan(static_cast<size_t>(sent));
      if (sent < 0) Await(from_, POLLOUT);
    }
    Await(from_, POLLIN);
    char answer;
    SKERRY_CHECK(recv(from_, &answer, 1, 0) == 1);
    reader.join();
  }

 private:
  void ReadAndAnswer(size_t size) {
    std::vector<std::byte> buffer(1 << 20);
    while (size > 0) {
      Await(to_, POLLIN);
      const ssize_t n = recv(to_, buffer.data(), buffer.size(), 0);
      if (n > 0) size -= static_cast<size_t>(n);
    }
    SKERRY_CHECK(send(to_, "a", 1, MSG_NOSIGNAL) == 1);
  }

  int listener_;
  int from_ = -1;
  int to_ = -1;
};

class Report {
 public:
  explicit Report(const std::string& path) {
    if (!path.empty()) out_.open(path, std::ios::app);
  }
  void Add(const std::string& name, double value, const std::string& unit,
           const std::string& against, double against_value,
           const std::string& bar) {
    const double ratio = value / against_value;
    std::printf("%-28s %10.4f %-10s %-12s %10.4f  ratio %.3f %s\n",
                name.c_str(), value, unit.c_str(), against.c_str(),
                against_value, ratio, bar.c_str());
    nlohmann::ordered_json row = {{"name", name},
                                  {"value", value},
                                  {"unit", unit},
                                  {"against", against},
                                  {"against_value", against_value},
                                  {"ratio", ratio},
                                  {"bar", nullptr},
                                  {"meets", nullptr}};
    if (!bar.empty()) {
      row["bar"] = bar;
      row["meets"] = ratio <= std::stod(bar.substr(2));
    }
    if (out_.is_open()) out_ << row.dump() << '\n';
  }

 private:
  std::ofstream out_;
};

// The runs of the two are interleaved.
void MeasureLoopback(const SharedBytes& all, int runs, Report& report) {
  BulkPair bulk(1);
  TcpPair tcp;
  tcp.Connect(tcp.target());
  const double gb = static_cast<double>(all.size()) / 1e9;
  for (const size_t kib : {256, 512, 1024}) {
    const std::vector<Frame> frames = CutIntoFrames(all, kib << 10);
    bulk.Transfer(bulk.address(), frames);  // connects and warms up
    std::vector<Cost> of_bulk;
    std::vector<Cost> of_tcp;
    for (int i = 0; i < runs; ++i) {
      of_bulk.push_back(
          Measure([&] { bulk.Transfer(bulk.address(), frames); }));
      of_tcp.push_back(Measure([&] { tcp.Transfer(all.bytes()); }));
    }
    const Cost ours = Median(of_bulk);
    const Cost raw = Median(of_tcp);
    const std::string size = std::to_string(kib) + "KiB";
    report.Add("loopback/" + size, gb * 1e3 / ours.seconds, "MB/s", "tcp",
               gb * 1e3 / raw.seconds, "");
    report.Add("loopback_cpu/" + size, ours.cpu_seconds / gb, "CPU-s/GB", "tcp",
               raw.cpu_seconds / gb, "");
    report.Add("loopback_cpu_bar/" + size, ours.cpu_seconds / gb, "CPU-s/GB",
               "0.5 CPU-s/GB", 0.5, "<=1");
  }
}

// A relay in front of `target`, with its thread's CPU time.
class RunningRelay {
 public:
  RunningRelay(const std::string& target, double mbit, double rtt_ms) {
    netem::LinkConfig link;
    link.name = "link";
    link.target = target;
    link.mbit = {mbit, mbit};
    for (netem::PathOptions& path : link.path) {
      path.delay = absl::Milliseconds(rtt_ms / 2);
    }
    relay_ = netem::Relay::Listen({.links = {link}}).value();
    thread_ = std::thread([this] {
      relay_->Run();
      rusage usage;
      SKERRY_CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
      cpu_seconds_ =
          static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
          static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) /
              1e6;
    });
  }
  ~RunningRelay() { Stop(); }
  std::string address() const { return relay_->AddressOf("link"); }
  double Stop() {
    if (thread_.joinable()) {
      relay_->Stop();
      thread_.join();
    }
    return cpu_seconds_;
  }

 private:
  std::unique_ptr<netem::Relay> relay_;
  std::thread thread_;
  double cpu_seconds_ = 0;
};

Cost MeasureBulk(const SharedBytes& all, double mbit, double rtt_ms,
                 int channels) {
  BulkPair bulk(channels);
  RunningRelay relay(bulk.address(), mbit, rtt_ms);
  const std::vector<Frame> frames = CutIntoFrames(all, 512 << 10);
  // Connecting is not part of an exchange; one small frame for each channel.
  bulk.Transfer(relay.address(), CutIntoFrames(all.Part(0, 8000), 1000));
  return Measure([&] { bulk.Transfer(relay.address(), frames); });
}

void MeasureLink(const SharedBytes& all, double mbit, double rtt_ms,
                 Report& report) {
  const double expected =
      static_cast<double>(all.size()) * 8 / (mbit * 1e6) + rtt_ms / 1e3;
  const std::string cell = std::to_string(static_cast<int>(mbit)) + "Mbit/" +
                           std::to_string(static_cast<int>(rtt_ms)) + "ms";
  const char* const bar = "<=1.0527";
  {
    TcpPair tcp;
    RunningRelay relay(tcp.target(), mbit, rtt_ms);
    tcp.Connect(relay.address());
    const Cost cost = Measure([&] { tcp.Transfer(all.bytes()); });
    report.Add("link_tcp/" + cell, cost.seconds, "s", "formula", expected, bar);
    const double gb = static_cast<double>(all.size()) / 1e9;
    report.Add("relay_cpu/" + cell, relay.Stop() / gb, "CPU-s/GB", "1 CPU-s/GB",
               1, "");
  }
  for (const int channels : {1, 4}) {
    const Cost cost = MeasureBulk(all, mbit, rtt_ms, channels);
    report.Add("link_bulk/" + cell + "/" + std::to_string(channels),
               cost.seconds, "s", "formula", expected, bar);
  }
}

int Main(int argc, char** argv) {
  std::string json;
  bool is_quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      is_quick = true;
    } else if (argument == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else {
      std::fprintf(stderr, "usage: bulk_bench [--quick] [--json FILE]\n");
      return 2;
    }
  }
  Report report(json);
  std::vector<std::byte> bytes(64 << 20);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  }
  const SharedBytes all(std::move(bytes));
  MeasureLoopback(all, is_quick ? 3 : 9, report);
  const SharedBytes part = all.Part(0, 16 << 20);
  if (!is_quick) MeasureLink(part, 50, 40, report);
  MeasureLink(part, 200, 80, report);
  MeasureLink(part, 1000, 40, report);
  return 0;
}

}  // namespace
}  // namespace skerry

int main(int argc, char** argv) { return skerry::Main(argc, argv); }
