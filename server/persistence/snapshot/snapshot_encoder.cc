#include "server/persistence/snapshot/snapshot_encoder.h"

#include <algorithm>
#include <utility>

#include "server/engine/store/element_aux.h"
#include "server/engine/store/rdb_value_writer.h"
#include "server/engine/store/stream/stream_producers.h"
#include "server/engine/support/redis_version.h"

namespace zsetd {

// Consecutive bytes of the file, and the database that they selected last.
class SnapshotEncoder::Section : private UnwrittenParts {
 public:
  Section(bool compresses, const LargeValueLimits& limits)
      : compresses_(compresses), writer_(bytes_, compresses) {
    writer_.set_unwritten_parts(this, limits.bytes);
  }
  Section(const Section&) = delete;

  RdbFileWriter& writer() { return writer_; }
  void Add(std::string_view bytes) { bytes_ += bytes; }

  int selected = -1;

  size_t size() const { return piece_bytes_ + bytes_.size(); }

  std::vector<SnapshotPiece> TakeAll() {
    EndPiece();
    piece_bytes_ = 0;
    return std::exchange(pieces_, {});
  }

  // Moves all bytes of `other` to the end of this section.
  void Append(Section& other) {
    if (other.size() == 0) return;
    EndPiece();
    piece_bytes_ += other.size();
    for (SnapshotPiece& piece : other.TakeAll()) pieces_.push_back(std::move(piece));
    selected = std::exchange(other.selected, -1);
  }

 private:
  void EndPiece() {
    if (bytes_.empty()) return;
    piece_bytes_ += bytes_.size();
    pieces_.push_back({.bytes = std::exchange(bytes_, {})});
  }

  void Take(std::unique_ptr<UnwrittenPart> part) override {
    EndPiece();
    piece_bytes_ += part->bytes();
    pieces_.push_back({.part = std::move(part), .compresses = compresses_});
  }

