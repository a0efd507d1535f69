#include "server/engine/store/rdb_value_slices.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/hash/table_snapshot.h"
#include "core/keyspace/value.h"
#include "core/list/list_snapshot.h"
#include "core/sorted_set/block/block_reader.h"
#include "core/sorted_set/block/score_encoding.h"
#include "core/sorted_set/block/sorted_set_snapshot.h"
#include "core/stream/stream_snapshot.h"
#include "protocol/rdb/packed_elements.h"
#include "server/engine/store/element_aux.h"
#include "server/engine/store/stream/stream_producers.h"
#include "server/engine/store/stream/stream_rdb_writer.h"

namespace zsetd {
namespace {

// The deadlines and payloads of the elements of a set, and its form, collected while its blocks are
// written.
struct CollectedElementFields {
  std::optional<ScoreFormFields> form;  // nullopt: DOUBLE
  ElementDeadlineFields deadlines;
  ElementPayloadFields payloads;
};

// The elements of a block that is as it was at the instant, from the highest score down. Their
// deadlines and payloads are added to `fields`.
class BlockPart : public UnwrittenPart {
 public:
  BlockPart(OwnedBlock block, std::shared_ptr<CollectedElementFields> fields)
      : block_(std::move(block)),
        bytes_(block_->allocated_bytes() + block_->LargeMemberBytes()),
        fields_(std::move(fields)) {}

  size_t bytes() const override { return bytes_; }

  void Write(RdbFileWriter& writer) override {
    assert(block_->count() > 0);
    const bool has_form = fields_ != nullptr && fields_->form;
    const bool has_fields = has_form || block_->has_deadlines() || block_->has_payloads();
    BlockReader reader(*block_, block_->count() - 1);
    for (size_t left = block_->count(); left > 0; --left) {
      writer.values().String(reader.member());
      writer.values().Double(has_form ? fields_->form->form().Rounded(reader.code())
                                      : ScoreOf(reader.code()));
      if (has_fields) AddFields(reader);
      if (left > 1) reader.Backward();
    }
  }

 private:
  void AddFields(const BlockReader& reader) {
    if (fields_->form) fields_->form->Add(reader.member(), reader.code());
    const uint64_t deadline = block_->DeadlineAt(reader.index());
    if (deadline != kNoDeadline) {
      fields_->deadlines.Add(reader.member(), Millis(static_cast<int64_t>(deadline)));
    }
    if (const auto payload = block_->PayloadAt(reader.index()).view()) {
      fields_->payloads.Add(reader.member(), *payload);
    }
  }

  const OwnedBlock block_;
  const size_t bytes_;
  const std::shared_ptr<CollectedElementFields> fields_;
};

// All deadlines and payloads that were added while the parts before were written.
class ElementFieldsPart : public UnwrittenPart {
 public:
  explicit ElementFieldsPart(std::shared_ptr<CollectedElementFields> fields)
      : fields_(std::move(fields)) {}

  size_t bytes() const override { return 0; }
  void Write(RdbFileWriter& writer) override {
    if (fields_->form) WriteScoreForm(fields_->form->Take(), writer);
    WriteElementDeadlines(fields_->deadlines.Take(), writer);
    WriteElementPayloads(fields_->payloads.Take(), writer);
  }

 private:
  const std::shared_ptr<CollectedElementFields> fields_;
};

// From the highest score down, as Redis does: it puts each element that it reads before the last.
class SortedSetSlices : public RdbValueSlices {
 public:
  SortedSetSlices(std::unique_ptr<SortedSetSnapshot> snapshot, const ScoreForm& form)
      : snapshot_(std::move(snapshot)) {
    if (form.is_double()) return;
    fields_ = std::make_shared<CollectedElementFields>();
    fields_->form.emplace(form);
  }

  RdbType type() const override { return RdbType::kZSet; }
  void Begin(RdbWriter& writer) override { writer.Length(snapshot_->size()); }

  bool WriteSome(RdbFileWriter& writer) override {
    OwnedBlock block = snapshot_->Take();
    if (fields_ == nullptr && (block->has_deadlines() || block->has_payloads())) {
      fields_ = std::make_shared<CollectedElementFields>();
    }
    writer.Later(std::make_unique<BlockPart>(std::move(block), fields_));
    return snapshot_->done();
  }

  void WriteElementFields(RdbFileWriter& writer) override {
    if (fields_ != nullptr) writer.Later(std::make_unique<ElementFieldsPart>(fields_));
  }

