#include "server/persistence/file/drafts.h"

namespace zsetd {

void RemoveDrafts(FileSystem& files, const std::string& directory) {
  const auto names = files.List(directory);
  if (!names.ok()) return;  // whoever writes there is going to find out why
  for (const std::string& name : *names) {
    if (name.starts_with(kDraftPrefix)) (void)files.Remove(directory + "/" + name);
  }
}

}  // namespace zsetd
