#include "trainer/service/work_progress.h"

namespace skerry::trainer {

void WorkProgress::Enter(v1::TrainerPhase phase) {
  const runtime::MutexLock lock(mutex_);
  phase_ = phase;
  ++pieces_;
  step_ = runtime::Stopwatch();
}

void WorkProgress::OnPiece() {
  const runtime::MutexLock lock(mutex_);
  ++pieces_;
}

void WorkProgress::OnStep() {
  const runtime::MutexLock lock(mutex_);
  ++pieces_;
  steps_.Add(step_.Seconds());
  step_ = runtime::Stopwatch();
}

void WorkProgress::SetWaiting(bool waits_for_group) {
  const runtime::MutexLock lock(mutex_);
  waits_for_group_ = waits_for_group;
}

v1::ProgressReply WorkProgress::Read() const {
  v1::ProgressReply reply;
  const runtime::MutexLock lock(mutex_);
  reply.set_phase(phase_);
  reply.set_pieces(pieces_);
  reply.set_steps(steps_.count());
  reply.set_longest_step_s(steps_.Longest());
  reply.set_waits_for_group(waits_for_group_);
  return reply;
}

}  // namespace skerry::trainer