 private:
  const std::unique_ptr<SortedSetSnapshot> snapshot_;
  std::shared_ptr<CollectedElementFields> fields_;  // null: nothing to collect yet
};

class TableSlices : public RdbValueSlices {
 public:
  TableSlices(RdbType type, std::unique_ptr<TableSnapshot> snapshot)
      : type_(type), snapshot_(std::move(snapshot)) {}

  RdbType type() const override { return type_; }
  void Begin(RdbWriter& writer) override {
    if (type_ == RdbType::kHashDeadlines) {
      assert(snapshot_->earliest_deadline());
      writer.LittleEndian(static_cast<uint64_t>(snapshot_->earliest_deadline()->count()), 8);
    }
    writer.Length(snapshot_->size());
  }

  bool WriteSome(RdbFileWriter& file) override {
    RdbWriter& writer = file.values();
    constexpr size_t kSliceBytes = 16u * 1024;
    constexpr int kBuckets = 256;
    size_t bytes = 0;
    for (int i = 0; i < kBuckets && bytes < kSliceBytes && !snapshot_->done(); ++i) {
      snapshot_->Step([&](const Field& field, std::optional<Millis> deadline) {
        if (type_ == RdbType::kHashDeadlines) WriteDeadline(deadline, writer);
        writer.String(field.name);
        if (type_ != RdbType::kSet) writer.String(field.value);
        bytes += field.name.size() + field.value.size();
      });
    }
    return snapshot_->done();
  }

 private:
  // As its distance from the earliest, and 1; 0 for none.
  void WriteDeadline(std::optional<Millis> deadline, RdbWriter& writer) const {
    const Millis first = *snapshot_->earliest_deadline();
    writer.Length(deadline ? static_cast<uint64_t>((*deadline - first).count()) + 1 : 0);
  }

  const RdbType type_;
  const std::unique_ptr<TableSnapshot> snapshot_;
};

// A node for each chunk.
class ListSlices : public RdbValueSlices {
 public:
  explicit ListSlices(std::unique_ptr<ListSnapshot> snapshot) : snapshot_(std::move(snapshot)) {}

  RdbType type() const override { return RdbType::kListOfListpacks; }
  void Begin(RdbWriter& writer) override { writer.Length(snapshot_->chunk_count()); }

  bool WriteSome(RdbFileWriter& file) override {
    RdbWriter& writer = file.values();
    snapshot_->Step([&](const ListChunk& chunk) {
      if (chunk.count() == 1 && chunk.bytes() > ListChunk::kFullBytes) {
        writer.Length(static_cast<uint64_t>(RdbContainer::kPlain));
        writer.String(chunk.ElementAt(0));
        return;
      }
      ListpackWriter packed;
      for (size_t place = 0; place < chunk.bytes(); place = chunk.PlaceAfter(place)) {
        packed.Add(chunk.ElementAt(place));
      }
      writer.Length(static_cast<uint64_t>(RdbContainer::kPacked));
      writer.String(packed.Finish());
    });
    return snapshot_->done();
  }

 private:
  const std::unique_ptr<ListSnapshot> snapshot_;
};

// All of a stream that follows its blocks.
class StreamTailPart : public UnwrittenPart {
 public:
  StreamTailPart(StreamTail tail, size_t bytes) : tail_(std::move(tail)), bytes_(bytes) {}

  size_t bytes() const override { return bytes_; }
  void Write(RdbFileWriter& writer) override {
    WriteStreamTail(tail_.length, tail_.first_id, tail_.state, tail_.groups, writer.values());
    WriteStreamProducers(tail_.producers.get(), writer);
  }

 private:
  const StreamTail tail_;
  const size_t bytes_;
};

// A listpack for each block, and then the state and the groups.
class StreamSlices : public RdbValueSlices {
 public:
  StreamSlices(std::unique_ptr<StreamSnapshot> snapshot, size_t group_bytes)
      : snapshot_(std::move(snapshot)), group_bytes_(group_bytes) {}

  RdbType type() const override { return RdbType::kStream2; }
  void Begin(RdbWriter& writer) override { writer.Length(snapshot_->block_count()); }

  bool WriteSome(RdbFileWriter& writer) override {
    if (!snapshot_->done()) {
      snapshot_->Step([&](const StreamBlock& block) { WriteStreamBlock(block, writer.values()); });
      return false;
    }
    writer.Later(std::make_unique<StreamTailPart>(snapshot_->TakeTail(), group_bytes_));
    return true;
  }

