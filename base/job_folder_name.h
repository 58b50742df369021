// base/job_folder_name.h
//
// The name of a job's folder on a worker's disk, JOB-UID, as workers, the
// coordinator and operators write it.
#ifndef SKERRY_BASE_JOB_FOLDER_NAME_H_
#define SKERRY_BASE_JOB_FOLDER_NAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace skerry {

// The number in decimal digits, the uid in 16 hexadecimal ones.
std::string JobFolderName(uint64_t job, uint64_t uid);

// Job and uid; not there when no folder has that name.
std::optional<std::pair<uint64_t, uint64_t>> ParseJobFolderName(
    std::string_view name);

}  // namespace skerry

#endif  // SKERRY_BASE_JOB_FOLDER_NAME_H_
