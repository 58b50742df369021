// worker/shell/job_machine.h
//
// What the jobs of a worker share: the loop, the links, and who makes the ports
// of each job.
#ifndef SKERRY_WORKER_SHELL_JOB_MACHINE_H_
#define SKERRY_WORKER_SHELL_JOB_MACHINE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "compression/frame.h"
#include "protocol/job_orders.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "worker/core/trainer_watch.h"
#include "worker/daemon/seat_answers.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

struct JobTimes {
  // How long a job that is over keeps its memory, and the trainer that answered
  // a prompt, while nobody uses them.
  absl::Duration ended_idle = absl::Seconds(60);
  // A checkpoint that the job starts from and that cannot be read is read again
  // after this.
  absl::Duration unreadable_again = absl::Minutes(1);
  // A checkpoint whose base could not be stored is read again after this, and a
  // folder that could not take checkpoints is looked at again.
  absl::Duration unstored_again = absl::Seconds(5);
  // Time between two tries of a disk that could not store what the seat has.
  absl::Duration disk_retry = absl::Seconds(5);
  TrainerWatchOptions watch = {};
};

// All that it refers to outlives the jobs.
struct JobMachine {
  runtime::EventLoop& loop;
  runtime::Executor& compute;
  transport::BulkTransport& bulk;
  const transport::Directory& directory;
  std::string worker;
  JobTimes times;
  // `orders` are the first that name the job. `answers` and `listener` outlive
  // the ports, which call neither before this has returned.
  std::function<JobPorts(const protocol::JobOrders& orders,
                         const SeatAnswers& answers, JobListener& listener)>
      make_ports;
  // Runs when a job has given up its memory.
  std::function<void()> after_sleep = [] {};
  // Runs when a seat was told something, for whoever watches it.
  std::function<void()> after_seat = [] {};
  // Frames carry no more payload than this.
  uint64_t part_bytes = compression::kFramePayloadBytesMax;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_JOB_MACHINE_H_