 private:
  const std::unique_ptr<StreamSnapshot> snapshot_;
  const size_t group_bytes_;
};

class StringSlices : public RdbValueSlices {
 public:
  explicit StringSlices(std::string_view bytes) : bytes_(bytes) {}

  RdbType type() const override { return RdbType::kString; }
  void Begin(RdbWriter&) override {}

  bool WriteSome(RdbFileWriter& writer) override {
    constexpr int kPieces = 8;
    for (int i = 0; i < kPieces && copy_.size() < bytes_.size(); ++i) CopyPiece();
    if (copy_.size() < bytes_.size()) return false;
    writer.values().OwnString(std::move(copy_));
    return true;
  }

  void BeforeEdit(std::span<const ByteRange> ranges) override {
    for (const ByteRange& range : ranges) {
      const size_t begin = std::max(range.begin / kPieceBytes * kPieceBytes, copy_.size());
      const size_t end = std::min(range.end, bytes_.size());
      for (size_t at = begin; at < end; at += kPieceBytes) {
        changed_.try_emplace(at, bytes_.substr(at, kPieceBytes));
      }
    }
  }

  void AfterEdit(const char* begin) override { bytes_ = {begin, bytes_.size()}; }

 private:
  static constexpr size_t kPieceBytes = 16u * 1024;

  void CopyPiece() {
    assert(copy_.size() % kPieceBytes == 0);
    if (copy_.empty()) copy_.reserve(bytes_.size());
    const auto changed = changed_.find(copy_.size());
    if (changed == changed_.end()) {
      copy_ += bytes_.substr(copy_.size(), kPieceBytes);
    } else {
      copy_ += changed->second;
      changed_.erase(changed);
    }
  }

  std::string_view bytes_;  // of the value; as at the instant, except those in `changed_`
  std::string copy_;        // as at the instant: whole pieces, until all are there
  absl::flat_hash_map<size_t, std::string> changed_;  // by offset: pieces that were not copied yet
};

using Slices = std::unique_ptr<RdbValueSlices>;

Slices Start(const ByteString& string, const LargeValueLimits& limits) {
  const bool is_large = string.view().size() > limits.bytes;
  return is_large ? std::make_unique<StringSlices>(string.view()) : nullptr;
}

Slices Start(const List& list, const LargeValueLimits& limits) {
  const bool is_large = list.packed_bytes() > limits.bytes;
  return is_large ? std::make_unique<ListSlices>(list.StartSnapshot()) : nullptr;
}

template <class Value>
bool IsLarge(const Value& value, const LargeValueLimits& limits) {
  return value.identity() != nullptr &&
         (value.size() > limits.elements || value.BytesUsed() > limits.bytes);
}

Slices Start(const SortedSet& set, const LargeValueLimits& limits) {
  if (!IsLarge(set, limits)) return nullptr;
  return std::make_unique<SortedSetSlices>(set.StartSnapshot(), set.form());
}

Slices Start(const Hash& hash, const LargeValueLimits& limits) {
  if (!IsLarge(hash, limits)) return nullptr;
  const RdbType type = hash.has_deadlines() ? RdbType::kHashDeadlines : RdbType::kHash;
  return std::make_unique<TableSlices>(type, hash.StartSnapshot());
}

Slices Start(const Set& set, const LargeValueLimits& limits) {
  if (!IsLarge(set, limits)) return nullptr;
  return std::make_unique<TableSlices>(RdbType::kSet, set.StartSnapshot());
}

Slices Start(const Stream& stream, const LargeValueLimits& limits) {
  if (!IsLarge(stream, limits)) return nullptr;
  return std::make_unique<StreamSlices>(stream.StartSnapshot(), stream.GroupBytes());
}

template <class Value>
const void* IdentityOf(const Value& value) {
  return value.identity();
}
const void* IdentityOf(const ByteString& string) { return string.view().data(); }

}  // namespace

std::unique_ptr<RdbValueSlices> StartSlices(const Entry& entry, const LargeValueLimits& limits) {
  return entry.VisitValue([&](const auto& value) { return Start(value, limits); });
}

const void* ValueIdentity(const Entry& entry) {
  return entry.VisitValue([](const auto& value) { return IdentityOf(value); });
}

}  // namespace zsetd
