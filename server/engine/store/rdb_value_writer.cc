#include "server/engine/store/rdb_value_writer.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/keyspace/value.h"
#include "protocol/rdb/packed_elements.h"
#include "protocol/text/number_text.h"
#include "server/engine/store/stream/stream_producers.h"
#include "server/engine/store/stream/stream_rdb_writer.h"
#include "server/engine/support/score_text.h"

namespace zsetd {
namespace {

constexpr size_t kPieceBytes = 8192;  // a list's elements go into listpacks of about this size

RdbType TypeOf(const ByteString&) { return RdbType::kString; }
RdbType TypeOf(const List&) { return RdbType::kListOfListpacks; }

RdbType TypeOf(const Stream&) { return RdbType::kStream2; }

RdbType TypeOf(const Set& set) {
  return set.encoding() == SetEncoding::kIntset ? RdbType::kSetIntset : RdbType::kSet;
}

RdbType TypeOf(const Hash& hash) {
  return hash.encoding() == HashEncoding::kListpack ? RdbType::kHashListpack : RdbType::kHash;
}

RdbType TypeOf(const SortedSet& set) {
  const bool is_small = set.encoding() == SortedSetEncoding::kListpack;
  return is_small ? RdbType::kZSetListpack : RdbType::kZSet;
}

void Write(const ByteString& string, RdbWriter& writer) { writer.String(string.view()); }

// The nodes of a list, each with its container. Their number precedes them.
class ListPieces {
 public:
  void Add(std::string_view element) {
    if (element.size() > kPieceBytes) {
      EndPiece();
      Put(RdbContainer::kPlain, element);
      return;
    }
    packed_.Add(element);
    if (packed_.size() >= kPieceBytes) EndPiece();
  }

  void WriteTo(RdbWriter& writer) {
    EndPiece();
    writer.Length(count_);
    writer.Written(pieces_);
  }

 private:
  void EndPiece() {
    if (!packed_.empty()) Put(RdbContainer::kPacked, packed_.Finish());
  }

  void Put(RdbContainer container, std::string_view bytes) {
    piece_writer_.Length(static_cast<uint64_t>(container));
    piece_writer_.String(bytes);
    ++count_;
  }

