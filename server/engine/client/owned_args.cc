#include "server/engine/client/owned_args.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "core/util/allocation_size.h"

namespace zsetd {

OwnedArgs::OwnedArgs(Args argv) : count_(argv.size()) {
  if (argv.empty()) return;
  const size_t view_bytes = argv.size() * sizeof(std::string_view);
  block_bytes_ = view_bytes;
  for (const std::string_view word : argv) block_bytes_ += word.size();
  block_ = std::make_unique_for_overwrite<std::byte[]>(block_bytes_);
  auto* view = reinterpret_cast<std::string_view*>(block_.get());
  char* bytes = reinterpret_cast<char*>(block_.get() + view_bytes);
  for (const std::string_view word : argv) {
    std::construct_at(view++, bytes, word.size());
    bytes = std::ranges::copy(word, bytes).out;
  }
  assert(bytes == reinterpret_cast<char*>(block_.get() + block_bytes_));
}

size_t OwnedArgs::allocated_bytes() const { return AllocationSize(block_bytes_); }

}  // namespace zsetd
