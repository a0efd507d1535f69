#include "server/cluster/migration/slot_migrations.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "core/hashing/key_slot.h"
#include "protocol/resp/request_writer.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/propagation/private_commands.h"
#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/unique_id.h"

namespace zsetd {
namespace {

// For keys and values of any length: they have been accepted already.
constexpr RequestLimits kUnitLimits = {.max_bulk_bytes = size_t{1} << 40};

constexpr Micros kEraseBudget{5000};  // for keys of an earlier import, within a request
constexpr Millis kBetweenNotes{1000};
constexpr size_t kMostRunningExports = 8;  // the others wait
constexpr std::string_view kNoImport = "ERR The connection imports no slots.";
constexpr std::string_view kStillDeletes =
    "TRYAGAIN The target still deletes keys of an earlier import";

std::string TextOf(std::span<const SlotRange> ranges) {
  std::string text;
  for (const SlotRange range : ranges) {
    if (!text.empty()) text += " ";
    text += std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text;
}

SlotSet SetOf(std::span<const SlotRange> ranges) {
  SlotSet slots;
  for (const SlotRange range : ranges) {
    for (size_t slot = range.first; slot <= range.last; ++slot) slots.Insert(slot);
  }
  return slots;
}

bool Overlap(const SlotSet& a, const SlotSet& b) {
  bool overlap = false;
  a.ForEach([&](size_t slot) { overlap |= b.Contains(slot); });
  return overlap;
}

bool Flushes(const Command& command) {
  return command.name == "flushall" || command.name == "flushdb" || command.name == "swapdb";
}

}  // namespace

SlotMigrations::SlotMigrations(Engine& engine, MigrationHost& host, Connector& connector)
    : engine_(engine), host_(host), connector_(connector), parser_(kUnitLimits) {
  installations_.push_back(engine.services().slot_migrations.Install(*this));
  installations_.push_back(engine.tasks().Add(*this));
}

SlotMigrations::~SlotMigrations() {
  if (is_journal_) engine_.effects().set_migrations(nullptr);
  for (const auto& import : imports_) import->source->imported_slots = nullptr;
}

int64_t SlotMigrations::Seconds() const {
  return std::chrono::floor<std::chrono::seconds>(engine_.host().wall_clock()).count();
}

absl::Status SlotMigrations::CheckState() const {
  if (topology().self().is_replica) {
    return Refusal("ERR Slot migration can only be used on primary nodes.");
  }
  if (!topology().importing().empty()) return Refusal("ERR Slots are being manually imported.");
  if (!topology().migrating().empty()) return Refusal("ERR Slots are being manually migrated.");
  return absl::OkStatus();
}

absl::Status SlotMigrations::CheckOwner(std::span<const SlotRange> ranges) const {
  const ClusterNode* owner = nullptr;
  for (const SlotRange range : ranges) {
    for (size_t slot = range.first; slot <= range.last; ++slot) {
      const ClusterNode* of_slot = topology().OwnerOf(slot);
      if (of_slot == nullptr) {
        return Refusal("ERR Slot " + std::to_string(slot) + " has no node served.");
      }
      if (owner == nullptr) owner = of_slot;
      if (of_slot != owner) return Refusal("ERR Requested slots span multiple shards");
    }
  }
  return absl::OkStatus();
}

absl::Status SlotMigrations::CheckNoneRuns() const {
  if (!imports_.empty()) return Refusal("ERR Slot import in progress.");
  if (!exports_.empty()) return Refusal("ERR Slot export in progress.");
  return absl::OkStatus();
}

absl::Status SlotMigrations::CheckRequest(const SlotMigrationRequest& request,
                                          const SlotSet& others) const {
  if (!IsNodeId(request.target_id)) {
    return Refusal("ERR Invalid node name: " + request.target_id.substr(0, 128));
  }
  const ClusterNode* target = topology().Find(request.target_id);
  if (target == nullptr) return Refusal("ERR Unknown node name: " + request.target_id);
  const ClusterNode& self = topology().self();
  if (topology().OwnerOf(request.ranges.front().first) != &self) {
    return Refusal("ERR Slots are not served by this node.");
  }
  if (target == &self) return Refusal("ERR Target node can not be this node.");
  if (target->is_replica) return Refusal("ERR Target node is not a primary.");
  const SlotSet slots = SetOf(request.ranges);
  if (Overlap(slots, others)) return Refusal("ERR Slot ranges in migrations overlap.");
  for (const auto& running : exports_) {
    std::optional<size_t> both;
    slots.ForEach([&](size_t slot) {
      if (!both && running->slots().Contains(slot)) both = slot;
    });
    if (both) return Refusal("ERR I am already migrating slot " + std::to_string(*both) + ".");
  }
  return absl::OkStatus();
}

absl::Status SlotMigrations::Start(std::span<const SlotMigrationRequest> requests) {
  SlotSet slots;
  for (const SlotMigrationRequest& request : requests) {
    if (absl::Status checked = CheckRequest(request, slots); !checked.ok()) return checked;
    slots = slots | SetOf(request.ranges);
  }
  for (const SlotMigrationRequest& request : requests) {
    SlotMigrationView view =
        NewView({.name = UniqueId(), .source_id = topology().self().id, .ranges = request.ranges});
    view.is_export = true;
    view.target_id = request.target_id;
    host_.Log(LogLevel::kNotice, "Starting to move slots " + TextOf(request.ranges) + " to node " +
                                     request.target_id + " (" + view.name + ")");
    SlotExport::Owner& owner = *this;
    exports_.push_back(std::make_unique<SlotExport>(engine_, topology(), owner, std::move(view),
                                                    SetOf(request.ranges)));
  }
  StartSome();
  return absl::OkStatus();
}

void SlotMigrations::StartSome() {
  size_t running = 0;
  for (const auto& migration : exports_) {
    if (++running > kMostRunningExports) return;
    if (!migration->has_started() && !migration->has_ended()) migration->Start(connector_);
  }
}

absl::Status SlotMigrations::Cancel() {
  size_t cancelled = 0;
  for (const auto& migration : exports_) cancelled += migration->Cancel();
  return cancelled > 0 ? absl::OkStatus() : Refusal("ERR No migrations ongoing");
}

SlotMigrationView SlotMigrations::NewView(const SlotImportRequest& request) const {
  return {.name = request.name,
          .ranges = request.ranges,
          .source_id = request.source_id,
          .target_id = topology().self().id,
          .created = Seconds(),
          .updated = Seconds(),
          .acknowledged = Seconds(),
          .state = "receiving-snapshot",
          .message = {}};
}

std::vector<SlotMigrationView> SlotMigrations::Migrations() const {
  std::vector<SlotMigrationView> views;
  for (const auto& migration : exports_) views.push_back(migration->View());
  for (const auto& import : imports_) views.push_back(import->view);
  std::ranges::reverse(views);
  views.insert(views.end(), ended_.begin(), ended_.end());
  return views;
}

void SlotMigrations::Remember(SlotMigrationView view) {
  std::string line = "Moving slots " + TextOf(view.ranges) + " (" + view.name +
                     ") has ended: " + std::string(view.state);
  if (!view.message.empty()) line += ". " + view.message;
  host_.Log(view.state == "failed" ? LogLevel::kWarning : LogLevel::kNotice, line);
  ended_.push_front(std::move(view));
}

absl::Status SlotMigrations::CheckImport(const SlotImportRequest& request) const {
  const ClusterNode& self = topology().self();
  if (self.is_replica) return Refusal("ERR The target node is not a primary.");
  if (!IsNodeId(request.name)) return Refusal("ERR Invalid migration name");
  const ClusterNode* source = topology().Find(request.source_id);
  if (source == nullptr || source == &self) {
    return Refusal("ERR The target node does not know the source node.");
  }
  const SlotSet slots = SetOf(request.ranges);
  bool is_owned = true;
  bool moves = false;
  slots.ForEach([&](size_t slot) {
    const auto number = static_cast<uint16_t>(slot);
    is_owned &= topology().OwnerOf(slot) == source;
    moves |= topology().importing().contains(number);
  });
  if (!is_owned) return Refusal("ERR The source node does not own the slots.");
  if (moves) {
    return Refusal("ERR A slot on the target node is being manually imported or migrated.");
  }
  for (const auto& running : imports_) {
    if (Overlap(slots, running->slots)) return Refusal("ERR A slot is being imported already.");
  }
  return absl::OkStatus();
}

// Keys that this node has of the slots are of no value: another node owns the slots.
absl::Status SlotMigrations::StartImport(Client& source, const SlotImportRequest& request) {
  if (absl::Status checked = CheckImport(request); !checked.ok()) return checked;
  if (ImportOf(source) != nullptr) return Refusal("ERR The connection imports slots already.");
  const SlotSet slots = SetOf(request.ranges);
  host_.bus().SetSlotsToClear(topology().slots_to_clear | slots);
  if (absl::Status saved = host_.Settle(); !saved.ok()) return saved;
  if (!EraseNow(slots)) return Refusal(std::string(kStillDeletes));
  auto import = std::make_unique<Import>(Import{.view = NewView(request),
                                                .slots = slots,
                                                .served = {},
                                                .source = &source,
                                                .heard_at = engine_.host().stopwatch(),
                                                .paused_at = {}});
  slots.ForEach([&](size_t slot) { import->served.set(slot); });
  source.imported_slots = &import->served;
  imports_.push_back(std::move(import));
  host_.Log(LogLevel::kNotice, "Starting to import slots " + TextOf(request.ranges) +
                                   " from node " + request.source_id + " (" + request.name + ")");
  return absl::OkStatus();
}

// Returns whether no key is left. Otherwise the others are deleted in the background.
bool SlotMigrations::EraseNow(const SlotSet& slots) {
  const Micros until = engine_.host().stopwatch() + kEraseBudget;
  bool is_clean = true;
  slots.ForEach([&](size_t slot) { is_clean &= host_.eraser().EraseUntil(slot, until); });
  return is_clean;
}

SlotMigrations::Import* SlotMigrations::ImportOf(const Client& client) {
  for (const auto& import : imports_) {
    if (import->source == &client) return import.get();
  }
  return nullptr;
}

absl::Status SlotMigrations::NotePause(Client& source) {
  Import* const import = ImportOf(source);
  if (import == nullptr) return Refusal(std::string(kNoImport));
  import->paused_at = engine_.host().stopwatch();
  return absl::OkStatus();
}

// The source deletes its keys as soon as it knows that this node owns the slots. After an error it
// keeps them, and ends the connection.
absl::Status SlotMigrations::FinishImport(Client& source, Millis within, uint64_t granted_epoch) {
  Import* const import = ImportOf(source);
  if (import == nullptr) return Refusal(std::string(kNoImport));
  if (const auto reason = WhyImportFails(*import)) return Refusal("ERR " + std::string(*reason));
  if (!import->paused_at) return Refusal("ERR The source has not announced its pause.");
  const auto is_in_time = [this, within, start = *import->paused_at] {
    return std::chrono::ceil<Millis>(engine_.host().stopwatch() - start) < within;
  };
  if (!is_in_time()) return Refusal("ERR It is too late to take the slots.");
  // After an error the next save restores what the failed one may have left in the file.
  const absl::Status taken = host_.bus().TakeSlots(
      import->slots, {.granted_epoch = granted_epoch, .is_in_time = is_in_time});
  (void)host_.Settle();  // errors are in the log
  if (!taken.ok()) return taken;
  const auto found = std::ranges::find(imports_, import, &std::unique_ptr<Import>::get);
  EndImport(static_cast<size_t>(found - imports_.begin()), "success", "");
  return absl::OkStatus();
}

// The clock of the machine may be set between two messages.
void SlotMigrations::NoteActivity(Import& import) const {
  const Millis active = import.source->connection.last_active;
  if (active == import.last_active) return;
  import.last_active = active;
  import.heard_at = engine_.host().stopwatch();
  import.view.acknowledged = std::chrono::floor<std::chrono::seconds>(active).count();
}

std::optional<std::string_view> SlotMigrations::WhyImportFails(const Import& import) const {
  const ClusterNode* source = topology().Find(import.view.source_id);
  if (topology().self().is_replica) return "The target is not a master any more";
  if (was_flushed_) return "The data of the target was flushed";
  bool is_owned = source != nullptr;
  const SlotSet& slots = import.slots;
  slots.ForEach([&](size_t slot) { is_owned &= topology().OwnerOf(slot) == source; });
  if (!is_owned) return "A slot has got another owner";
  const Micros silent = engine_.host().stopwatch() - import.heard_at;
  if (std::chrono::floor<std::chrono::seconds>(silent).count() >= engine_.settings().repl_timeout) {
    return "The source does not respond";
  }
  return std::nullopt;
}

void SlotMigrations::EndImport(size_t number, std::string_view state, std::string_view reason) {
  const std::unique_ptr<Import> import = std::move(imports_[number]);
  imports_.erase(imports_.begin() + static_cast<std::ptrdiff_t>(number));
  import->source->imported_slots = nullptr;
  import->view.state = state;
  import->view.message = reason;
  import->view.updated = Seconds();
  Remember(std::move(import->view));
}

// The source finds out by the end of the connection.
void SlotMigrations::FailImport(size_t number, std::string_view reason) {
  Client& source = *imports_[number]->source;
  imports_[number]->slots.ForEach([&](size_t slot) { host_.eraser().Add(slot); });
  EndImport(number, "failed", reason);
  engine_.clients().End(source);
}

void SlotMigrations::OnLeave(Client& client) {
  const auto found =
      std::ranges::find(imports_, &client, [](const auto& import) { return import->source; });
  if (found == imports_.end()) return;
  (*found)->slots.ForEach([&](size_t slot) { host_.eraser().Add(slot); });
  EndImport(static_cast<size_t>(found - imports_.begin()), "failed",
            "The connection of the source has ended");
}

// Whether nothing is to be done until another migration starts.
bool SlotMigrations::IsIdle() const {
  const auto most = static_cast<size_t>(engine_.settings().cluster_slot_migration_log_max_len);
  return exports_.empty() && imports_.empty() && ended_.size() <= most && noted_.empty() &&
         host_.eraser().slots().empty() && topology().slots_to_clear.empty();
}

void SlotMigrations::SwitchJournal() {
  const bool is_needed = !exports_.empty() || !imports_.empty();
  if (std::exchange(is_journal_, is_needed) == is_needed) return;
  engine_.effects().set_migrations(is_needed ? this : nullptr);
}

// Keys are copied in Tick() only, so each change of a copied key is seen.
void SlotMigrations::Tick(Micros budget) {
  if (engine_.units().IsInTransaction()) return;
  SwitchJournal();
  if (IsIdle()) return;
  for (const auto& migration : exports_) {
    if (migration->has_started()) migration->Tick(budget);
  }
  for (size_t i = 0; i < exports_.size();) {
    if (!exports_[i]->has_ended()) {
      ++i;
      continue;
    }
    Remember(exports_[i]->View());
    exports_.erase(exports_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  StartSome();
  for (size_t i = imports_.size(); i-- > 0;) {
    Import& import = *imports_[i];
    NoteActivity(import);
    if (const auto reason = WhyImportFails(import)) FailImport(i, *reason);
  }
  was_flushed_ = false;
  const auto most = static_cast<size_t>(engine_.settings().cluster_slot_migration_log_max_len);
  while (ended_.size() > most) ended_.pop_back();
  KeepSlotsToClear();
  if (MustSendNote()) SendNote();
}

// A replica that has taken a snapshot since has not seen the last note. During a pause the history
// does not change.
bool SlotMigrations::MustSendNote() const {
  const bool may = !topology().self().is_replica && engine_.effects().has_stream() &&
                   !engine_.mode().IsPaused(engine_.store().now());
  if (!may) return false;
  const SlotSet& slots = topology().slots_to_clear;
  const bool is_old = engine_.host().stopwatch() - noted_at_ >= kBetweenNotes;
  return slots != noted_ || (!slots.empty() && is_old);
}

void SlotMigrations::SendNote() {
  noted_ = topology().slots_to_clear;
  noted_at_ = engine_.host().stopwatch();
  std::vector<std::string> words = {"CLUSTER", "SYNCSLOTS", "CLEARS"};
  for (const SlotRange range : RangesOf(noted_)) {
    words.push_back(std::to_string(range.first));
    words.push_back(std::to_string(range.last));
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  engine_.effects().AppendToStream(EncodeRequest({"ECHO", WrapPrivateCommand(Args(views))}));
}

// A log may contain notes, too, but nodes.conf is newer.
absl::Status SlotMigrations::NoteSlotsToClear(std::span<const SlotRange> ranges) {
  const SlotSet slots = SetOf(ranges);
  const bool is_new = topology().self().is_replica && !engine_.mode().is_loading() &&
                      slots != topology().slots_to_clear;
  if (is_new) {
    host_.bus().SetSlotsToClear(slots);
    (void)host_.Settle();  // errors are in the log
  }
  return absl::OkStatus();
}

void SlotMigrations::KeepSlotsToClear() {
  if (topology().self().is_replica || host_.AwaitsOwners()) return;
  SlotSet slots = host_.eraser().slots();
  for (const auto& import : imports_) slots = slots | import->slots;
  if (slots == topology().slots_to_clear) return;
  host_.bus().SetSlotsToClear(slots);
  (void)host_.Settle();  // errors are in the log
}

bool SlotMigrations::HasWork() const {
  if (engine_.units().IsInTransaction()) return false;
  return was_flushed_ || MustSendNote() || std::ranges::any_of(exports_, [](const auto& migration) {
           return migration->HasWork() || migration->has_ended();
         });
}

void SlotMigrations::EndRound() {
  for (const auto& migration : exports_) migration->Flush();
}

uint64_t SlotMigrations::Append(OutputBuffer& unit) {
  std::string_view bytes = unit.view();
  while (!bytes.empty()) {
    const std::span<char> space = parser_.Space();
    const size_t count = bytes.copy(space.data(), space.size());
    parser_.Arrived(count);
    bytes.remove_prefix(count);
    while (parser_.Next() == RequestParser::Result::kRequest) OnEffect(parser_.argv());
  }
  assert(parser_.buffered_bytes() == 0 && !skips_next_);
  for (const auto& migration : exports_) {
    if (SlotCopy* copy = migration->copy()) copy->EndUnit();
  }
  return 1;  // nothing waits for positions of this journal
}

void SlotMigrations::OnEffect(Args request) {
  if (std::exchange(skips_next_, false)) return;
  if (IsPrivateCommand(request)) {
    const std::optional<OwnedArgs> inner = UnwrapPrivateCommand(request);
    if (inner) OnEffect(inner->argv());
    skips_next_ = IsReplacement(request);
    return;
  }
  const Command* command = engine_.commands().Find(request);
  if (command == nullptr) return;
  if (Flushes(*command)) return OnFlush();
  std::vector<std::string_view> keys;
  for (const size_t position : FindKeys(*command, request)) keys.push_back(request[position]);
  if (keys.empty()) return;
  const size_t slot = KeySlot(keys.front());
  for (const auto& migration : exports_) {
    SlotCopy* const copy = migration->copy();
    if (copy == nullptr || !copy->Contains(slot)) continue;
    if (std::ranges::all_of(keys, [&](std::string_view key) { return KeySlot(key) == slot; })) {
      copy->AddEffect(request, keys);
    } else {
      migration->Fail("A change concerned keys of several slots");
    }
  }
}

void SlotMigrations::OnFlush() {
  was_flushed_ = !imports_.empty();
  for (const auto& migration : exports_) migration->Fail("The data of the source was flushed");
}

void SlotMigrations::OnPause() {
  const Micros now = engine_.host().stopwatch();
  ClientPause& pause = engine_.clients().pause();
  pause.End(ClientPause::Cause::kMigration);
  if (!std::ranges::any_of(exports_, &SlotExport::IsPaused)) {
    if (paused_at_) may_pause_at_ = now + (now - *paused_at_);
    paused_at_.reset();
    return;
  }
  paused_at_ = now;
  pause.Begin(ClientPause::Cause::kMigration, ClientPause::Reach::kWrites, engine_.store().now(),
              ClientPause::kUntilEnded);
}

// Between two pauses clients may write for as long as they were paused. A grant that is in doubt
// comes first.
bool SlotMigrations::MayPause() const {
  return !paused_at_ && !topology().grant && host_.bus().IsUp() &&
         engine_.host().stopwatch() >= may_pause_at_;
}

void SlotMigrations::OnLostGrant() { host_.bus().Announce(); }

absl::StatusOr<uint64_t> SlotMigrations::OnGrant(const SlotExport& migration, Millis time) {
  return host_.bus().OpenGrant(migration.slots(), migration.target_id(), time.count());
}

void SlotMigrations::OnGivenUpGrant(bool is_refused) {
  host_.bus().GiveUpGrant(is_refused);
  (void)host_.Settle();  // errors are in the log
}

// The target has announced the change on the bus, perhaps not to all nodes yet.
void SlotMigrations::OnHandOver(const SlotExport& migration) {
  const ClusterNode* target = topology().Find(migration.target_id());
  const SlotSet slots = migration.slots();
  SlotSet given;
  slots.ForEach([&](size_t slot) {
    if (topology().OwnerOf(slot) == &topology().self()) given.Insert(slot);
    host_.eraser().Add(slot);
  });
  if (!given.empty()) host_.bus().GiveSlots(given, target);
  host_.bus().CloseGrant();
  host_.bus().SetSlotsToClear(topology().slots_to_clear | slots);
  (void)host_.Settle();  // errors are in the log
}

}  // namespace zsetd
