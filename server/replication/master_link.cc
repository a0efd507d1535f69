#include "server/replication/master_link.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "protocol/resp/request_writer.h"
#include "protocol/text/number_text.h"
#include "server/engine/state/replication_state.h"

namespace zsetd {
namespace {

constexpr size_t kMostLineBytes = 1024;  // no reply of a master is longer
constexpr size_t kIdBytes = 40;
constexpr size_t kMarkBytes = 40;
constexpr std::string_view kMarked = "EOF:";

// Takes the first word of a line and the space after it.
std::string_view TakeWord(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

bool IsError(std::string_view line) { return line.starts_with('-'); }

bool HasCode(std::string_view line, std::string_view code) {
  return line.size() > code.size() && line.substr(1).starts_with(code) &&
         (line.size() == code.size() + 1 || line[code.size() + 1] == ' ');
}

// Whether this reply to PING is from a working master: PONG, or an error that requires
// authentication.
bool IsAlive(std::string_view line) {
  return line.starts_with('+') || HasCode(line, "NOAUTH") || HasCode(line, "NOPERM") ||
         line.starts_with("-ERR operation not permitted");
}

}  // namespace

MasterLink::MasterLink(LinkOptions options, Listener& listener)
    : options_(std::move(options)), listener_(listener) {}

void MasterLink::Start(OutputBuffer& out) {
  assert(state_ == State::kIdle);
  state_ = State::kGreeting;
  AppendRequest(out, {"PING"});
}

void MasterLink::Receive(std::string_view bytes, OutputBuffer& out) {
  assert(state_ != State::kIdle);
  while (!bytes.empty() && state_ != State::kFailed) {
    if (state_ == State::kStream) return listener_.OnStream(bytes);
    if (state_ == State::kSnapshot) {
      bytes.remove_prefix(TakeSnapshot(bytes));
      continue;
    }
    const size_t count = TakeLine(bytes);
    const bool is_whole = bytes[count - 1] == '\n';
    bytes.remove_prefix(count);
    if (!is_whole) continue;
    std::string line = std::exchange(line_, {});
    if (line.ends_with('\r')) line.pop_back();
    OnLine(line, out);
  }
}

// Adds bytes up to the next line feed to `line_`, without the line feed. Returns the number of
// bytes taken.
size_t MasterLink::TakeLine(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  const std::string_view part = bytes.substr(0, end);
  if (line_.size() + part.size() > kMostLineBytes) {
    Fail("the master sent a line that is too long for a reply");
    return bytes.size();
  }
  line_ += part;
  return end == std::string_view::npos ? bytes.size() : end + 1;
}

void MasterLink::OnLine(std::string_view line, OutputBuffer& out) {
  if (line.empty()) return;  // a sign of life
  switch (state_) {
    case State::kGreeting:
      return OnGreeted(line, out);
    case State::kIntroduction:
      return OnIntroduced(line, out);
    case State::kSync:
      return OnSyncReply(line, out);
    case State::kPreparation:
      return OnSnapshotHeader(line);
    default:
      return;
  }
}

void MasterLink::OnGreeted(std::string_view line, OutputBuffer& out) {
  if (!IsAlive(line)) return Fail("unexpected reply to PING: " + std::string(line));
  state_ = State::kIntroduction;
  Introduce(out);
}

// Sends all requests together. The replies arrive in the same order.
void MasterLink::Introduce(OutputBuffer& out) {
  if (!options_.password.empty()) {
    asked_.push_back({Question::kAuth, "AUTH"});
    if (options_.user.empty()) {
      AppendRequest(out, {"AUTH", options_.password});
    } else {
      AppendRequest(out, {"AUTH", options_.user, options_.password});
    }
  }
  asked_.push_back({Question::kPort, "REPLCONF listening-port"});
  AppendRequest(out, {"REPLCONF", "listening-port", std::to_string(options_.port)});
  if (!options_.address.empty()) {
    asked_.push_back({Question::kOptional, "REPLCONF ip-address"});
    AppendRequest(out, {"REPLCONF", "ip-address", options_.address});
  }
  asked_.push_back({Question::kOptional, "REPLCONF capa"});
  AppendRequest(out, {"REPLCONF", "capa", "eof", "capa", "psync2"});
  asked_.push_back({Question::kOptional, "REPLCONF version"});
  AppendRequest(out, {"REPLCONF", "version", options_.version});
}

// An error reply to an optional request is ignored: the master does not know the option.
void MasterLink::OnIntroduced(std::string_view line, OutputBuffer& out) {
  assert(!asked_.empty());
  const Asked asked = asked_.front();
  asked_.pop_front();
  const bool needs_authentication = HasCode(line, "NOAUTH") || HasCode(line, "NOPERM");
  if (IsError(line) && (asked.question == Question::kAuth || needs_authentication)) {
    return Fail("the master refuses " + std::string(asked.what) + ": " + std::string(line));
  }
  if (asked_.empty()) AskForSync(out);
}

void MasterLink::AskForSync(OutputBuffer& out) {
  state_ = State::kSync;
  const auto& from = options_.continuing;
  if (from && options_.takes_over) {
    AppendRequest(out, {"PSYNC", from->id, std::to_string(from->offset + 1), "FAILOVER"});
  } else if (from) {
    AppendRequest(out, {"PSYNC", from->id, std::to_string(from->offset + 1)});
  } else {
    AppendRequest(out, {"PSYNC", "?", "-1"});
  }
}

// A master before Redis 2.8 does not know PSYNC.
void MasterLink::OnSyncReply(std::string_view line, OutputBuffer& out) {
  std::string_view rest = line;
  const std::string_view word = TakeWord(rest);
  constexpr std::string_view kIsMaster = "can't be sent to a master";
  is_takeover_done_ = word.starts_with('+') || line.find(kIsMaster) != std::string_view::npos;
  if (word == "+FULLRESYNC") return OnFullResync(rest);
  if (word == "+CONTINUE") return OnContinued(rest);
  is_takeover_refused_ = options_.takes_over && !is_takeover_done_;
  if (word != "-ERR" || options_.takes_over)
    return Fail("unexpected reply to PSYNC: " + std::string(line));
  is_old_ = true;
  state_ = State::kPreparation;
  AppendRequest(out, {"SYNC"});
  listener_.OnFullSync(std::nullopt);
}

void MasterLink::OnFullResync(std::string_view arguments) {
  ReplicationPosition position;
  position.id = TakeWord(arguments);
  if (position.id.size() != kIdBytes || !ReadInteger(TakeWord(arguments), position.offset) ||
      position.offset < 0 || position.offset > kMostFirstOffset) {
    return Fail("the position in the master's +FULLRESYNC is invalid");
  }
  state_ = State::kPreparation;
  listener_.OnFullSync(position);
}

void MasterLink::OnContinued(std::string_view arguments) {
  const std::string_view id = TakeWord(arguments);
  if (!options_.continuing) return Fail("the master sent +CONTINUE, but no position was requested");
  if (!id.empty() && id.size() != kIdBytes)
    return Fail("the ID in the master's +CONTINUE is invalid");
  state_ = State::kStream;
  listener_.OnContinue(id == options_.continuing->id ? "" : id);
}

void MasterLink::OnSnapshotHeader(std::string_view line) {
  if (IsError(line)) return Fail("the master cannot send a snapshot: " + std::string(line));
  if (!line.starts_with('$')) return Fail("the header of the snapshot is invalid");
  line.remove_prefix(1);
  if (line.starts_with(kMarked)) {
    mark_ = line.substr(kMarked.size());
    if (mark_.size() != kMarkBytes)
      return Fail("the end mark of the snapshot has the wrong length");
    state_ = State::kSnapshot;
    return listener_.OnSnapshot(std::nullopt);
  }
  const auto size = ParseInteger(line);
  if (!size || *size < 0) return Fail("the size of the snapshot is invalid");
  snapshot_left_ = static_cast<uint64_t>(*size);
  state_ = State::kSnapshot;
  listener_.OnSnapshot(snapshot_left_);
  if (snapshot_left_ == 0) EndSnapshot();
}

size_t MasterLink::TakeSnapshot(std::string_view bytes) {
  if (!mark_.empty()) return TakeUntilMark(bytes);
  const size_t count = std::min<uint64_t>(bytes.size(), snapshot_left_);
  snapshot_left_ -= count;
  listener_.OnSnapshotBytes(bytes.substr(0, count));
  if (snapshot_left_ == 0) EndSnapshot();
  return count;
}

// Holds back mark length - 1 bytes, which may be the start of the end mark.
size_t MasterLink::TakeUntilMark(std::string_view bytes) {
  const size_t held_bytes = held_.size();
  assert(held_bytes < kMarkBytes);
  const std::string seam = held_ + std::string(bytes.substr(0, kMarkBytes - 1));
  size_t mark_at = seam.find(mark_);  // from the first byte of `held_`
  if (mark_at == std::string::npos) {
    const size_t found = bytes.find(mark_);
    if (found != std::string_view::npos) mark_at = held_bytes + found;
  }
  const bool is_end = mark_at != std::string::npos;
  const size_t known = held_bytes + bytes.size();
  const size_t passed = is_end ? mark_at : known - std::min(known, kMarkBytes - 1);
  const size_t of_held = std::min(passed, held_bytes);
  const size_t of_bytes = passed - of_held;
  if (of_held > 0) listener_.OnSnapshotBytes(std::string_view(held_).substr(0, of_held));
  if (of_bytes > 0) listener_.OnSnapshotBytes(bytes.substr(0, of_bytes));
  if (is_end) {
    EndSnapshot();
    return mark_at + kMarkBytes - held_bytes;
  }
  held_.erase(0, of_held);
  held_ += bytes.substr(of_bytes);
  return bytes.size();
}

void MasterLink::EndSnapshot() {
  assert(state_ == State::kSnapshot);
  mark_.clear();
  held_.clear();
  state_ = State::kStream;
  listener_.OnSnapshotEnd();
}

void MasterLink::Fail(std::string reason) {
  state_ = State::kFailed;
  failure_ = std::move(reason);
}

}  // namespace zsetd
