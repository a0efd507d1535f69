#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace zsetd {

// Memory for many small objects with the same lifetime. It is allocated a chunk at a time and freed
// all together.
class ByteArena {
 public:
  // Returns room for this number of bytes, aligned to eight and valid as long as the arena; never
  // null. O(1), amortised.
  char* Take(size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (free_ == nullptr || free_bytes_ < bytes) {
      free_bytes_ = last_bytes_ = std::max(kChunkBytes, bytes);
      free_ = chunks_.emplace_back(new char[free_bytes_]).get();
    }
    char* const taken = free_;
    free_ += bytes;
    free_bytes_ -= bytes;
    return taken;
  }

  // Frees all memory except the last chunk, which is reused.
  void Clear() {
    if (chunks_.empty()) return;
    chunks_.erase(chunks_.begin(), chunks_.end() - 1);
    free_ = chunks_.back().get();
    free_bytes_ = last_bytes_;
  }

  // Returns a copy of the bytes in the arena.
  std::string_view Keep(std::string_view bytes) {
    char* const kept = Take(bytes.size());
    std::copy(bytes.begin(), bytes.end(), kept);
    return {kept, bytes.size()};
  }

 private:
  static constexpr size_t kAlignment = 8;
  static constexpr size_t kChunkBytes = 64 << 10;

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;  // in the last chunk
  size_t free_bytes_ = 0;
  size_t last_bytes_ = 0;  // the size of the last chunk
};

}  // namespace zsetd
