#include "server/commands/stream/id_effects.h"

#include <algorithm>
#include <string>
#include <vector>

#include "server/commands/stream/stream_id_text.h"
#include "server/engine/propagation/effects.h"

namespace zsetd {

void PropagateIds(Call& call, std::initializer_list<std::string_view> words,
                  std::span<const StreamId> ids) {
  if (!call.Propagates()) return;
  while (!ids.empty()) {
    const size_t count = std::min(ids.size(), Effects::kMostItems);
    std::vector<std::string> texts;
    texts.reserve(count);
    for (const StreamId id : ids.first(count)) texts.push_back(StreamIdText(id));
    std::vector<std::string_view> request(words);
    request.insert(request.end(), texts.begin(), texts.end());
    call.Propagate(request);
    ids = ids.subspan(count);
  }
}

}  // namespace zsetd
