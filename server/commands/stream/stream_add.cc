#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stream/stream.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/producer_mark.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/trim_request.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// The ID of a new entry: "*", "ms-*" or a whole ID.
struct NewId {
  enum class Given { kNothing, kTime, kAll };

  Given given = Given::kNothing;
  StreamId id;
};

struct AddRequest {
  std::string_view key;
  bool makes_stream = true;  // without NOMKSTREAM
  TrimRequest trim;
  std::optional<ProducerMark> mark;
  NewId id;
  Args fields;  // names and values in turn
};

NewId TakeNewId(ArgReader& args) {
  const std::string_view word = args.Word();
  if (word == "*") return {};
  const bool lacks_sequence = word.size() > 2 && word.ends_with("-*");
  if (!lacks_sequence) {
    const std::optional<StreamId> id = ParseStreamId(word);
    if (!id) args.Refuse(kInvalidStreamId);
    return {NewId::Given::kAll, id.value_or(StreamId())};
  }
  const std::optional<uint64_t> ms = ParseStreamIdPart(word.substr(0, word.size() - 2));
  if (!ms) args.Refuse(kInvalidStreamId);
  return {NewId::Given::kTime, {ms.value_or(0), 0}};
}

AddRequest TakeAddRequest(Call& call) {
  ArgReader& args = call.args;
  AddRequest request;
  request.key = args.Word();
  while (args.MayTakeOption()) {
    if (args.Take("nomkstream")) {
      request.makes_stream = false;
    } else if (!TakeProducerMark(args, request.mark) && !TakeTrimOption(args, request.trim)) {
      break;
    }
  }
  if (args.AtEnd()) args.Refuse(WrongArity("xadd"));
  request.id = TakeNewId(args);
  if (request.mark && request.id.given != NewId::Given::kNothing) {
    args.Refuse("ERR IDMP/IDMPAUTO can be used only with auto-generated IDs");
  }
  if (request.trim.trim || request.trim.most) CheckTrim(call, request.trim);
  if (args.left() < 2 || args.left() % 2 == 1) args.Refuse(WrongArity("xadd"));
  request.fields = args.Rest();
  if (request.id.given == NewId::Given::kAll && request.id.id == kFirstStreamId) {
    args.Refuse("ERR The ID specified in XADD must be greater than 0-0");
  }
  return request;
}

// The ID of the entry; nullopt if it would not be above the last one.
std::optional<StreamId> IdAfter(StreamId last, const NewId& wanted, Millis now) {
  if (wanted.given == NewId::Given::kNothing) {
    const auto ms = static_cast<uint64_t>(now.count());
    return ms > last.ms ? StreamId{ms, 0} : last.Next();
  }
  StreamId id = wanted.id;
  if (wanted.given == NewId::Given::kTime && id.ms == last.ms) {
    if (last.seq == UINT64_MAX) return std::nullopt;
    id.seq = last.seq + 1;
  }
  return id > last ? std::optional(id) : std::nullopt;
}

// Replies the entry that a request with the same mark added. Returns false if none did.
bool ReplyRepeated(Call& call, const AddRequest& request, std::string_view mark_id,
                   Stream& stream) {
  const Producers* const producers = stream.producers();
  if (producers == nullptr) return false;
  const std::optional<StreamId> entry =
      producers->Find(request.mark->producer, mark_id, call.now());
  if (!entry) return false;
  stream.ChangeProducers().CountRepeated();
  call.MarkPropagated();
  ReplyStreamId(call.reply, *entry);
  return true;
}

bool AreTooLarge(Args fields) {
  constexpr size_t kMostBytes = 1u << 30;
  size_t bytes = 0;
  for (const std::string_view text : fields) bytes += text.size();
  return bytes > kMostBytes;
}

// Propagates the ID that was chosen, and an exact trim unless its deletions are propagated.
void PropagateAdd(Call& call, const AddRequest& request, StreamId id) {
  const bool approximates = request.trim.trim && request.trim.trim->approximate;
  if (!call.Propagates()) return;
  if (request.id.given == NewId::Given::kAll && !approximates && !request.trim.references) return;
  const std::string id_text = StreamIdText(id);
  ExactTrim exact;
  std::vector<std::string_view> words = {"XADD", request.key};
  if (request.trim.trim && !request.trim.Forbids()) {
    exact = ExactTrimOf(*request.trim.trim, *call.keys.all().Find(request.key)->GetIf<Stream>());
    words.insert(words.end(), {exact.option, "=", exact.threshold});
  }
  words.push_back(id_text);
  words.insert(words.end(), request.fields.begin(), request.fields.end());
  call.Propagate(words);
}

