#include "server/persistence/file/drafts.h"

namespace zsetd {

void RemoveDrafts(FileSystem& files, const std::string& directory) {
  const auto names = files.List(directory);
  if (!names.ok()) return;  // the next write there reports the reason
  for (const std::string& name : *names) {
    if (name.starts_with(kDraftPrefix)) (void)files.Remove(directory + "/" + name);
  }
}

}  // namespace zsetd
