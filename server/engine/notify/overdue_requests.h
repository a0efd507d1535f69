#pragma once

#include <cstddef>
#include <deque>
#include <string_view>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

class Client;
class Store;
struct Command;
struct Host;

// Requests on values in which very many elements are past their deadline.
//
// Due elements must be removed before a request reads the value, so that counts, ranks and results
// are exact. Requests remove a bounded number themselves. If more are due, the request is
// postponed, and ticks remove the rest in slices; other requests are served in between.
//
//   request ──► MayRun() ── yes ──► the command
//                   │ no
//                   ▼
//               Postpone() ──► queue ──► ClearFirst(), in every tick ──► the command
//                                 ▲              │ not yet
//                                 └──────────────┘
//
// This covers only keys that are known before the command runs. Due elements of keys that a script
// opens without naming them, and of keys that SORT finds by a pattern, are removed completely when
// the key is opened. So are all due elements while active expiry is off.
//
// Invariant: each client in the queue has a request in `postponed_request`.
class OverdueRequests {
 public:
  // All of them outlive it.
  OverdueRequests(Store& store, const Host& host);
  OverdueRequests(const OverdueRequests&) = delete;

  // Removes due elements in the keys of the request, or of the transaction that it runs, up to a
  // limit for all requests between two ticks. Returns whether none is left.
  bool MayRun(const Client& client, const Command& command, Args argv);

  // Like the function above, for one key.
  bool MayOpen(int database, std::string_view key);

  // Queues the client's request.
  void Postpone(Client& client, Args argv);

  // Removes the client and its request; no effect if it is not queued. O(queued clients).
  void Remove(Client& client);

  bool empty() const { return queue_.empty(); }
  size_t size() const { return queue_.size(); }

  // A tick begins: requests may remove some again.
  void BeginTick();

  // The first client of the queue, which is not empty.
  const Client& first() const { return *queue_.front(); }

  // Removes due elements in the keys of the first client's request, which is for `command`, until
  // none is left or the stopwatch shows `until`, but at least some. False if due elements may be
  // left.
  bool ClearFirst(const Command& command, Micros until);

  // The first client goes to the end of the queue.
  void MoveFirstToEnd();

  // Removes and returns the first client, with its request.
  struct Request {
    Client* client;
    OwnedArgs argv;
  };
  Request TakeFirst();

 private:
  static std::vector<std::string_view> KeysOf(const Client& client, const Command& command,
                                              Args argv);

  Store& store_;
  const Host& host_;
  std::deque<Client*> queue_;
  size_t removable_;  // elements, by requests before the next tick
};

}  // namespace zsetd
