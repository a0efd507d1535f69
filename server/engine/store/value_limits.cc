#include "server/engine/store/value_limits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "server/engine/config/settings.h"

namespace zsetd {
namespace {

// So many elements, or -1 to -5 for 4 KB to 64 KB; what lies beyond counts as the nearest of these.
ListLimits ListLimitsOf(const Settings& settings) {
  const int64_t size = settings.list_max_listpack_size;
  if (size >= 0) return {.elements = static_cast<size_t>(std::max<int64_t>(size, 1))};
  return {.bytes = size_t{2048} << -std::max<int64_t>(size, -5)};
}

SortedSetLimits SortedSetLimitsOf(const Settings& settings) {
  return {.listpack_entries = static_cast<size_t>(settings.zset_max_listpack_entries),
          .listpack_value = static_cast<size_t>(settings.zset_max_listpack_value)};
}

HashLimits HashLimitsOf(const Settings& settings) {
  return {.listpack_entries = static_cast<size_t>(settings.hash_max_listpack_entries),
          .listpack_value = static_cast<size_t>(settings.hash_max_listpack_value)};
}

SetLimits SetLimitsOf(const Settings& settings) {
  return {.intset_entries = static_cast<size_t>(settings.set_max_intset_entries),
          .listpack_entries = static_cast<size_t>(settings.set_max_listpack_entries),
          .listpack_value = static_cast<size_t>(settings.set_max_listpack_value)};
}

}  // namespace

ValueLimits ValueLimitsOf(const Settings& settings) {
  return {.list = ListLimitsOf(settings),
          .hash = HashLimitsOf(settings),
          .set = SetLimitsOf(settings),
          .sorted_set = SortedSetLimitsOf(settings),
          .stream = {.entries = static_cast<size_t>(settings.stream_node_max_entries),
                     .bytes = static_cast<size_t>(settings.stream_node_max_bytes),
                     .producers = {.seconds = static_cast<uint64_t>(settings.stream_idmp_duration),
                                   .ids = static_cast<uint64_t>(settings.stream_idmp_maxsize)}}};
}

}  // namespace zsetd