  const bool compresses_;
  std::string bytes_;  // after the pieces
  RdbFileWriter writer_;
  std::vector<SnapshotPiece> pieces_;
  size_t piece_bytes_ = 0;
};

// A large value that was received. `head` has the parts before the value, as of the instant of the
// snapshot.
struct SnapshotEncoder::OpenValue {
  int database = 0;
  std::string head;
  const void* identity = nullptr;
  std::unique_ptr<RdbValueSlices> slices;
};

SnapshotEncoder::SnapshotEncoder(const Settings& settings, const AccessTracker& access_tracker,
                                 const LargeValueLimits& limits)
    : compresses_(settings.rdbcompression),
      limits_(limits),
      access_tracker_(access_tracker),
      use_(IsLfu(settings.maxmemory_policy)   ? Use::kFrequency
           : IsLru(settings.maxmemory_policy) ? Use::kIdle
                                              : Use::kNone),
      main_(std::make_unique<Section>(compresses_, limits)),
      early_(std::make_unique<Section>(compresses_, limits)) {}

SnapshotEncoder::~SnapshotEncoder() = default;

void SnapshotEncoder::Begin(Millis now, size_t used_bytes, const SnapshotContents& contents,
                            const DatasetSnapshot& snapshot) {
  snapshot_ = &snapshot;
  RdbFileWriter& writer = main_->writer();
  writer.Magic(snapshot.has_field_deadlines() ? kRdbVersionOfDeadlines : kRdbVersionWritten);
  writer.Aux("redis-ver", kRedisVersion);
  writer.Aux("redis-bits", "64");
  writer.Aux("ctime", std::to_string(now.count() / 1000));
  writer.Aux("used-mem", std::to_string(used_bytes));
  if (contents.place) {
    writer.Aux("repl-stream-db", std::to_string(contents.place->database));
    writer.Aux("repl-id", contents.place->id);
    writer.Aux("repl-offset", std::to_string(contents.place->offset));
  }
  writer.Aux("aof-base", contents.is_log_base ? "1" : "0");
  writer.Aux("zsetd-ver", ZSETD_VERSION);
  main_->Add(contents.functions);
}

// Entries that are handed out early may be of another database than the entries around them. So a
// database may be selected more than once, which every loader accepts. The sizes are written the
// first time.
void SnapshotEncoder::Select(int database, Section& section) {
  if (database == section.selected) return;
  section.selected = database;
  section.writer().Database(static_cast<uint64_t>(database));
  if (std::ranges::count(selected_once_, database) > 0) return;
  selected_once_.push_back(database);
  for (const auto& keyspace : snapshot_->keyspaces()) {
    if (keyspace->database() != database) continue;
    section.writer().Sizes(keyspace->keys(), keyspace->keys_with_deadline());
  }
}

// Writes the parts before the type of a value.
void SnapshotEncoder::WriteMarks(const Entry& entry, RdbFileWriter& writer) const {
  if (entry.deadline()) writer.Deadline(entry.deadline()->count());
  const AccessTracker::Stamp mark = entry.access_stamp();
  if (use_ == Use::kIdle) {
    writer.Idle(static_cast<uint64_t>(access_tracker_.IdleTime(mark).count()));
  } else if (use_ == Use::kFrequency) {
    writer.Frequency(access_tracker_.Count(mark));
  }
}

void SnapshotEncoder::Receive(int database, const Entry& entry) {
  if (auto slices = StartSlices(entry, limits_)) {
    auto open = std::make_unique<OpenValue>();
    open->database = database;
    RdbFileWriter writer(open->head, compresses_);
    WriteMarks(entry, writer);
    writer.Key(slices->type(), entry.key());
    open->identity = ValueIdentity(entry);
    open->slices = std::move(slices);
    // An existing element is of a value that was deleted; its slices have a copy.
    open_by_identity_.insert_or_assign(open->identity, open.get());
    open_.push_back(std::move(open));
    return;
  }
  Section& section = is_inside_value_ ? *early_ : *main_;
  Select(database, section);
  WriteMarks(entry, section.writer());
  if (HasFieldDeadlines(entry)) {
    WriteFieldsWithDeadlines(entry, section.writer().Key(RdbType::kHashDeadlines, entry.key()));
  } else {
    WriteValue(entry, section.writer().Key(RdbTypeOf(entry), entry.key()));
  }
  WriteElementFields(entry, section.writer());
  WriteStreamProducers(entry, section.writer());
  ++keys_;
}

void SnapshotEncoder::ContinueOpen() {
  OpenValue& first = *open_.front();
  RdbFileWriter& writer = main_->writer();
  if (!is_inside_value_) {
    is_inside_value_ = true;
    Select(first.database, *main_);
    main_->Add(first.head);
    first.slices->Begin(writer.values());
  }
  if (!first.slices->WriteSome(writer)) return;
  first.slices->WriteElementFields(writer);
  CloseFirst();
}

void SnapshotEncoder::CloseFirst() {
  ++keys_;
  is_inside_value_ = false;
  const auto known = open_by_identity_.find(open_.front()->identity);
  if (known != open_by_identity_.end() && known->second == open_.front().get()) {
    open_by_identity_.erase(known);
  }
  open_.pop_front();
  main_->Append(*early_);
}

bool SnapshotEncoder::IsOpen(const Entry& entry) const {
  return !open_.empty() && open_by_identity_.contains(ValueIdentity(entry));
}

void SnapshotEncoder::BeforeEdit(const Entry& entry, std::span<const ByteRange> ranges) {
  const auto open = open_by_identity_.find(ValueIdentity(entry));
  if (open != open_by_identity_.end()) open->second->slices->BeforeEdit(ranges);
}

void SnapshotEncoder::AfterEdit(const void* before, const Entry& entry) {
  const void* const identity = ValueIdentity(entry);
  if (identity == before) return;
  const auto found = open_by_identity_.find(before);
  if (found == open_by_identity_.end()) return;
  OpenValue* const open = found->second;
  open_by_identity_.erase(found);
  open->identity = identity;
  open->slices->AfterEdit(static_cast<const char*>(identity));
  open_by_identity_.insert_or_assign(identity, open);
}

void SnapshotEncoder::Abandon() {
  open_by_identity_.clear();
  open_.clear();
}

void SnapshotEncoder::End() { main_->writer().End(); }

size_t SnapshotEncoder::size() const { return main_->size(); }

std::vector<SnapshotPiece> SnapshotEncoder::Take() { return main_->TakeAll(); }

}  // namespace zsetd
