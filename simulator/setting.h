// simulator/setting.h
//
// The settings of a simulation: its workers, its jobs' models, the options of
// the programs, and how long things take on the machines.
#ifndef SKERRY_SIMULATOR_SETTING_H_
#define SKERRY_SIMULATOR_SETTING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "compression/codec.h"
#include "coordinator/core/state/options.h"
#include "protocol/program_fact.h"
#include "simulator/sim_model.h"
#include "transport/outbox.h"
#include "transport/receive_gate.h"
#include "worker/core/trainer_watch.h"

namespace skerry::sim {

struct WorkerShape {
  std::string island;
  // Time that the worker takes to train on one sample.
  absl::Duration compute = absl::Milliseconds(10);
  // The worker's name. If it is empty, the worker goes by its plain name.
  std::string name = {};
  // A spare worker is no part of the cluster and starts only when it is told
  // to.
  bool spare = false;
};

// How long things take on a machine, apart from the samples of a round and the
// network. A time that is not set is drawn at random whenever it is needed.
struct Pace {
  // Largest share by which a round takes more or less time than its samples do.
  double jitter = 0.2;
  // Time of one sample in an evaluation, as a multiple of its time in training.
  std::optional<double> evaluation;
  // Time from the start of a trainer until it has built its model.
  std::optional<absl::Duration> trainer_start;
  struct Host {
    // Time of one step of arithmetic on a span. A worker does one step after
    // the other.
    absl::Duration span_step;
    // Nanoseconds for one element when a snapshot is copied from the trainer to
    // shared memory.
    double copy_ns = 0;
  };
  std::optional<Host> host;
};

// A simulated model may have fewer elements than the real one that it stands
// for. Links are then slower by the same factor. Each message counts as so many
// bytes that it takes as long as the real one.
struct Scale {
  // Number of real elements for each simulated element.
  double elements = 1;
  // Bytes charged for each byte of a frame's payload, by codec. A codec that is
  // not listed is charged 1.
  std::map<compression::CodecId, double> frames;

  double OfFrame(compression::CodecId codec) const {
    const auto found = frames.find(codec);
    return found == frames.end() ? 1.0 : found->second;
  }
  // Returns the bytes to charge for a message of `bytes` whose size does not
  // depend on the model's.
  double Fixed(double bytes) const { return bytes / elements; }
};

struct Setting {
  uint64_t seed = 0;
  // workers[i] runs on host i + 1. The coordinator runs on host 0.
  std::vector<WorkerShape> workers;
  coordinator::ClusterOptions options;
  // Number of elements in each job's model, by the job's name. Every job has to
  // be listed.
  std::map<std::string, uint64_t> elements;
  // The first element of each job's model that is averaged. In a job that is
  // not listed none is.
  std::map<std::string, uint64_t> average_begins;
  // Number of samples in the validation split of each job's data, by the job's
  // name. A job that is not listed has the default of TrainerShape.
  std::map<std::string, uint64_t> validation_samples;
  // The programs that every worker allows jobs to run.
  std::vector<protocol::ProgramFact> programs;
  // Whether the trainers of a job with a program begin with values of their
  // own, which differ from one worker to the next.
  bool programs_begin_differently = false;
  // How long a job that has ended keeps its memory on a worker.
  absl::Duration ended_idle = absl::Seconds(60);
  // How workers watch their trainers. If it is not set, they do not watch them,
  // and no fault may make a trainer hang.
  std::optional<worker::TrainerWatchOptions> watch;
  // Makes the model that a trainer trains. If it is empty or returns null, the
  // trainer trains a QuadraticModel.
  MakeSimModel make_model;
  // Least number of records between two snapshots of the coordinator's journal.
  uint32_t compact_records = 1000;
  // Largest payload of a frame, in bytes. The default is so small that even
  // small spans have several parts. Receivers accept no smaller parts.
  uint64_t part_bytes = 1024;
  // Share of the bulk frames in which one bit flips on the way, in [0, 1].
  double damaged = 0;
  transport::OutboxOptions outbox;
  transport::ReceiveGateOptions gate;
  Pace pace;
  Scale scale;
  // Whether quadratic models do the arithmetic of every step. Otherwise they do
  // that of one step a round.
  bool every_step = true;
  // Whether states are hashed and invariants checked after every change.
  bool watched = true;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SETTING_H_
