#include <cstddef>
#include <string_view>
#include <vector>

#include "core/hash/hash.h"
#include "server/commands/common/random_request.h"
#include "server/commands/hash/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// With values, the reply is an array of pairs in RESP3, and a flat array in RESP2.
void StartFields(ReplyWriter& reply, size_t count, bool with_values) {
  const bool flat = with_values && reply.protocol() == Protocol::kResp2;
  reply.Array(flat ? 2 * count : count);
}

void ReplyField(ReplyWriter& reply, const Field& field, bool with_values) {
  if (with_values && reply.protocol() == Protocol::kResp3) reply.Array(2);
  reply.Bulk(field.name);
  if (with_values) reply.Bulk(field.value);
}

void ReplyDraws(Call& call, std::string_view key, const Hash& hash, const RandomRequest& request) {
  const bool with_values = request.with_more;
  StartFields(call.reply, request.size(), with_values);
  const auto draw = [with_values](ReplyWriter& reply, const Hash& whole, Rng& rng) {
    ReplyField(reply, whole.Random(rng), with_values);
  };
  ReplyDraws(call, key, hash, request.size(), draw);
}

void ReplyDistinct(Call& call, const Hash& hash, const RandomRequest& request) {
  const std::vector<Field> fields = hash.Sample(request.size(), call.keys.rng());
  StartFields(call.reply, fields.size(), request.with_more);
  for (const Field& field : fields) ReplyField(call.reply, field, request.with_more);
}

void HRandField(Call& call) {
  const std::string_view key = call.args.Word();
  const RandomRequest request = TakeRandomRequest(call.args, "withvalues");
  const Hash* hash = call.Find<Hash>(key);
  if (call.Refused()) return;
  if (hash == nullptr) return request.counted ? call.reply.Array(0) : call.reply.Null();
  if (!request.counted) return call.reply.Bulk(hash->Random(call.keys.rng()).name);
  request.may_repeat() ? ReplyDraws(call, key, *hash, request)
                       : ReplyDistinct(call, *hash, request);
}

constexpr Command kHashRandomCommands[] = {
    {.name = "hrandfield",
     .run = HRandField,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "6.2.0",
     .usage = "key [count [WITHVALUES]]",
     .summary = "Returns random fields.",
     .cost = "O(M) for M fields returned, O(N) if that is more than a quarter of N",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> HashRandomCommands() { return kHashRandomCommands; }

}  // namespace zsetd
