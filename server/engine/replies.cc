#include "server/engine/replies.h"

#include <cassert>

#include "server/engine/client/client.h"
#include "server/engine/clients.h"

namespace zsetd {
namespace {

constexpr size_t kReplyPieceBytes = 16u << 10;  // short elements: written in half a millisecond
constexpr size_t kLowReplyLimit = 64u << 10;

void DeliverPushes(Client& client) {
  if (client.output.pending_pushes.empty()) return;
  client.output.buffer.Take(client.output.pending_pushes);
}

}  // namespace

void Replies::End(Client& client, size_t reply_start) {
  if (client.IsReplica()) CheckReplica(client, reply_start);
  if (!client.IsWaiting()) LeaveOutUnwanted(client, reply_start);
  if (client.reply.IsFull() && !client.connection.close_now) clients_.CloseForOutputLimit(client);
  if (!client.output.long_reply) DeliverPushes(client);
}

// As in Redis, a replica whose command replies is closed. Its output is the stream, which neither
// replies nor messages may divide.
void Replies::CheckReplica(Client& client, size_t reply_start) {
  const bool replies = client.output.buffer.size() > reply_start || client.output.long_reply ||
                       !client.output.pending_pushes.empty();
  client.output.pending_pushes.Clear();
  if (replies && !client.connection.close_now) clients_.CloseForReply(client);
}

// Discards the reply if CLIENT REPLY is off.
void Replies::LeaveOutUnwanted(Client& client, size_t reply_start) {
  using Mode = ClientOutput::ReplyMode;
  const Mode mode = client.output.reply_mode;
  if (!client.output.RepliesEnabled()) {
    client.output.buffer.Truncate(reply_start);
    clients_.EndLongReply(client);
  }
  if (mode == Mode::kSkipThis) client.output.reply_mode = Mode::kOn;
  if (mode == Mode::kSkipNext) client.output.reply_mode = Mode::kSkipThis;
}

void Replies::EndQueued(Client& client, size_t reply_start) {
  const bool is_too_long =
      client.reply.IsFull() || client.output.buffer.size() > clients_.MostReplyBytes();
  if (is_too_long && !client.connection.close_now) clients_.CloseForOutputLimit(client);
  if (client.connection.close_now) client.output.buffer.Truncate(reply_start);
}

void Replies::Continue(Client& client) {
  assert(client.output.long_reply != nullptr);
  // A low limit is exceeded by the first piece, as it is in Redis, which writes the whole reply.
  const bool is_limit_low = clients_.MostReplyBytes() < kLowReplyLimit;
  const size_t enough =
      client.output.buffer.size() + (is_limit_low ? kLowReplyLimit : kReplyPieceBytes);
  bool more = true;
  while (more && client.output.buffer.size() < enough && !client.reply.IsFull()) {
    const size_t before = client.output.buffer.size();
    more = client.output.long_reply->WriteNext(client.reply);
    if (client.output.buffer.size() == before) break;  // a step of work, which took its time
  }
  client.NoteMemory();
  if (client.reply.IsFull()) return clients_.CloseForOutputLimit(client);
  if (more) return;
  clients_.EndLongReply(client);
  DeliverPushes(client);
}

}  // namespace zsetd
