// protocol/job_phase.h
//
// Names the phases of a job, from its submission to its end.
#ifndef SKERRY_PROTOCOL_JOB_PHASE_H_
#define SKERRY_PROTOCOL_JOB_PHASE_H_

namespace skerry::protocol {

enum class JobPhase { kPending, kRunning, kSucceeded, kFailed, kCancelled };

// Whether it is one of the phases that a job does not leave.
inline bool IsOver(JobPhase phase) { return phase >= JobPhase::kSucceeded; }

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_JOB_PHASE_H_
