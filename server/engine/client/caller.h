#pragma once

#include <bitset>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/hashing/key_slot.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply_writer.h"
#include "server/engine/client/transaction.h"

namespace zsetd {

class Client;
class User;

// The party whose commands run: a client, a script, a log or master whose requests are applied, or
// the rest of a unit whose client has disconnected. A command reads from it the permissions, the
// database and the protocol that apply, and writes the reply to it. Only a client has a connection
// and receives messages.
class Caller {
 public:
  // A caller that is no client. The addresses only describe it, in SLOWLOG and similar commands.
  Caller(uint64_t caller_id, std::string its_address, std::string its_local_address)
      : Caller(caller_id, std::move(its_address), std::move(its_local_address), nullptr) {}
  Caller(const Caller&) = delete;

  // The client that this is, or null for a script and for applied requests.
  Client* client() { return client_; }
  const Client* client() const { return client_; }

  // The user whose permissions it has. Set before it runs commands. Null for the master, of which
  // CLIENT LIST shows a description.
  const User* user() const { return user_; }

  // Whether it has been let in: by a password, or because the default user needs none.
  bool authenticated() const { return authenticated_; }

  // Whether a command of it may block, or leave the rest of its reply for later. A transaction and
  // a script continue with the next command immediately.
  bool MayBlock() const { return client_ != nullptr && !transaction.open; }

  bool IsOnUnixSocket() const { return address == local_address; }

  // Whether it is connected from this machine.
  bool IsLocal() const {
    return IsOnUnixSocket() || address.starts_with("127.0.0.1:") || address.starts_with("[::1]:");
  }

  const uint64_t id;                // unique among clients; 0: not a client's
  const std::string address;        // "127.0.0.1:50000"
  const std::string local_address;  // "127.0.0.1:6379"
  std::string name;                 // CLIENT SETNAME

  OutputBuffer replies;        // to its commands; of a client, also messages between them
  ReplyWriter reply{replies};  // writes replies; its protocol is the caller's
  Transaction transaction;
  int database = 0;
  bool no_touch = false;   // CLIENT NO-TOUCH
  bool asking = false;     // ASKING: the next request may use slots that are being imported
  bool read_only = false;  // READONLY: a replica may serve its reads
  bool suspended = false;  // its command is a script that is suspended

  // In cluster mode, the slot of all keys of its request or transaction; nullopt without keys.
  KnownSlot slot;

  // The slots that it moves to this node (SlotMigrationControl): their keys are served although
  // another node owns them. Null: none.
  const std::bitset<kSlotCount>* imported_slots = nullptr;

  // Positions of the log that must be durable before replies are sent (ReplyHolds): the end of
  // its last unit, and the last change of the data that it has read.
  uint64_t propagated_until = 0;
  uint64_t read_until = 0;

  // The end of its last unit in the stream for replicas.
  int64_t streamed_until = 0;

 protected:
  Caller(uint64_t caller_id, std::string its_address, std::string its_local_address, Client* client)
      : id(caller_id),
        address(std::move(its_address)),
        local_address(std::move(its_local_address)),
        client_(client) {}

 private:
  friend class AccessControl;
  const User* user_ = nullptr;
  bool authenticated_ = true;
  Client* const client_;
};

}  // namespace zsetd
