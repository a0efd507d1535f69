// Propagation: the requests by which a log and replicas arrive at the same data.
//
//   command ──► Edit, Database ──► Change ──► watches, blocked clients, tracking, notifications
//      │                              └─ expired, evicted: DEL ─┐
//      ├─ Call::Propagate(...), or else the request itself ─────┴──► Effects ───► Unit ──► Journals
//      └─ request ───► MONITOR, SLOWLOG
//
// A Change says that a key changed, not how. Effects are requests that repeat the change. Most
// commands are their own effect. Commands whose result depends on the time, on random numbers, on
// the order of a hash table or on the platform's mathematics propagate other requests instead,
// which redis-server 7.0 understands.
//
// A unit is atomic: a command, a whole EXEC, a script with all its commands, one key that expires
// or is evicted outside of a command, one blocked client that is served. Its effects are collected
// here and passed to the journals when it ends, never before: to the append-only log and to the
// stream for replicas, as far as these exist.
//
// Without a journal nothing is collected: each command pays for one test.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "protocol/resp/args.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request_writer.h"
#include "server/engine/propagation/journal.h"

namespace zsetd {

class Effects {
 public:
  // The most members, fields or elements that one request names; more come in several. As in Redis,
  // so that no request is long for those who read it.
  static constexpr size_t kMostItems = 1024;

  Effects() = default;
  Effects(const Effects&) = delete;

  // Where a unit ends: 0 where it was not appended.
  struct JournalPositions {
    uint64_t log = 0;
    uint64_t stream = 0;
  };

  // The journals, or null. They outlive this, or are replaced. A journal is added
  // between two units (Units::AfterUnit). It may be removed at any time, and does not receive
  // the running unit then: no journal ever receives a part of a unit.
  void set_log(Journal* journal);
  void set_stream(Journal* journal);
  bool has_stream() const { return stream_ != nullptr; }

  // Like the other journals, for the slots that move to other nodes. It does not take the bytes.
  void set_migrations(Journal* journal);

  // Whether the stream is another server's, and passed on (AppendToStream): changes made here are
  // not in it. Set between two units. If it is reset while a unit runs, the stream receives the
  // whole unit.
  void set_passes_on(bool passes_on);
  bool passes_on() const { return passes_on_; }

  // Whether effects are collected.
  bool IsOn() const { return listening_; }
  bool TakesMessages() const { return takes_messages_; }

  // The next request names its database again: a journal begins something that is read without
  // the units before, such as another file.
  void ForgetDatabase() { database_ = kUnknown; }

  // The database that the readers of the journals are in; nothing if the next unit names its own.
  std::optional<int> database() const {
    return database_ == kUnknown ? std::nullopt : std::optional(database_);
  }

  // While muted, nothing is collected: the applied requests were propagated elsewhere (applier.h).
  void Mute(bool muted);
  bool is_muted() const { return muted_; }

  // Adds a request for a database to the unit, which is open (unit.h): at least one word, or its
  // name and its arguments. O(bytes).
  void Add(int database, std::string_view name, Args rest);
  void Add(int database, Args words) {
    assert(!words.empty());
    Add(database, words[0], words.subspan(1));
  }
  void Add(int database, std::initializer_list<std::string_view> words) {
    Add(database, Args(words.begin(), words.size()));
  }

  // Adds a request word by word: `words` calls of AddWord() must follow.
  void Begin(int database, size_t words);
  void AddWord(std::string_view word);

  // Adds a request that publishes a message.
  void AddMessage(Args words);

  // How many requests the running unit has.
  size_t commands() const { return commands_; }

  // Appends a unit from another server, which was applied (applier.h), to the log, unchanged. Its
  // reader must be in the first database at its start, and is in the other at its end. While muted.
  void AppendApplied(std::string_view unit, int database_before, int database_after);

  // Appends bytes to the stream as they are: requests that change nothing, such as PING, or what
  // another server propagates. Between two units.
  void AppendToStream(std::string_view bytes);

 private:
  static constexpr int kUnknown = -1;

  friend class Unit;
  void OpenUnit() { ++open_units_; }

  // Ends a scope of the unit. The last one hands the unit to the journals, and returns the
  // positions where it ends. O(1) for long units, unless there is a stream.
  JournalPositions CloseUnit() {
    assert(open_units_ > 0);
    const bool is_over = --open_units_ == 0 && (commands_ > 0 || !messages_.empty());
    return is_over ? Commit() : JournalPositions();
  }

  void Update();
  void BeginRequest(int database);
  void Frame();
  JournalPositions Commit();
  void NameDatabase(int database);
  void NameDatabaseOfUnit();

  Journal* OwnStream() const { return passes_on_ ? nullptr : stream_; }

  Journal* log_ = nullptr;
  Journal* stream_ = nullptr;
  Journal* migrations_ = nullptr;
  bool passes_on_ = false;
  bool muted_ = false;
  bool listening_ = false;  // there is a journal, and it is not muted
  bool takes_messages_ = false;
  int database_ = kUnknown;       // that the journals' readers are in
  int unit_database_ = kUnknown;  // of the running unit's first request
  size_t open_units_ = 0;         // scopes, of which the outermost is the unit
  size_t commands_ = 0;
  OutputBuffer unit_;
  RequestWriter writer_{unit_};  // of Begin() and AddWord()
  OutputBuffer messages_;
};

}  // namespace zsetd
