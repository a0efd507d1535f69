#include "server/cluster/migration/slot_export.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "protocol/resp/request_writer.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr size_t kMostAwaitedBytes = 1u << 20;  // while keys are copied
constexpr Millis kBetweenSigns{1000};

}  // namespace

SlotExport::SlotExport(Engine& engine, const Topology& topology, Owner& owner,
                       SlotMigrationView description, const SlotSet& slots)
    : engine_(engine),
      topology_(topology),
      owner_(owner),
      description_(std::move(description)),
      slots_(slots),
      machine_(now()) {}

Millis SlotExport::now() const { return std::chrono::floor<Millis>(engine_.host().stopwatch()); }

// The migration may have waited while the cluster changed.
void SlotExport::Start(Connector& connector) {
  has_started_ = true;
  machine_ = ExportMachine(now());
  const ClusterNode* const known_target = topology_.Find(description_.target_id);
  if (known_target == nullptr) return Fail("The target is not known any more");
  const ExportMachine::Surroundings surroundings = SurroundingsNow();
  if (!surroundings.target_is_master) return Fail("The target is not a master any more");
  if (!surroundings.owns_slots) return Fail("A slot has got another owner");
  const ClusterNode& target = *known_target;
  const Settings& settings = engine_.settings();
  const bool prefers_tls = settings.tls_cluster || settings.tls_replication || target.port == 0;
  const bool with_tls = prefers_tls && target.tls_port != 0;
  const int64_t port = with_tls ? target.tls_port : target.port;
  connection_ = connector.Connect({.host = target.ip,
                                   .port = static_cast<int>(port),
                                   .with_tls = with_tls,
                                   .read_bytes = Connection::kFewReadBytes},
                                  *this);
}

void SlotExport::OnConnected() {
  Make(machine_.OnConnected(now(), !engine_.settings().masterauth.empty()));
  Settle();
}

// A reply may end the migration. The connection is closed after the loop.
void SlotExport::OnReceived(std::string_view bytes) {
  is_receiving_ = true;
  while (!bytes.empty() && !has_ended()) {
    const ReplyScanner::Result result = scanner_.Next(bytes);
    if (result == ReplyScanner::Result::kBroken) Fail("The target has sent an invalid reply");
    if (result != ReplyScanner::Result::kReply) break;
    if (!awaited_sizes_.empty()) {
      awaited_bytes_ -= awaited_sizes_.front();
      awaited_sizes_.pop_front();
    }
    Make(machine_.OnReply(now(), scanner_.error()));
  }
  const ExportMachine::State state = machine_.state();
  if (state == ExportMachine::State::kWaitingToPause || state == ExportMachine::State::kPaused) {
    Advance();
  }
  is_receiving_ = false;
  Settle();
}

void SlotExport::OnConnectionEnd(std::string_view reason) {
  machine_.OnLost(now(), reason);
  if (machine_.HasLostGrant()) owner_.OnLostGrant();
  Settle();
}

void SlotExport::Make(Step step) {
  switch (step) {
    case Step::kNone:
      return;
    case Step::kAuthenticate:
      return SendAuthentication();
    case Step::kEstablish:
      return SendAnnouncement();
    case Step::kCopy:
      copy_.emplace(engine_, slots_, [this](std::string_view request) { Send(request); });
      return;
    case Step::kPause:
      return Settle();
    case Step::kAnnouncePause:
      return Send({"CLUSTER", "SYNCSLOTS", "PAUSED"});
    case Step::kGrant:
      return SendGrant();
    case Step::kHandOver:
      return owner_.OnHandOver(*this);
  }
}

void SlotExport::SendAuthentication() {
  const Settings& settings = engine_.settings();
  if (settings.masteruser.empty()) return Send({"AUTH", settings.masterauth});
  Send({"AUTH", settings.masteruser, settings.masterauth});
}

