#include "server/commands/stream/trim_request.h"

#include <algorithm>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/engine/store/value_limits.h"

namespace zsetd {
namespace {

int64_t TakeCount(ArgReader& args, std::string_view if_negative) {
  const int64_t count = args.Integer();
  if (count < 0) args.Refuse(if_negative);
  return count;
}

// A mark without a threshold after it is taken as the threshold.
bool TakeMark(ArgReader& args) {
  const bool is_approximate = args.left() >= 2 && args.Take("~");
  if (!is_approximate && args.left() >= 2) args.Take("=");
  return is_approximate;
}

// The entries that a trim with ACKED deletes.
std::vector<StreamId> UnreferencedEntries(const Stream& stream, const StreamTrim& trim,
                                          const EntryDeletion& deletion) {
  std::vector<StreamId> ids;
  uint64_t visits = 0;
  for (Stream::Cursor at(stream, kFirstStreamId, Stream::Cursor::kForward); at.valid(); at.Next()) {
    const bool is_last = trim.by == StreamTrim::By::kLength
                             ? stream.size() - ids.size() <= trim.length
                             : at.id() >= trim.least_id;
    if (is_last || (trim.most > 0 && visits++ == trim.most)) break;
    if (!deletion.IsReferenced(at.id())) ids.push_back(at.id());
  }
  return ids;
}

}  // namespace

bool TakeTrimOption(ArgReader& args, TrimRequest& request) {
  if (TakeReferences(args, request.references)) return true;
  if (args.left() < 2) return false;
  if (args.Take("limit")) {
    request.most = TakeCount(args, "ERR The LIMIT argument must be >= 0.");
    return true;
  }
  const bool by_length = args.Take("maxlen");
  if (!by_length && !args.Take("minid")) return false;
  if (request.trim) {
    args.Refuse("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
  }
  StreamTrim trim;
  trim.approximate = TakeMark(args);
  if (by_length) {
    trim.length = static_cast<uint64_t>(TakeCount(args, "ERR The MAXLEN argument must be >= 0."));
  } else {
    trim.by = StreamTrim::By::kId;
    trim.least_id = TakeStreamId(args);
  }
  request.trim = trim;
  return true;
}

// Redis propagates LIMIT with an exact trim.
void CheckTrim(Call& call, TrimRequest& request) {
  if (request.most.value_or(0) != 0 && !request.trim) {
    call.args.Refuse(
        "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
  }
  const bool is_approximate = request.trim && request.trim->approximate;
  if (call.keys.applies_effects()) return;
  if (request.most && !is_approximate) {
    call.args.Refuse("ERR syntax error, LIMIT cannot be used without the special ~ option");
  }
  if (!is_approximate) return;
  constexpr uint64_t kBlocks = 100;
  constexpr uint64_t kMost = 1'000'000;
  constexpr uint64_t kWithoutBlocks = 10'000;
  const uint64_t per_block = call.keys.most_stream_block_entries();
  const uint64_t usual = per_block == 0      ? kWithoutBlocks
                         : per_block > kMost ? kMost
                                             : std::min(kBlocks * per_block, kMost);
  request.trim->most = request.most ? static_cast<uint64_t>(*request.most) : usual;
}

ExactTrim ExactTrimOf(const StreamTrim& trim, const Stream& stream) {
  if (trim.by == StreamTrim::By::kLength) {
    return {"MAXLEN", IntegerText(static_cast<int64_t>(stream.size()))};
  }
  return {"MINID", StreamIdText(stream.FirstId().value_or(trim.least_id))};
}

size_t Trim(Stream& stream, const TrimRequest& request, EntryDeletion& deletion) {
  if (request.Forbids()) {
    const std::vector<StreamId> ids = UnreferencedEntries(stream, *request.trim, deletion);
    for (const StreamId id : ids) deletion.Delete(id);
    return deletion.deleted().size();
  }
  if (request.references != References::kRemove) return stream.Trim(*request.trim);
  std::vector<StreamId> removed;
  stream.Trim(*request.trim, &removed);
  for (const StreamId id : removed) deletion.RemoveReferences(id);
  return removed.size();
}

}  // namespace zsetd
