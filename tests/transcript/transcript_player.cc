#include "tests/transcript/transcript_player.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "protocol/resp/reply_reader.h"

namespace zsetd {
namespace {

constexpr Millis kUntilReply{60000};  // a server under a sanitizer on a busy machine
constexpr Millis kUntilMore{200};     // after a reply that is whole but wrong
constexpr Millis kUntilSilence{20};   // until the client is assumed to receive nothing
constexpr size_t kMaxFailures = 10;   // the replies after a wrong one are often wrong too

bool IsWhole(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto length = ReplyLength(bytes);
    if (!length) return false;
    bytes.remove_prefix(*length);
  }
  return true;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class Player {
 public:
  Player(const Transcript& transcript, Dialect dialect, Peer& peer)
      : transcript_(transcript), dialect_(dialect), peer_(peer) {}

  std::vector<TranscriptFailure> Play();

 private:
  void Play(const Step& step);
  void SendHello(const std::string& client);
  std::string Hear(const Step& step);
  std::string HearWholeReply(const std::string& client);
  void CheckNothingIsLeft();
  void Report(const Step& step, const std::vector<std::string>& expected, std::string_view heard);

  const Transcript& transcript_;
  const Dialect dialect_;
  Peer& peer_;
  std::set<std::string> clients_;
  std::vector<TranscriptFailure> failures_;
};

std::vector<TranscriptFailure> Player::Play() {
  for (const Step& step : transcript_.steps) {
    Play(step);
    if (failures_.size() >= kMaxFailures) return std::move(failures_);
  }
  CheckNothingIsLeft();
  return std::move(failures_);
}

void Player::Play(const Step& step) {
  if (step.kind == Step::Kind::kPass) return peer_.Pass(step.time);
  if (step.kind == Step::Kind::kSend) {
    SendHello(step.client);
    peer_.Send(step.client, step.bytes);
  }
  const Expectation& expected = step.Expected(dialect_);
  const std::string heard = Hear(step);
  const bool ended_as_expected = peer_.Closed(step.client) == expected.closed;
  if (!ended_as_expected || !Matches(expected, heard)) Report(step, ShowLines(expected), heard);
}

void Player::SendHello(const std::string& client) {
  clients_.insert(client);
  if (!peer_.Closed(client) || transcript_.protocol == 2) return;
  peer_.Send(client, Multibulk({"HELLO", std::to_string(transcript_.protocol)}));
  HearWholeReply(client);
}

std::string Player::HearWholeReply(const std::string& client) {
  std::string heard;
  do {
    const std::string more = peer_.Receive(client, kUntilReply);
    if (more.empty()) break;
    heard += more;
  } while (!IsWhole(heard));
  return heard;
}

std::string Player::Hear(const Step& step) {
  const Expectation& expected = step.Expected(dialect_);
  if (expected.waits) return peer_.Receive(step.client, kUntilSilence);
  std::string heard;
  while (!Matches(expected, heard) || !IsWhole(heard) || expected.closed) {
    const bool wrong = !heard.empty() && IsWhole(heard) && !expected.closed;
    const std::string more = peer_.Receive(step.client, wrong ? kUntilMore : kUntilReply);
    if (more.empty()) break;
    heard += more;
  }
  return heard;
}

void Player::CheckNothingIsLeft() {
  for (const std::string& client : clients_) {
    const std::string heard = peer_.Receive(client, kUntilSilence);
    if (!heard.empty()) {
      failures_.push_back(
          {0, "at the end " + client + " received, unexpected:\n" + Joined(ShowLines(heard))});
    }
  }
}

void Player::Report(const Step& step, const std::vector<std::string>& expected,
                    std::string_view heard) {
  std::vector<std::string> got = ShowLines(heard);
  if (heard.empty()) got.emplace_back("(nothing)");
  if (peer_.Closed(step.client)) got.emplace_back("(closed)");
  failures_.push_back({static_cast<int>(step.line_number),
                       step.line + "\nexpected:\n" + Joined(expected) + "got:\n" + Joined(got)});
}

}  // namespace

std::vector<TranscriptFailure> FindFailures(const Transcript& transcript, Dialect dialect,
                                            Peer& peer) {
  return Player(transcript, dialect, peer).Play();
}

void Report(const std::vector<TranscriptFailure>& failures, const std::string& path) {
  for (const TranscriptFailure& failure : failures) {
    ADD_FAILURE_AT(path.c_str(), failure.line_number) << failure.text;
  }
}

void Play(const Transcript& transcript, std::string_view path, Dialect dialect, Peer& peer) {
  Report(FindFailures(transcript, dialect, peer), std::string(path));
}

Transcript ReadTranscript(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path << " cannot be read";
  std::stringstream text;
  text << file.rdbuf();
  auto transcript = ParseTranscript(text.str());
  EXPECT_TRUE(transcript.ok()) << path << ": " << transcript.status().message();
  return transcript.ok() ? *std::move(transcript) : Transcript();
}

}  // namespace zsetd