void SlotExport::SendAnnouncement() {
  std::vector<std::string> words = {"CLUSTER",         "SYNCSLOTS",         "BEGIN",
                                    "SOURCE",          topology_.self().id, "NAME",
                                    description_.name, "SLOTSRANGE"};
  for (const SlotRange range : description_.ranges) {
    words.push_back(std::to_string(range.first));
    words.push_back(std::to_string(range.last));
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  Send(EncodeRequest(Args(views)));
}

// The margin is for the reply of the target, and for clocks that do not run equally fast.
void SlotExport::SendGrant() {
  constexpr int kShareOfMargin = 10;
  const Millis within = machine_.GrantedTime() - machine_.GrantedTime() / kShareOfMargin;
  const absl::StatusOr<uint64_t> epoch =
      owner_.OnGrant(*this, std::max(machine_.pause_until() - now(), Millis(0)));
  if (!epoch.ok()) return Fail(ErrorLine(epoch.status()));
  has_granted_ = true;
  Send({"CLUSTER", "SYNCSLOTS", "FINISH", std::to_string(within.count()), std::to_string(*epoch)});
}

void SlotExport::Send(std::initializer_list<std::string_view> words) { Send(EncodeRequest(words)); }

void SlotExport::Send(std::string_view request) {
  if (connection_ == nullptr || has_ended()) return;
  connection_->output().Append(request);
  awaited_sizes_.push_back(request.size());
  awaited_bytes_ += request.size();
  has_unsent_ = true;
  spoke_at_ = now();
  machine_.OnSent(spoke_at_);
}

void SlotExport::Flush() {
  if (std::exchange(has_unsent_, false) && connection_ != nullptr) connection_->Send();
}

// Notifies the owner of pauses, and closes the connection at the end.
void SlotExport::Settle() {
  Flush();
  if (std::exchange(is_paused_, machine_.IsPaused()) != machine_.IsPaused()) {
    const bool has_failed = machine_.state() == ExportMachine::State::kFailed;
    if (has_failed && has_granted_) owner_.OnGivenUpGrant(machine_.WasRefused());
    owner_.OnPause();
  }
  if (!has_ended() || is_receiving_) return;
  connection_.reset();
  copy_.reset();
}

bool SlotExport::HasRoom() const { return awaited_bytes_ < kMostAwaitedBytes; }

bool SlotExport::HasWork() const {
  return machine_.state() == ExportMachine::State::kCopying && copy_ && HasRoom();
}

void SlotExport::CopySome(Micros budget) {
  const Micros end = engine_.host().stopwatch() + budget;
  while (!copy_->IsDone() && HasRoom()) {
    copy_->Step();
    if (engine_.host().stopwatch() >= end) break;
  }
  if (copy_->IsDone()) machine_.OnCopied(now());
}

void SlotExport::Tick(Micros budget) {
  if (HasWork()) CopySome(budget);
  Advance();
  SendSignOfLife();
  Settle();
}

// Makes the steps that the surroundings allow.
void SlotExport::Advance() {
  Flush();
  for (;;) {
    const Step step = machine_.OnTick(now(), SurroundingsNow(), LimitsNow());
    if (step == Step::kNone) break;
    Make(step);
  }
}

void SlotExport::SendSignOfLife() {
  const bool may = machine_.SendsChanges() && machine_.awaited() == 0;
  if (may && now() - spoke_at_ >= kBetweenSigns) Send({"CLUSTER", "SYNCSLOTS", "ACK"});
}

bool SlotExport::IsOwnedBy(const ClusterNode& node) const {
  bool is_owned = true;
  slots_.ForEach([&](size_t slot) { is_owned &= topology_.OwnerOf(slot) == &node; });
  return is_owned;
}

ExportMachine::Surroundings SlotExport::SurroundingsNow() const {
  const ClusterNode* target = topology_.Find(description_.target_id);
  return {.owns_slots = !topology_.self().is_replica && IsOwnedBy(topology_.self()),
          .target_owns_slots = target != nullptr && IsOwnedBy(*target),
          .target_is_master = target != nullptr && !target->is_replica && !target->has_failed,
          .may_pause = !engine_.clients().pause().IsOn(ClientPause::Cause::kFailover,
                                                       engine_.store().now()) &&
                       owner_.MayPause(),
          .writes_are_stopped = !engine_.units().IsInTransaction(),
          .unsent_bytes = connection_ == nullptr ? 0 : connection_->unsent_bytes()};
}

ExportMachine::Limits SlotExport::LimitsNow() const {
  const Settings& settings = engine_.settings();
  return {
      .silence = std::chrono::seconds(settings.repl_timeout),
      .pause = Millis(settings.cluster_manual_failover_timeout),
      .grant = Millis(settings.cluster_node_timeout / 2),
      .most_unsent_at_pause = settings.slot_migration_max_failover_repl_bytes,
      .most_unsent = static_cast<size_t>(settings.client_output_buffer_limit.replica.hard_bytes)};
}

void SlotExport::Fail(std::string_view reason) {
  machine_.Fail(now(), reason);
  Settle();
}

bool SlotExport::Cancel() {
  if (!machine_.Cancel(now())) return false;
  Settle();
  return true;
}

SlotMigrationView SlotExport::View() const {
  const Micros wall_clock = engine_.host().wall_clock();
  const auto seconds = [&](Millis time) {
    return std::chrono::floor<std::chrono::seconds>(wall_clock - (now() - time)).count();
  };
  SlotMigrationView view = description_;
  view.state = machine_.state_text();
  view.message = machine_.message();
  view.updated = seconds(machine_.updated());
  view.acknowledged = seconds(machine_.acknowledged());
  return view;
}

}  // namespace zsetd
