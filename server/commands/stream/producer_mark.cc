#include "server/commands/stream/producer_mark.h"

#include <openssl/sha.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "server/commands/stream/stream_id_text.h"

namespace zsetd {
namespace {

void AppendWithLength(std::string_view text, std::string& bytes) {
  bytes += std::to_string(text.size()) + ':';
  bytes += text;
}

}  // namespace

bool TakeProducerMark(ArgReader& args, std::optional<ProducerMark>& mark) {
  const bool is_given = args.left() >= 3 && args.Take("idmp");
  if (!is_given && !(args.left() >= 2 && args.Take("idmpauto"))) return false;
  if (mark) args.Refuse("ERR IDMP/IDMPAUTO specified multiple times");
  const std::string name = is_given ? "IDMP" : "IDMPAUTO";
  ProducerMark taken;
  taken.producer = args.Word();
  if (taken.producer.empty()) args.Refuse("ERR " + name + " requires a non-empty producer ID");
  if (is_given) {
    taken.id = args.Word();
    if (taken.id.empty()) args.Refuse("ERR IDMP requires a non-empty idempotent ID");
  }
  mark = taken;
  return true;
}

std::string IdOfMark(const ProducerMark& mark, Args fields) {
  if (!mark.id.empty()) return std::string(mark.id);
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (size_t i = 0; i + 1 < fields.size(); i += 2) pairs.emplace_back(fields[i], fields[i + 1]);
  std::ranges::sort(pairs);
  std::string bytes;
  for (const auto& [name, value] : pairs) {
    AppendWithLength(name, bytes);
    AppendWithLength(value, bytes);
  }
  std::string hash(SHA_DIGEST_LENGTH, '\0');
  SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
       reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

void PropagateMarkLimits(Call& call, std::string_view key, const Producers::Limits& limits) {
  if (!call.Propagates()) return;
  const std::string seconds = std::to_string(limits.seconds), ids = std::to_string(limits.ids);
  const std::vector<std::string_view> words = {"XCFGSET",      key, "IDMP-DURATION", seconds,
                                               "IDMP-MAXSIZE", ids};
  call.PropagatePrivate(words);
}

void PropagateMark(Call& call, std::string_view key, std::string_view producer, std::string_view id,
                   StreamId entry) {
  if (!call.Propagates()) return;
  const std::string entry_text = StreamIdText(entry);
  const std::vector<std::string_view> words = {"XIDMPRECORD", key, producer, id, entry_text};
  call.PropagatePrivate(words);
}

}  // namespace zsetd