// Trims after the entry was added, as another change of the key.
void TrimAfterAdd(Call& call, const AddRequest& request, StreamId id) {
  Edit<Stream> stream = call.Open<Stream>(request.key, KeyEvent::kXTrim);
  stream.CountElsewhere();
  EntryDeletion deletion(*stream, request.trim.references.value_or(References::kKeep));
  Trim(*stream, request.trim, deletion);
  PropagateAdd(call, request, id);
  deletion.End(call, request.key);
}

void XAdd(Call& call) {
  const AddRequest request = TakeAddRequest(call);
  StreamId id;
  std::string mark_id;
  std::optional<Producers::Limits> new_limits;  // the mark is the first of the stream
  {
    const Edit<Stream> stream = request.makes_stream
                                    ? call.OpenOrMake<Stream>(request.key, KeyEvent::kXAdd)
                                    : call.Open<Stream>(request.key, KeyEvent::kXAdd);
    if (call.Refused()) return;
    if (!stream) return call.reply.Null();
    if (request.mark) {
      mark_id = IdOfMark(*request.mark, request.fields);
      if (ReplyRepeated(call, request, mark_id, *stream)) return;
    }
    const StreamId last = stream->last_id();
    if (last == kLastStreamId) {
      return call.Fail(
          "ERR The stream has exhausted the last possible ID, unable to add more items");
    }
    const std::optional<StreamId> next = IdAfter(last, request.id, call.now());
    if (!next) {
      return call.Fail(
          "ERR The ID specified in XADD is equal or smaller than the target stream top item");
    }
    if (AreTooLarge(request.fields)) return call.Fail("ERR Elements are too large to be stored");
    id = *next;
    stream.Append(id, request.fields);
    if (request.mark) {
      if (stream->producers() == nullptr) new_limits = stream.ChangeProducers().limits();
      stream->ChangeProducers().Add(request.mark->producer, mark_id, id, call.now());
    }
  }
  ReplyStreamId(call.reply, id);
  if (request.trim.trim) {
    TrimAfterAdd(call, request, id);
  } else if (call.Propagates()) {
    PropagateAdd(call, request, id);
  }
  if (new_limits) PropagateMarkLimits(call, request.key, *new_limits);
  if (request.mark) PropagateMark(call, request.key, request.mark->producer, mark_id, id);
}

void XTrim(Call& call) {
  const std::string_view key = call.args.Word();
  TrimRequest request;
  while (call.args.ok() && !call.args.AtEnd()) {
    if (!TakeTrimOption(call.args, request)) call.args.Refuse(kSyntaxError);
  }
  if (!request.trim && request.most.value_or(0) == 0) {
    call.args.Refuse("ERR syntax error, XTRIM must be called with a trimming strategy");
  }
  CheckTrim(call, request);
  const Edit<Stream> stream = call.Open<Stream>(key, KeyEvent::kXTrim);
  if (call.Refused()) return;
  if (!stream) return call.reply.Integer(0);
  EntryDeletion deletion(*stream, request.references.value_or(References::kKeep));
  const size_t removed = Trim(*stream, request, deletion);
  call.reply.Integer(static_cast<int64_t>(removed));
  const bool is_its_own_effect = !request.trim->approximate && !request.references;
  if (removed == 0 || is_its_own_effect) return;
  if (!request.Forbids()) {
    const ExactTrim exact = ExactTrimOf(*request.trim, *stream);
    call.Propagate({"XTRIM", key, exact.option, "=", exact.threshold});
  }
  deletion.End(call, key);
}

constexpr Command kStreamAddCommands[] = {
    {.name = "xadd",
     .run = XAdd,
     .arity = -5,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key [NOMKSTREAM] [KEEPREF|DELREF|ACKED] [IDMPAUTO producer-id|IDMP producer-id "
              "idempotent-id] [<MAXLEN|MINID> [=|~] threshold [LIMIT count]] <*|id> field value "
              "[field value ...]",
     .summary = "Appends an entry to a stream, and optionally trims the stream.",
     .cost = "O(1); with trimming O(N) for N entries removed",
     .key_use = "RW update",
     .tips = "nondeterministic_output"},
    {.name = "xtrim",
     .run = XTrim,
     .arity = -4,
     .flags = kWrite,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key <MAXLEN|MINID> [=|~] threshold [LIMIT count] [KEEPREF|DELREF|ACKED]",
     .summary = "Removes the oldest entries of a stream.",
     .cost = "O(N) for N entries removed",
     .key_use = "RW delete",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> StreamAddCommands() { return kStreamAddCommands; }

}  // namespace zsetd
