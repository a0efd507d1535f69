#include "server/engine/propagation/effects.h"

#include <cassert>
#include <string>
#include <utility>

#include "protocol/text/number_text.h"
#include "protocol/text/short_copy.h"

namespace zsetd {
namespace {

void AppendHeader(OutputBuffer& out, char kind, size_t count) {
  char* at = out.Extend(kNumberBytes + 3);
  *at++ = kind;
  at = FormatInteger(static_cast<int64_t>(count), at);
  *at++ = '\r';
  *at++ = '\n';
  out.EndAt(at);
}

void AppendWord(OutputBuffer& out, std::string_view word) {
  AppendHeader(out, '$', word.size());
  char* const to = out.Extend(word.size() + 2);
  CopyBytes(to, word);
  to[word.size()] = '\r';
  to[word.size() + 1] = '\n';
}

void AppendRequest(OutputBuffer& out, Args words) {
  AppendHeader(out, '*', words.size());
  for (const std::string_view word : words) AppendWord(out, word);
}

}  // namespace

void Effects::set_log(Journal* journal) {
  assert(commands_ == 0 && messages_.empty());
  log_ = journal;
  ForgetDatabase();
  Update();
}

void Effects::set_stream(Journal* journal) {
  Commit();
  stream_ = journal;
  ForgetDatabase();
  Update();
}

void Effects::set_passes_on(bool passes_on) {
  Commit();
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
  listening_ = (log_ != nullptr || OwnStream() != nullptr) && !muted_;
  takes_messages_ = listening_ && OwnStream() != nullptr;
}

void Effects::Add(int database, Args words) {
  if (!listening_) return;
  Begin(database, words.size());
  for (const std::string_view word : words) AppendWord(unit_, word);
}

void Effects::Begin(int database, size_t words) {
  if (!listening_) return;
  if (commands_ == 1) Frame();
  NameDatabase(database);
  ++commands_;
  AppendHeader(unit_, '*', words);
}

void Effects::NameDatabase(int database) {
  if (std::exchange(database_, database) == database) return;
  const std::string number = IntegerText(database);
  const std::string_view select[] = {"SELECT", number};
  AppendRequest(unit_, select);
}

void Effects::AddWord(std::string_view word) {
  if (listening_) AppendWord(unit_, word);
}

void Effects::AddMessage(Args words) {
  if (takes_messages_) AppendRequest(messages_, words);
}

// Few units have a second request, so MULTI is put before the first when the second comes. A long
// first one is not copied for that.
void Effects::Frame() {
  constexpr std::string_view kMulti[] = {"MULTI"};
  OutputBuffer first = std::exchange(unit_, OutputBuffer());
  AppendRequest(unit_, kMulti);
  unit_.Take(first);
}

// The log takes the bytes; the stream copies what it keeps.
Effects::Ends Effects::CommitCollected() {
  constexpr std::string_view kExec[] = {"EXEC"};
  Ends ends;
  if (commands_ > 1) AppendRequest(unit_, kExec);
  if (std::exchange(commands_, 0) > 0) {
    if (OwnStream() != nullptr) ends.stream = stream_->Append(unit_);
    if (log_ != nullptr) ends.log = log_->Append(unit_);
    unit_.Clear();
  }
  if (!messages_.empty()) {
    if (OwnStream() != nullptr) stream_->Append(messages_);
    messages_.Clear();
  }
  return ends;
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
