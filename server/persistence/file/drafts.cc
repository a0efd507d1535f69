#include "server/persistence/file/drafts.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <iterator>

namespace zsetd {
namespace {

constexpr std::string_view kReplication = "replication";

// Removes the digits at the start. Returns whether there were any.
bool TakeNumber(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

bool Take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

bool IsEnding(std::string_view text) {
  return std::ranges::find(kDraftEndings, text) != std::end(kDraftEndings);
}

}  // namespace

std::string DraftName(uint64_t number, std::string_view ending) {
  assert(IsEnding(ending));
  return std::string(kDraftPrefix) + std::to_string(::getpid()) + "-" + std::to_string(number) +
         std::string(ending);
}

std::string ReplicationDraftName(uint64_t number) {
  return std::string(kDraftPrefix) + std::string(kReplication) + "-" + std::to_string(number) +
         ".rdb";
}

bool IsDraftName(std::string_view name) {
  if (!Take(name, kDraftPrefix)) return false;
  const bool has_owner = Take(name, kReplication) || TakeNumber(name);
  return has_owner && Take(name, "-") && TakeNumber(name) && IsEnding(name);
}

void RemoveDrafts(FileSystem& files, const std::string& directory) {
  const auto names = files.List(directory);
  if (!names.ok()) return;  // the next write there reports the reason
  for (const std::string& name : *names) {
    if (IsDraftName(name)) (void)files.Remove(directory + "/" + name);
  }
}

}  // namespace zsetd
