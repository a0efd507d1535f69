// Which cache lines of a block will be read next.

#include "core/sorted_set/block/block.h"
#include "core/util/cache_line.h"

namespace zsetd {

void Block::Prefetch() const { FetchLines(this, 12); }

void Block::PrefetchTags() const { FetchLines(this, 3); }

void Block::PrefetchMember(size_t i) const {
  if (format_.shares_bytes()) return FetchLine(ScorePlace(i));
  const char* at = MemberPlace(i);
  FetchLine(at);
  FetchLine(at + MemberLength(i) - 1);
}

void Block::PrefetchMember(uint8_t tag) const {
  FindTag(tag, [&](size_t i) { return PrefetchMember(i), false; });
}

void Block::PrefetchBehind(size_t i) const {
  const auto fetch = [](const char* first, const char* end) {
    FetchLines(first, (end - first + kCacheLine - 1) / kCacheLine);
  };
  fetch(ScorePlace(i), FrontEnd());
  fetch(MembersBegin(), End() - MemberBytes(i));
}

void Block::PrefetchElement(uint8_t tag) const {
  FindTag(tag, [&](size_t i) {
    FetchLine(ScorePlace(i));
    return PrefetchMember(i), false;
  });
}

}  // namespace zsetd
