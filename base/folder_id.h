// base/folder_id.h
//
// A worker's state folder has a number. It is drawn at random once and kept in
// the folder. It distinguishes a restart on the folder from another process
// with the same worker name.
#ifndef SKERRY_BASE_FOLDER_ID_H_
#define SKERRY_BASE_FOLDER_ID_H_

#include "base/ids.h"

namespace skerry {

// Not set where a worker of an older release has none.
using FolderId = StrongId<struct FolderIdTag>;

}  // namespace skerry

#endif  // SKERRY_BASE_FOLDER_ID_H_
