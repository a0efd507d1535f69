#include "server/engine/notify/tracking_table.h"

#include <cassert>

namespace zsetd {

const TrackingTable::Readers& TrackingTable::Add(std::string_view key, uint64_t reader) {
  Key* found = keys_.Find(key);
  if (found == nullptr) found = &keys_.Insert(std::make_unique<Key>(key));
  if (found->readers.insert(reader).second) ++reader_count_;
  return found->readers;
}

std::vector<uint64_t> TrackingTable::Take(std::string_view key) {
  Key* const found = keys_.Find(key);
  if (found == nullptr) return {};
  const std::unique_ptr<Key> taken = keys_.Extract(*found);
  assert(reader_count_ >= taken->readers.size());
  reader_count_ -= taken->readers.size();
  return {taken->readers.begin(), taken->readers.end()};
}

}  // namespace zsetd