  ListpackWriter packed_;
  std::string pieces_;
  RdbWriter piece_writer_{pieces_};
  uint64_t count_ = 0;
};

void Write(const List& list, RdbWriter& writer) {
  ListPieces pieces;
  for (auto at = list.CursorAt(0); at.valid(); at.Next()) pieces.Add(at.element());
  pieces.WriteTo(writer);
}

std::string IntsetOf(const Set& set) {
  std::vector<int64_t> integers;
  set.ForEach([&](std::string_view member) { integers.push_back(*ParseInteger(member)); });
  std::sort(integers.begin(), integers.end());
  return MakeIntset(integers);
}

void Write(const Set& set, RdbWriter& writer) {
  if (TypeOf(set) == RdbType::kSetIntset) return writer.String(IntsetOf(set));
  writer.Length(set.size());
  set.ForEach([&](std::string_view member) { writer.String(member); });
}

void WritePacked(const Hash& hash, RdbWriter& writer) {
  ListpackWriter packed;
  hash.ForEach([&](const Field& field) {
    packed.Add(field.name);
    packed.Add(field.value);
  });
  writer.String(packed.Finish());
}

void Write(const Hash& hash, RdbWriter& writer) {
  if (TypeOf(hash) == RdbType::kHashListpack) return WritePacked(hash, writer);
  writer.Length(hash.size());
  hash.ForEach([&](const Field& field) {
    writer.String(field.name);
    writer.String(field.value);
  });
}

void WritePacked(const SortedSet& set, RdbWriter& writer) {
  ListpackWriter packed;
  for (auto at = set.At(0); at.valid(); at.Next()) {
    const Element element = at.element();
    packed.Add(element.member);
    packed.Add(DoubleText(PlainScore(set.form(), element.score)));
  }
  writer.String(packed.Finish());
}

// From the highest score down, as Redis does: it puts each element that it reads before the last.
void Write(const SortedSet& set, RdbWriter& writer) {
  assert(!set.empty());
  if (TypeOf(set) == RdbType::kZSetListpack) return WritePacked(set, writer);
  writer.Length(set.size());
  for (auto at = set.At(set.size() - 1); at.valid(); at.Previous()) {
    const Element element = at.element();
    writer.String(element.member);
    writer.Double(PlainScore(set.form(), element.score));
  }
}

void WriteStream(const Stream& stream, RdbType type, RdbWriter& writer) {
  writer.Length(stream.block_count());
  stream.ForEachBlock([&](const StreamBlock& block) { WriteStreamBlock(block, writer); });
  WriteStreamTail(stream.size(), stream.FirstId().value_or(kFirstStreamId), stream.state(),
                  stream.groups(), writer, type);
}

void Write(const Stream& stream, RdbWriter& writer) {
  WriteStream(stream, RdbType::kStream2, writer);
}

// A deadline counts from the first one, from 1 on; 0: none.
void WriteDeadline(std::optional<Millis> deadline, Millis first, RdbWriter& writer) {
  writer.Length(deadline ? static_cast<uint64_t>((*deadline - first).count()) + 1 : 0);
}

void WritePayload(std::optional<std::string_view> payload, RdbWriter& writer) {
  writer.Length(payload ? 1 : 0);
  if (payload) writer.String(*payload);
}

void WriteWithDeadlines(const SortedSet& set, RdbWriter& writer) {
  assert(set.has_deadlines());
  const Millis first = *set.EarliestDeadline();
  writer.Length(set.size());
  writer.Length(static_cast<uint64_t>(first.count()));
  for (auto at = set.At(set.size() - 1); at.valid(); at.Previous()) {
    writer.String(at.member());
    writer.Double(at.score());
    WriteDeadline(at.deadline(), first, writer);
  }
}

void WriteWithPayloads(const SortedSet& set, RdbWriter& writer) {
  const Millis first = set.EarliestDeadline().value_or(Millis(0));
  writer.Length(set.size());
  writer.Length(static_cast<uint64_t>(first.count()));
  for (auto at = set.At(set.size() - 1); at.valid(); at.Previous()) {
    writer.String(at.member());
    writer.Double(at.score());
    WriteDeadline(at.deadline(), first, writer);
    WritePayload(at.payload(), writer);
  }
}

void WriteWithForm(const SortedSet& set, RdbWriter& writer) {
  const Millis first = set.EarliestDeadline().value_or(Millis(0));
  writer.String(set.form().Text());
  writer.Length(set.size());
  writer.Length(static_cast<uint64_t>(first.count()));
  for (auto at = set.At(set.size() - 1); at.valid(); at.Previous()) {
    writer.String(at.member());
    writer.LittleEndian(ScoreCode(at.score()), 8);
    WriteDeadline(at.deadline(), first, writer);
    WritePayload(at.payload(), writer);
  }
}

}  // namespace

RdbType RdbTypeOf(const Entry& entry) {
  return entry.VisitValue([](const auto& value) { return TypeOf(value); });
}

void WriteValue(const Entry& entry, RdbWriter& writer) {
  entry.VisitValue([&](const auto& value) { Write(value, writer); });
}

bool HasFieldDeadlines(const Entry& entry) {
  const Hash* hash = entry.GetIf<Hash>();
  return hash != nullptr && hash->has_deadlines();
}

void WriteFieldsWithDeadlines(const Entry& entry, RdbWriter& writer) {
  assert(HasFieldDeadlines(entry));
  const Hash& hash = *entry.GetIf<Hash>();
  const Millis first = *hash.EarliestDeadline();
  writer.LittleEndian(static_cast<uint64_t>(first.count()), 8);
  writer.Length(hash.size());
  hash.ForEach([&](const Field& field) {
    WriteDeadline(hash.Deadline(field.name), first, writer);
    writer.String(field.name);
    writer.String(field.value);
  });
}

uint16_t DumpVersion(const Entry& entry) {
  if (HasFieldDeadlines(entry)) return kRdbVersionOfDeadlines;
  const Stream* const stream = entry.GetIf<Stream>();
  const bool has_producers = stream != nullptr && stream->producers() != nullptr;
  return has_producers ? kRdbVersionOfProducers : kRdbVersionWritten;
}

void WriteDump(const Entry& entry, RdbWriter& writer) {
  if (HasFieldDeadlines(entry)) {
    writer.Type(RdbType::kHashDeadlines);
    return WriteFieldsWithDeadlines(entry, writer);
  }
  const SortedSet* set = entry.GetIf<SortedSet>();
  if (set != nullptr && set->has_form()) {
    writer.Type(RdbType::kZSetForm);
    return WriteWithForm(*set, writer);
  }
  if (set != nullptr && set->HasPayloads()) {
    writer.Type(RdbType::kZSetPayloads);
    return WriteWithPayloads(*set, writer);
  }
  if (set != nullptr && set->has_deadlines()) {
    writer.Type(RdbType::kZSetDeadlines);
    return WriteWithDeadlines(*set, writer);
  }
  if (DumpVersion(entry) == kRdbVersionOfProducers) {
    const Stream& stream = *entry.GetIf<Stream>();
    writer.Type(RdbType::kStream4);
    WriteStream(stream, RdbType::kStream4, writer);
    return WriteStreamProducers(*stream.producers(), writer);
  }
  writer.Type(RdbTypeOf(entry));
  WriteValue(entry, writer);
}

}  // namespace zsetd
