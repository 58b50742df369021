// worker/main/data_parts.h
//
// What a worker needs to fetch data sets, to keep them, and to give them to
// others.
#ifndef SKERRY_WORKER_MAIN_DATA_PARTS_H_
#define SKERRY_WORKER_MAIN_DATA_PARTS_H_

#include "runtime/event_loop.h"
#include "runtime/files.h"
#include "runtime/posix/posix_executor.h"
#include "worker/daemon/data_cache.h"
#include "worker/daemon/data_fetches.h"
#include "worker/daemon/data_server.h"
#include "worker/main/options.h"

namespace skerry::worker {

struct DataParts {
  DataParts(const CommandLine& line, runtime::Files& files,
            runtime::EventLoop& loop)
      : cache({.files = files,
               .loop = loop,
               .fetcher = fetcher,
               .folder = line.state_directory + kDataCacheFolder,
               .bytes_max = line.data_cache_bytes}),
        fetcher("data", 2),
        server(files, reader, loop),
        reader("data-reads", 4) {}

  DataCache cache;
  runtime::PosixExecutor fetcher;
  DataServer server;
  runtime::PosixExecutor reader;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_MAIN_DATA_PARTS_H_
