#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stream/stream.h"

namespace zsetd {

// Reads the elements of a listpack (stream_listpack.h) from untrusted bytes, one after another, and
// appends the entries that are not deleted to a stream.
class StreamListpackReader {
 public:
  // `base` precedes the listpack, which has `listpack_bytes` bytes. The stream outlives this.
  StreamListpackReader(Stream& stream, const StreamLimits& limits, StreamId base,
                       size_t listpack_bytes)
      : stream_(stream), limits_(limits), base_(base), listpack_bytes_(listpack_bytes) {}

  // Returns whether the element is sound at its place.
  bool Take(std::string_view element);

  // Whether the listpack may end here, and has as many entries as it announced.
  bool IsComplete() const;

 private:
  // Entries refer to names that the listpack has once. A stream has them once per block, so long
  // names and many short entries could take a multiple of the listpack's bytes. If a listpack grows
  // by more than kMostGrowth, the rest is read into one block, as it was written with other limits
  // of blocks. Such names are neither compared nor copied for each entry, so a listpack is read in
  // O(its bytes).
  static constexpr size_t kMostGrowth = 64;
  static constexpr size_t kSmallGrowth = 1u << 20;

  enum class Expected {
    kLive,
    kDeleted,
    kNameCount,
    kName,
    kMasterEnd,
    kFlags,
    kMs,
    kSequence,
    kFieldCount,
    kText,
    kElements,
  };

  bool TakeNumber(std::string_view element);
  bool TakeText(std::string_view element, std::vector<std::string>& texts, Expected next);
  bool StartTexts(uint64_t count, Expected texts, Expected without);
  bool EndEntry(uint64_t elements);
  void AppendEntry();
  StreamLimits Limits() const;

  bool SameNames() const;

  Stream& stream_;
  const StreamLimits limits_;
  const StreamId base_;
  const size_t listpack_bytes_;
  bool block_has_names_ = false;  // the last block's first entry has the master's names
  size_t text_bytes_ = 0;         // of the entries, with the names of each
  Expected expected_ = Expected::kLive;
  uint64_t announced_live_ = 0;
  uint64_t announced_deleted_ = 0;
  uint64_t live_ = 0;
  uint64_t deleted_ = 0;
  uint64_t left_ = 0;  // names or texts
  size_t bytes_ = 0;   // of the entry
  std::vector<std::string> master_names_;

  // The entry that is being read.
  uint64_t flags_ = 0;
  StreamId id_;
  uint64_t field_count_ = 0;
  std::vector<std::string> texts_;
  std::optional<StreamId> last_id_;
};

}  // namespace zsetd
