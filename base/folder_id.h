// base/folder_id.h
//
// The number of a worker's state folder: chosen at random once, and kept in the
// folder. It tells a restart from another process of the same name.
#ifndef SKERRY_BASE_FOLDER_ID_H_
#define SKERRY_BASE_FOLDER_ID_H_

#include "base/ids.h"

namespace skerry {

// Not set where a worker of an older release has none.
using FolderId = StrongId<struct FolderIdTag>;

}  // namespace skerry

#endif  // SKERRY_BASE_FOLDER_ID_H_
