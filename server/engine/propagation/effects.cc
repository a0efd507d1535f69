#include "server/engine/propagation/effects.h"

#include <cassert>
#include <string>
#include <utility>

#include "protocol/text/number_text.h"

namespace zsetd {

void Effects::set_log(Journal* journal) {
  assert(journal == nullptr || commands_ == 0);
  log_ = journal;
  ForgetDatabase();
  Update();
}

void Effects::set_stream(Journal* journal) {
  assert(journal == nullptr || commands_ == 0);
  stream_ = journal;
  ForgetDatabase();
  Update();
}

void Effects::set_migrations(Journal* journal) {
  assert(journal == nullptr || commands_ == 0);
  migrations_ = journal;
  Update();
}

void Effects::set_passes_on(bool passes_on) {
  assert(!passes_on || commands_ == 0);
  if (commands_ > 0) NameDatabaseOfUnit();
  passes_on_ = passes_on;
  ForgetDatabase();
  Update();
}

void Effects::Mute(bool muted) {
  assert(commands_ == 0 && messages_.empty());
  muted_ = muted;
  Update();
}

void Effects::Update() {
  const bool has_journal = log_ != nullptr || OwnStream() != nullptr || migrations_ != nullptr;
  listening_ = has_journal && !muted_;
  takes_messages_ = listening_ && OwnStream() != nullptr;
}

void Effects::Add(int database, std::string_view name, Args rest) {
  if (!listening_) return;
  BeginRequest(database);
  AppendRequest(unit_, name, rest);
}

void Effects::Begin(int database, size_t words) {
  if (!listening_) return;
  BeginRequest(database);
  writer_.Begin(words);
}

void Effects::BeginRequest(int database) {
  assert(open_units_ > 0);
  assert(writer_.IsWhole());
  if (commands_ == 1) Frame();
  if (commands_ == 0) unit_database_ = database;
  NameDatabase(database);
  ++commands_;
}

void Effects::NameDatabase(int database) {
  if (std::exchange(database_, database) == database) return;
  AppendRequest(unit_, {"SELECT", IntegerText(database)});
}

// The unit gets a reader that is in an unknown database.
void Effects::NameDatabaseOfUnit() {
  OutputBuffer unit = std::exchange(unit_, OutputBuffer());
  AppendRequest(unit_, {"SELECT", IntegerText(unit_database_)});
  unit_.Take(unit);
}

void Effects::AddWord(std::string_view word) {
  if (listening_) writer_.Add(word);
}

void Effects::AddMessage(Args words) {
  if (!takes_messages_) return;
  assert(open_units_ > 0);
  AppendRequest(messages_, words);
}

// Few units have a second request, so MULTI is put before the first when the second comes. A long
// first one is not copied for that.
void Effects::Frame() {
  OutputBuffer first = std::exchange(unit_, OutputBuffer());
  AppendRequest(unit_, {"MULTI"});
  unit_.Take(first);
}

// The log takes the bytes; the stream copies what it keeps.
Effects::JournalPositions Effects::Commit() {
  assert(writer_.IsWhole());
  JournalPositions positions;
  if (commands_ > 1) AppendRequest(unit_, {"EXEC"});
  if (std::exchange(commands_, 0) > 0) {
    if (OwnStream() != nullptr) positions.stream = stream_->Append(unit_);
    if (migrations_ != nullptr) migrations_->Append(unit_);
    if (log_ != nullptr) positions.log = log_->Append(unit_);
    unit_.Clear();
  }
  if (!messages_.empty()) {
    if (OwnStream() != nullptr) stream_->Append(messages_);
    messages_.Clear();
  }
  return positions;
}

void Effects::AppendApplied(std::string_view unit, int database_before, int database_after) {
  assert(muted_ && commands_ == 0);
  if (log_ == nullptr) return;
  NameDatabase(database_before);
  unit_.Append(unit);
  log_->Append(unit_);
  unit_.Clear();
  database_ = database_after;
}

void Effects::AppendToStream(std::string_view bytes) {
  assert(commands_ == 0 && messages_.empty());
  if (stream_ == nullptr) return;
  messages_.Append(bytes);
  stream_->Append(messages_);
  messages_.Clear();
}

}  // namespace zsetd
