#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/engine/config/setting_checks.h"
#include "server/persistence/file/file.h"

namespace zsetd {

// Returns the name of a draft of this process, such as "temp-zsetd-4711-1.rdb". `number` and
// `ending` (one of kDraftEndings) together are unique. A server that is killed may leave a draft.
std::string DraftName(uint64_t number, std::string_view ending);
std::string ReplicationDraftName(uint64_t number);  // of a snapshot for replicas
inline constexpr std::string_view kDraftEndings[] = {".rdb", ".master.rdb", ".rdb.part", ".base"};

// Whether the name is that of a draft. Other names with kDraftPrefix are those of files that the
// user has chosen.
bool IsDraftName(std::string_view name);

// Removes the drafts in the directory. Precondition: no other server uses the directory.
void RemoveDrafts(FileSystem& files, const std::string& directory);

}  // namespace zsetd
