#include "server/engine/propagation/effects.h"

#include <cassert>
#include <string>
#include <utility>

#include "protocol/text/number_text.h"
#include "protocol/text/short_copy.h"

namespace zsetd {
namespace {

constexpr size_t kHeaderBytes = kNumberBytes + 3;

char* EndLine(char* at) {
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

// Writes "$12", or its like, and returns where its line ends.
char* WriteHeader(char* at, char kind, size_t count) {
  *at++ = kind;
  if (count < 10) {
    *at++ = static_cast<char>('0' + count);
  } else {
    at = FormatInteger(static_cast<int64_t>(count), at);
  }
  return EndLine(at);
}

char* WriteWord(char* at, std::string_view word) {
  return EndLine(CopyBytes(WriteHeader(at, '$', word.size()), word));
}

void AppendHeader(OutputBuffer& out, char kind, size_t count) {
  out.EndAt(WriteHeader(out.Extend(kHeaderBytes), kind, count));
}

void AppendWord(OutputBuffer& out, std::string_view word) {
  out.EndAt(WriteWord(out.Extend(kHeaderBytes + word.size() + 2), word));
}

// The most that the request takes.
size_t MostBytes(std::string_view name, Args rest) {
  size_t bytes = (rest.size() + 2) * (kHeaderBytes + 2) + name.size();
  for (const std::string_view word : rest) bytes += word.size();
  return bytes;
}

// Most requests are short, and written in one go.
void AppendRequest(OutputBuffer& out, std::string_view name, Args rest) {
  constexpr size_t kShortRequest = 4096;
  const size_t most = MostBytes(name, rest);
  if (most > kShortRequest) {
    AppendHeader(out, '*', rest.size() + 1);
    AppendWord(out, name);
    for (const std::string_view word : rest) AppendWord(out, word);
    return;
  }
  char* at = WriteHeader(out.Extend(most), '*', rest.size() + 1);
  at = WriteWord(at, name);
  for (const std::string_view word : rest) at = WriteWord(at, word);
  out.EndAt(at);
}

void AppendRequest(OutputBuffer& out, Args words) {
  AppendRequest(out, words[0], words.subspan(1));
}

}  // namespace

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
  listening_ = (log_ != nullptr || OwnStream() != nullptr) && !muted_;
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
  AppendHeader(unit_, '*', words);
}

void Effects::BeginRequest(int database) {
  if (commands_ == 1) Frame();
  if (commands_ == 0) unit_database_ = database;
  NameDatabase(database);
  ++commands_;
}

void Effects::NameDatabase(int database) {
  if (std::exchange(database_, database) == database) return;
  const std::string number = IntegerText(database);
  const std::string_view select[] = {"SELECT", number};
  AppendRequest(unit_, select);
}

// The unit gets a reader that is in an unknown database.
void Effects::NameDatabaseOfUnit() {
  OutputBuffer unit = std::exchange(unit_, OutputBuffer());
  const std::string number = IntegerText(unit_database_);
  const std::string_view select[] = {"SELECT", number};
  AppendRequest(unit_, select);
  unit_.Take(unit);
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
