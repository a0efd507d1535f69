#include "server/persistence/snapshot/snapshot_loader.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/sorted_set.h"
#include "protocol/rdb/rdb_elements.h"
#include "protocol/rdb/rdb_file.h"
#include "protocol/resp/request_parser.h"
#include "protocol/text/number_text.h"
#include "server/engine/state/replication_state.h"
#include "server/engine/store/element_aux.h"
#include "server/engine/store/rdb_value_reader.h"
#include "server/engine/store/stream/stream_producers.h"
#include "server/engine/support/errors.h"
#include "server/persistence/file/file_source.h"
#include "server/persistence/snapshot/name_hashes.h"
#include "server/persistence/snapshot/value_check.h"

namespace zsetd {
namespace {

constexpr size_t kMostQuotedBytes = 128;  // of a key's name in an error
constexpr uint64_t kKeysPerReport = 4096;
constexpr size_t kInsertedTogether = 16;

// The properties of a key, from the parts that precede it in the file.
struct KeyNotes {
  std::optional<Millis> deadline;
  std::optional<uint64_t> idle_seconds;
  std::optional<uint8_t> frequency;
};

// The hashes of names that a check keeps instead of the keys.
struct CheckedNames {
  enum class LastValue { kNone, kSortedSet, kOther };

  CheckedNames(uint64_t seed, const std::atomic<bool>* abandoned)
      : keys(seed, abandoned), elements(seed, abandoned) {}

  NameHashes keys;                          // "database:key"
  NameHashes elements;                      // the elements of the last value
  LastValue last_value = LastValue::kNone;  // kNone: element deadlines are ignored
  bool has_duplicate = false;
};

// Whether the field states a sound form that no set can have, because too many others are in use.
bool LacksRoomForForm(std::string_view field) {
  const auto form = ReadScoreForm(field, [](std::string_view, uint64_t) { return true; });
  return form && !SortedSet().SetForm(*form);
}

// Whether only payloads of DUMP have values of this type.
bool IsOfPayloads(RdbType type) {
  return type >= RdbType::kZSetDeadlines && type <= RdbType::kZSetForm;
}

class Loader {
 public:
  // With `names`, the file is only checked. `names` outlives this, or is null.
  Loader(FileSource& source, const LoadOptions& options, CheckedNames* names)
      : source_(source), options_(options), reader_(source, kMostStringBytes), names_(names) {}

  absl::StatusOr<LoadedSnapshot> Load();

 private:
  using Step = absl::Status;

  Step ReadMagic();
  Step ReadPart(uint8_t first);
  Step ReadOpcode(RdbOpcode opcode);
  Step ReadAux();
  bool KeepsExpired() const { return options_.keeps_expired || position_.offset >= 0; }
  bool SetDeadlines(std::string_view field);
  bool SetForm(std::string_view field);
  bool SetPayloads(std::string_view field);
  bool SetProducers(std::string_view field);
  void NotePosition(std::string_view name, std::string_view value);
  Step ReadFunctions();
  Step ReadModuleAux();
  Step SelectDatabase();
  Step ReadKey(RdbType type);
  bool CheckKey(RdbType type, const std::string& key);
  void CountKey();
  Step Skip(RdbType type, const std::string& key);
  void NoteEmpty(const std::string& key);
  Step ReadEnd();
  Step Put(std::unique_ptr<Entry> entry, const KeyNotes& notes);
  Step InsertWaiting();
  void SelectKeyspace();
  void Mark(Entry& entry, const KeyNotes& notes) const;

  // Return an error about the present place in the file, or about another.
  Step Fail(const std::string& what) { return FailAt(Place(), what); }
  Step FailAt(uint64_t place, const std::string& what);
  uint64_t Place() const { return source_.OffsetWith(reader_.left()); }
  Step Damaged(const std::string& what) { return Fail(what + " is damaged"); }

  FileSource& source_;
  const LoadOptions& options_;
  RdbReader reader_;
  CheckedNames* const names_;
  RdbVersion version_;
  LoadedSnapshot loaded_;
  HistoryPlace position_ = {.offset = -1};  // the parts that have been read
  Keyspace* keyspace_ = nullptr;            // the keyspace of the selected database

  // Entries that are inserted together, so that their cache misses overlap, and their end positions
  // in the file.
  std::vector<std::pair<std::unique_ptr<Entry>, uint64_t>> waiting_;

