// One of several processes that sum a vector in a group, again and again.
//
// group_rank RANK RANKS tcp|shm FILE VALUES TIMES  writes a JSON line for each
// time: how long it took, and what it cost this process in CPU time. Rank 0
// writes to FILE where they meet.

#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "runtime/posix/stopwatch.h"
#include "transport/rendezvous.h"
#include "transport/shm/shm_group.h"
#include "transport/tcp/tcp_group.h"
#include "transport/tcp/tcp_listener.h"

namespace skerry {
namespace {

constexpr char kHere[] = "127.0.0.1";

double CpuSeconds() {
  timespec spent;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) +
         static_cast<double>(spent.tv_nsec) * 1e-9;
}

// What rank 0 has written, once it has.
std::string AwaitFile(const std::string& path) {
  while (true) {
    std::ifstream file(path);
    std::string text;
    if (std::getline(file, text)) return text;
    usleep(1000);
  }
}

void WriteFile(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".new";
  std::ofstream(unfinished) << text << "\n";
  SKERRY_CHECK(std::rename(unfinished.c_str(), path.c_str()) == 0);
}

absl::StatusOr<std::unique_ptr<transport::Group>> Open(
    int rank, int size, const std::string& kind, const std::string& file) {
  if (kind == "shm") {
    if (rank == 0) WriteFile(file, absl::StrCat("/skerry-bench-", getpid()));
    return transport::ShmGroup::Open(
        {.name = AwaitFile(file), .rank = rank, .size = size});
  }
  transport::TcpGroupOptions options;
  options.rank = rank;
  options.size = size;
  SKERRY_ASSIGN_OR_RETURN(options.listener,
                          transport::TcpListener::Listen(kHere));
  if (rank == 0) {
    WriteFile(file,
              transport::EncodeRendezvous(transport::TcpRendezvous{
                  options.listener->endpoint(), transport::DrawGroupSecret()}));
  }
  SKERRY_ASSIGN_OR_RETURN(const transport::Rendezvous rendezvous,
                          transport::DecodeRendezvous(AwaitFile(file)));
  options.rendezvous = std::get<transport::TcpRendezvous>(rendezvous);
  return transport::TcpGroup::Open(std::move(options));
}

absl::Status Sum(transport::Group& group, size_t values, int times) {
  std::vector<float> vector(values, 1.0f);
  for (int i = 0; i < times; ++i) {
    SKERRY_RETURN_IF_ERROR(group.Barrier());
    const runtime::Stopwatch watch;
    const double spent = CpuSeconds();
    SKERRY_RETURN_IF_ERROR(group.AllReduceSum(vector));
    std::cout << absl::StrCat("{\"took_s\": ", watch.Seconds(),
                              ", \"cpu_s\": ", CpuSeconds() - spent, "}\n")
              << std::flush;
  }
  return group.Barrier();
}

int Main(int argc, char** argv) {
  int rank = 0, size = 0, times = 0;
  uint64_t values = 0;
  if (argc != 7 || !absl::SimpleAtoi(argv[1], &rank) ||
      !absl::SimpleAtoi(argv[2], &size) ||
      !absl::SimpleAtoi(argv[5], &values) ||
      !absl::SimpleAtoi(argv[6], &times)) {
    std::cerr << "group_rank RANK RANKS tcp|shm FILE VALUES TIMES\n";
    return 2;
  }
  auto group = Open(rank, size, argv[3], argv[4]);
  const absl::Status done =
      group.ok() ? Sum(**group, values, times) : group.status();
  if (done.ok()) return 0;
  std::cerr << "group_rank: " << done.message() << "\n";
  return 1;
}

}  // namespace
}  // namespace skerry

int main(int argc, char** argv) { return skerry::Main(argc, argv); }
