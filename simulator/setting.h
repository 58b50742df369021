// simulator/setting.h
//
// What the programs of a simulation are set to, and on which machines they run.
#ifndef SKERRY_SIMULATOR_SETTING_H_
#define SKERRY_SIMULATOR_SETTING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "compression/codec.h"
#include "coordinator/core/options.h"
#include "simulator/sim_model.h"
#include "transport/outbox.h"
#include "transport/receive_gate.h"
#include "worker/core/trainer_watch.h"

namespace skerry::sim {

struct WorkerShape {
  std::string island;
  // Of one sample.
  absl::Duration compute = absl::Milliseconds(10);
  // Its name; empty: its address.
  std::string name = {};
  // It is no part of the cluster: it starts when it is told to.
  bool spare = false;
};

// How long what is neither training nor network takes. Each is drawn, of a few
// milliseconds, where nothing is said.
struct Pace {
  // A round takes up to so much more or less than its samples, as a share.
  double jitter = 0.2;
  // Of a sample in an evaluation, by that of one in training.
  std::optional<double> evaluation;
  // Until a trainer that was started has built its model.
  std::optional<absl::Duration> trainer_start;
  struct Host {
    // Of one step of arithmetic on a span; a worker does one after the other.
    absl::Duration span_step;
    // Of one element between trainer and shared memory.
    double copy_ns = 0;
  };
  std::optional<Host> host;
};

// A simulated model may have fewer elements than the one it stands for. Links
// are then as much slower, and what travels is charged so that it takes the
// time of the real bytes.
struct Scale {
  // Real elements for each that there is.
  double elements = 1;
  // Bytes charged for one of a frame, by codec; 1 for others.
  std::map<compression::CodecId, double> frames;

  double OfFrame(compression::CodecId codec) const {
    const auto found = frames.find(codec);
    return found == frames.end() ? 1.0 : found->second;
  }
  // Of what is as long whatever the model's size.
  double Fixed(double bytes) const { return bytes / elements; }
};

struct Setting {
  uint64_t seed = 0;
  // Host i + 1 is workers[i]; host 0 has the coordinator.
  std::vector<WorkerShape> workers;
  coordinator::ClusterOptions options;
  // Of the model of each job, by the job's name.
  std::map<std::string, uint64_t> elements;
  // Of the validation split of each job's data, by the job's name; many where
  // nothing is said.
  std::map<std::string, uint64_t> validation_samples;
  // Workers watch their trainers so; where nothing is said, none hangs and none
  // is watched.
  std::optional<worker::TrainerWatchOptions> watch;
  // What trainers train; quadratic models where it is empty, or makes none.
  MakeSimModel make_model;
  // Between two snapshots of the coordinator's journal, in records.
  uint32_t compact_records = 1000;
  // Frames carry so much, so that even small spans have several parts;
  // receivers take no less.
  uint64_t part_bytes = 1024;
  // Of bulk frames, in which one bit flips on the way.
  double damaged = 0;
  transport::OutboxOptions outbox;
  transport::ReceiveGateOptions gate;
  Pace pace;
  Scale scale;
  // Whether quadratic models do the arithmetic of every step, or of one a
  // round.
  bool every_step = true;
  // Whether states are hashed and invariants checked after every change.
  bool watched = true;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SETTING_H_
