// trainer/service/shard_check.h
//
// How much of a data set's shards is compared with its manifest.
#ifndef SKERRY_TRAINER_SERVICE_SHARD_CHECK_H_
#define SKERRY_TRAINER_SERVICE_SHARD_CHECK_H_

namespace skerry::trainer {

// How shards are checked: by header, size and token count; kRead also reads
// them whole and compares their SHA-256 with the manifest's.
enum class ShardCheck { kHeader, kRead };

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_SHARD_CHECK_H_
