#include "server/engine/notify/monitors.h"

#include <cassert>
#include <cstdio>

#include "protocol/text/number_text.h"
#include "server/engine/client/client.h"
#include "server/engine/command/command.h"
#include "server/engine/command/redaction.h"

namespace zsetd {
namespace {

// The letter that represents a byte after a backslash; 0 for other bytes.
char EscapeLetter(char byte) {
  switch (byte) {
    case '\\':
    case '"':
      return byte;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    default:
      return 0;
  }
}

void AppendByte(char byte, std::string& line) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(byte);
  if (const char letter = EscapeLetter(byte)) {
    line += {'\\', letter};
  } else if (code < ' ' || code > '~') {
    line += {'\\', 'x', kDigits[code >> 4], kDigits[code & 0xf]};
  } else {
    line += byte;
  }
}

std::string TimeText(Micros at) {
  constexpr int64_t kPerSecond = 1'000'000;
  char micros[32];
  std::snprintf(micros, sizeof(micros), ".%06lld", static_cast<long long>(at.count() % kPerSecond));
  return IntegerText(at.count() / kPerSecond) + micros;
}

std::string SourceOf(const Caller& by) { return by.client() == nullptr ? "lua" : by.address; }

std::string LineOf(const Caller& by, Args argv, Micros at) {
  std::string line = TimeText(at) + " [" + IntegerText(by.database) + " " + SourceOf(by) + "]";
  for (const std::string_view word : argv) {
    line += " \"";
    for (const char byte : word) AppendByte(byte, line);
    line += '"';
  }
  return line;
}

}  // namespace

void Monitors::Add(Client& client) {
  assert(!client.monitors());
  client.monitors_ = true;
  clients_.push_back(&client);
}

void Monitors::Remove(Client& client) {
  if (!client.monitors()) return;
  client.monitors_ = false;
  std::erase(clients_, &client);
}

void Monitors::Send(const Caller& by, const Command& command, Args argv, Micros at) const {
  if (command.Has(kAdmin)) return;
  const std::string line = LineOf(by, WithoutSecrets(command, argv), at);
  for (Client* client : clients_) {
    if (client->connection.close_after_reply) continue;  // its last reply has been written
    if (!client->output.RepliesEnabled()) continue;
    client->mailbox.Push([&](ReplyWriter& reply) { reply.Simple(line); });
  }
}

}  // namespace zsetd