  bool last_is_waiting_ = false;           // whether the last key's entry is in `waiting_`
  std::optional<ScoreForm> checked_form_;  // of the last key that was checked
  Entry* last_entry_ = nullptr;            // of the last key; null if it was left out or is waiting
  int database_ = 0;
  uint64_t announced_keys_ = 0;  // of the selected database; not verified
  KeyNotes notes_;
  uint64_t keys_ = 0;
  bool ended_ = false;
};

std::string QuotedKey(std::string_view key) {
  return "'" + std::string(key.substr(0, kMostQuotedBytes)) + "'";
}

Loader::Step Loader::FailAt(uint64_t place, const std::string& what) {
  const std::string where =
      "at byte " + std::to_string(place) + " of " + std::to_string(source_.size()) + ": ";
  if (source_.status().ok()) return Refusal(where + what);
  return Refusal(where + "cannot read the file: " + std::string(ErrorLine(source_.status())));
}

absl::StatusOr<LoadedSnapshot> Loader::Load() {
  absl::Status status = ReadMagic();
  while (status.ok() && !ended_) status = ReadPart(reader_.Byte());
  if (!status.ok()) return status;
  for (auto& [index, keys] : loaded_.databases) keys.Trim();
  if (!position_.id.empty() && position_.offset >= 0) loaded_.position = position_;
  loaded_.bytes = Place();
  return std::move(loaded_);
}

Loader::Step Loader::ReadMagic() {
  const auto version = ParseRdbMagic(reader_.Bytes(kRdbMagicBytes));
  if (!version)
    return Fail("not a snapshot: the file does not begin with REDIS or VALKEY and a version");
  version_ = *version;
  if (CanRead(version_)) return absl::OkStatus();
  return Fail("the format is version " + std::to_string(version_.number) +
              (version_.is_valkey ? " of Valkey" : " of Redis") +
              ", which this server cannot read");
}

Loader::Step Loader::ReadPart(uint8_t first) {
  if (!reader_.ok()) return Fail("the file is incomplete: the end marker is missing");
  if (first >= kFirstRdbOpcode) return ReadOpcode(static_cast<RdbOpcode>(first));
  return ReadKey(static_cast<RdbType>(first));
}

Loader::Step Loader::ReadOpcode(RdbOpcode opcode) {
  const bool is_of_next_key = opcode == RdbOpcode::kDeadline || opcode == RdbOpcode::kIdle ||
                              opcode == RdbOpcode::kFrequency ||
                              opcode == RdbOpcode::kDeadlineInSeconds;
  if (!is_of_next_key) {
    if (Step inserted = InsertWaiting(); !inserted.ok()) return inserted;
  }
  switch (opcode) {
    case RdbOpcode::kDeadline:
      notes_.deadline = Millis(static_cast<int64_t>(reader_.LittleEndian(8)));
      break;
    case RdbOpcode::kDeadlineInSeconds:
      notes_.deadline = std::chrono::seconds(static_cast<int32_t>(reader_.LittleEndian(4)));
      break;
    case RdbOpcode::kIdle:
      notes_.idle_seconds = reader_.Length();
      break;
    case RdbOpcode::kFrequency:
      notes_.frequency = reader_.Byte();
      break;
    case RdbOpcode::kDatabase:
      return SelectDatabase();
    case RdbOpcode::kSizes:
      announced_keys_ = reader_.Length();
      reader_.Length();
      break;
    case RdbOpcode::kSlotInfo:
      reader_.Length();
      reader_.Length();
      reader_.Length();
      break;
    case RdbOpcode::kAux:
      return ReadAux();
    case RdbOpcode::kFunctions:
      return ReadFunctions();
    case RdbOpcode::kModuleAux:
      return ReadModuleAux();
    case RdbOpcode::kEnd:
      return ReadEnd();
    case RdbOpcode::kFunctionsOfOld:
      return Fail(
          "the functions have the format of a release candidate of Redis 7.0, which is not "
          "supported");
    case RdbOpcode::kKeyMetadata:
      return Fail(
          "metadata of modules for a key, or a slot that was being imported: this server does "
          "not support them");
  }
  return reader_.ok() ? absl::OkStatus() : Damaged("the data about a key or a database");
}

Loader::Step Loader::ReadAux() {
  const std::string name(reader_.String());
  const std::string_view value = reader_.String();
  if (reader_.ok()) NotePosition(name, value);
  if (reader_.ok() && name == kScoreFormAux && !SetForm(value)) {
    if (LacksRoomForForm(value)) return Fail("too many forms of scores are in use");
    return Damaged("the form of a key's scores");
  }
  if (reader_.ok() && name == kElementDeadlinesAux && !SetDeadlines(value)) {
    return Damaged("a deadline of an element");
  }
  if (reader_.ok() && name == kElementPayloadsAux && !SetPayloads(value)) {
    return Damaged("a payload of an element");
  }
  if (reader_.ok() && name == kStreamProducersAux && !SetProducers(value)) {
    return Damaged("the IDs of a stream's producers");
  }
  return reader_.ok() ? absl::OkStatus() : Damaged("a field about the server that wrote the file");
}

// Sets the deadlines of elements of the last key, or checks them. Returns whether `field` is sound.
// True if the last key was left out.
bool Loader::SetDeadlines(std::string_view field) {
  if (names_ != nullptr) {
    using LastValue = CheckedNames::LastValue;
    if (names_->last_value != LastValue::kSortedSet) return names_->last_value == LastValue::kNone;
    return ReadElementDeadlines(field, [this](std::string_view member, Millis) {
      return names_->elements.Contains(member);
    });
  }
  if (last_entry_ == nullptr) return true;
  const std::optional<Millis> before = last_entry_->EarliestElementDeadline();
  const bool is_sound = SetElementDeadlines(*last_entry_, field);
  keyspace_->ElementDeadlineChanged(*last_entry_, before);
  return is_sound;
}

// Like SetDeadlines(), for the form of scores.
bool Loader::SetForm(std::string_view field) {
  if (names_ != nullptr) {
    using LastValue = CheckedNames::LastValue;
    if (names_->last_value != LastValue::kSortedSet) return names_->last_value == LastValue::kNone;
    const auto form = ReadScoreForm(field, [this](std::string_view member, uint64_t) {
      return names_->elements.Contains(member);
    });
    const bool is_sound = form && (!checked_form_ || *checked_form_ == *form);
    checked_form_ = form;
    return is_sound;
  }
  return last_entry_ == nullptr || SetScoreForm(*last_entry_, field);
}

// Like SetDeadlines(), for payloads.
bool Loader::SetPayloads(std::string_view field) {
  if (names_ != nullptr) {
    using LastValue = CheckedNames::LastValue;
    if (names_->last_value != LastValue::kSortedSet) return names_->last_value == LastValue::kNone;
    return ReadElementPayloads(field, [this](std::string_view member, std::string_view) {
      return names_->elements.Contains(member);
    });
  }
  return last_entry_ == nullptr || SetElementPayloads(*last_entry_, field);
}

// Like SetDeadlines(), for the IDs of a stream's producers.
bool Loader::SetProducers(std::string_view field) {
  return SetStreamProducers(names_ != nullptr ? nullptr : last_entry_, field);
}

// Ignores invalid values: the consequence is at most a full synchronization.
void Loader::NotePosition(std::string_view name, std::string_view value) {
  constexpr size_t kIdBytes = 40;
  const std::optional<int64_t> number = ParseInteger(value);
  if (name == "repl-id" && value.size() == kIdBytes) position_.id = value;
  if (name == "repl-offset") {
    position_.offset = number && *number <= kMostFirstOffset ? *number : -1;
  }
  const bool is_database = number && *number >= 0 && *number < options_.databases;
  if (name == "repl-stream-db" && is_database) position_.database = static_cast<int>(*number);
}

Loader::Step Loader::ReadFunctions() {
  const std::string_view code = reader_.String();
  if (!reader_.ok()) return Damaged("a library of functions");
  RdbFileWriter(loaded_.functions, /*compresses=*/true).Functions(code);
  return absl::OkStatus();
}

Loader::Step Loader::ReadModuleAux() {
  if (!options_.skips_unknown) {
    return Fail(
        "data of a module: this server does not support it. Set rdb-skip-unknown yes to skip it");
  }
  return SkipRdbModuleAux(reader_) ? absl::OkStatus() : Damaged("the data of a module");
}

Loader::Step Loader::SelectDatabase() {
  const uint64_t index = reader_.Length();
  if (!reader_.ok()) return Damaged("the number of a database");
  if (index >= static_cast<uint64_t>(options_.databases)) {
    return Fail("keys of database " + std::to_string(index) + ", but `databases` is " +
                std::to_string(options_.databases) + ". Increase `databases`");
  }
  database_ = static_cast<int>(index);
  announced_keys_ = 0;
  keyspace_ = nullptr;
  last_entry_ = nullptr;
  checked_form_.reset();
  if (names_ != nullptr) names_->last_value = CheckedNames::LastValue::kNone;
  return absl::OkStatus();
}

Loader::Step Loader::ReadKey(RdbType type) {
  const std::string key(reader_.String());
  last_entry_ = nullptr;
  checked_form_.reset();
  if (names_ != nullptr) names_->last_value = CheckedNames::LastValue::kNone;
  last_is_waiting_ = false;
  if (!reader_.ok()) return Damaged("a key");
  const bool is_of_candidate =  // a format of a release candidate
      HasFieldDeadlines(type) && version_.is_valkey != (type == RdbType::kValkeyHash);
  if (is_of_candidate || IsOfPayloads(type)) return Skip(type, key);
  const KeyNotes notes = std::exchange(notes_, KeyNotes());
  if (names_ != nullptr) {
    if (CheckKey(type, key)) return absl::OkStatus();
  } else {
    std::unique_ptr<Entry> entry =
        ReadValue(reader_, type, key, notes.deadline, KeepsExpired() ? Millis::min() : options_.now,
                  options_.limits);
    CountKey();
    if (entry != nullptr) return Put(std::move(entry), notes);
  }
  if (!reader_.ok() || !IsReadable(type)) return Skip(type, key);
  if (HasFieldDeadlines(type)) {
    ++loaded_.keys_expired;
  } else {
    NoteEmpty(key);
  }
  return absl::OkStatus();
}

// Redis before 6.2 could save keys without elements. Newer releases leave them out, and so does
// this loader.
void Loader::NoteEmpty(const std::string& key) {
  constexpr size_t kMostNames = 10;
  if (loaded_.some_empty_keys.size() < kMostNames) {
    loaded_.some_empty_keys.push_back(key.substr(0, kMostQuotedBytes));
  }
  ++loaded_.keys_empty;
}

// Returns whether the value can be kept.
bool Loader::CheckKey(RdbType type, const std::string& key) {
  const bool is_sound = CheckValue(reader_, type, names_->elements);
  CountKey();
  if (!is_sound) {
    names_->has_duplicate |= names_->elements.HasDuplicate();
    return false;
  }
  using LastValue = CheckedNames::LastValue;
  const bool is_sorted_set = type == RdbType::kZSetOfTexts || type == RdbType::kZSet ||
                             type == RdbType::kZSetZiplist || type == RdbType::kZSetListpack;
  names_->last_value = is_sorted_set ? LastValue::kSortedSet : LastValue::kOther;
  names_->keys.Add(std::to_string(database_) + ":" + key);
  ++loaded_.keys_loaded;
  return true;
}

void Loader::CountKey() {
  ++keys_;
  if (options_.progress && keys_ % kKeysPerReport == 0) {
    options_.progress(Place(), source_.size(), keys_);
  }
}

// An unknown type ends the load in any case, because the end of its value is unknown.
Loader::Step Loader::Skip(RdbType type, const std::string& key) {
  const std::string value = "the value of the key " + QuotedKey(key);
  const bool is_module = type == RdbType::kModule || type == RdbType::kModuleOfOld;
  const bool is_known = type <= RdbType::kHashListpackTriples && static_cast<int>(type) != 8;
  if (!is_known || (HasFieldDeadlines(type) && reader_.ok())) {
    return Fail(value + " is of type " + std::to_string(static_cast<int>(type)) +
                ", which this server does not support");
  }
  if (!is_module) return Damaged(value);
  if (!options_.skips_unknown || type == RdbType::kModuleOfOld) {
    return Fail(value + " is a module's, which this server does not support" +
                (type == RdbType::kModuleOfOld ? "" : ". Set rdb-skip-unknown yes to skip it"));
  }
  if (!SkipRdbValue(reader_, type)) return Damaged(value);
  ++loaded_.keys_skipped;
  return absl::OkStatus();
}

Loader::Step Loader::Put(std::unique_ptr<Entry> entry, const KeyNotes& notes) {
  if (notes.deadline && *notes.deadline <= options_.now && !KeepsExpired()) {
    ++loaded_.keys_expired;
    return absl::OkStatus();
  }
  if (keyspace_ == nullptr) {
    SelectKeyspace();
  }
  Mark(*entry, notes);
  waiting_.emplace_back(std::move(entry), Place());
  last_is_waiting_ = true;
  return waiting_.size() < kInsertedTogether ? absl::OkStatus() : InsertWaiting();
}

Loader::Step Loader::InsertWaiting() {
  if (waiting_.empty()) return absl::OkStatus();
  std::vector<std::string_view> keys;
  for (const auto& [entry, place] : waiting_) keys.push_back(entry->key());
  keyspace_->Prefetch(keys);
  for (auto& [entry, place] : waiting_) {
    if (keyspace_->FindEvenDue(entry->key()) != nullptr) {
      return FailAt(place, "the key " + QuotedKey(entry->key()) + " occurs twice");
    }
    Entry& inserted = keyspace_->Insert(std::move(entry));
    last_entry_ = last_is_waiting_ ? &inserted : nullptr;
    ++loaded_.keys_loaded;
  }
  waiting_.clear();
  last_is_waiting_ = false;
  return absl::OkStatus();
}

// An announced count is used only if the file has enough bytes for that many keys.
void Loader::SelectKeyspace() {
  constexpr uint64_t kLeastBytes = 3;  // for a type, a key and a value
  const auto [place, is_new] = loaded_.databases.try_emplace(database_, options_.make_keyspace());
  keyspace_ = &place->second;
  const uint64_t offset = Place();
  const uint64_t possible =
      source_.size() > offset ? (source_.size() - offset) / kLeastBytes + 1 : 1;
  if (is_new) keyspace_->Reserve(std::min(announced_keys_, possible));
}

void Loader::Mark(Entry& entry, const KeyNotes& notes) const {
  const AccessTracker* meter = options_.access_tracker;
  if (meter == nullptr) return;
  constexpr auto kLongest = static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
  if (meter->rule().lfu && notes.frequency) {
    entry.set_access_stamp(meter->OfCount(*notes.frequency));
  } else if (!meter->rule().lfu && notes.idle_seconds) {
    const auto idle = static_cast<int64_t>(std::min(*notes.idle_seconds, kLongest));
    entry.set_access_stamp(meter->OfIdle(std::chrono::seconds(idle)));
  } else {
    entry.set_access_stamp(meter->OfNewKey());
  }
}

Loader::Step Loader::ReadEnd() {
  ended_ = true;
  if (names_ != nullptr && names_->keys.HasDuplicate()) {
    names_->has_duplicate = true;
    return Fail("a key occurs twice");
  }
  if (!version_.HasChecksum()) return absl::OkStatus();
  const uint64_t computed = source_.ChecksumWith(reader_.left());
  const uint64_t stored = reader_.LittleEndian(sizeof stored);
  if (!reader_.ok()) return Fail("the file is incomplete: the checksum is missing");
  const bool is_right = stored == 0 || stored == computed || !options_.checks_checksum;
  return is_right ? absl::OkStatus() : Fail("the checksum does not match: the file is damaged");
}

absl::StatusOr<LoadedSnapshot> Read(FileSystem& files, const std::string& path,
                                    const LoadOptions& options, CheckedNames* names) {
  auto file = files.Open(path);
  if (absl::IsNotFound(file.status())) return file.status();
  if (!file.ok()) {
    return Refusal("Cannot open '" + path + "': " + std::string(ErrorLine(file.status())));
  }
  FileSource source(*std::move(file), options.on_read);
  absl::StatusOr<LoadedSnapshot> loaded = Loader(source, options, names).Load();
  if (loaded.ok()) return loaded;
  return Refusal("Cannot load '" + path + "': " + std::string(ErrorLine(loaded.status())));
}

}  // namespace

absl::StatusOr<LoadedSnapshot> LoadSnapshot(FileSystem& files, const std::string& path,
                                            const LoadOptions& options) {
  return Read(files, path, options, nullptr);
}

// If names share a hash, a second run with another seed shows whether they are equal.
absl::StatusOr<LoadedSnapshot> CheckSnapshot(FileSystem& files, const std::string& path,
                                             const LoadOptions& options) {
  CheckedNames names(KeyedHash("names in a snapshot"), options.abandoned);
  absl::StatusOr<LoadedSnapshot> checked = Read(files, path, options, &names);
  if (!names.has_duplicate) return checked;
  CheckedNames others(KeyedHash("the same names again"), options.abandoned);
  return Read(files, path, options, &others);
}

}  // namespace zsetd
