#include "server/cluster/migration/export_machine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

using State = ExportMachine::State;
using Step = ExportMachine::Step;

constexpr Millis kStart{1'700'000'000'000};

struct TestedMigration {
  ExportMachine machine{kStart};
  ExportMachine::Surroundings surroundings;
  ExportMachine::Limits limits;
  Millis now = kStart;

  Step Tick() { return machine.OnTick(now, surroundings, limits); }
  Step Reply(std::string_view error = "") { return machine.OnReply(now, error); }

  void ToCopying() {
    EXPECT_EQ(machine.OnConnected(now, false), Step::kEstablish);
    machine.OnSent(now);
    EXPECT_EQ(Reply(), Step::kCopy);
  }
  void ToGranted() {
    ToCopying();
    machine.OnCopied(now);
    EXPECT_EQ(Tick(), Step::kPause);
    ToGrant();
    machine.OnSent(now);
  }
  void ToGrant() {
    EXPECT_EQ(Tick(), Step::kAnnouncePause);
    machine.OnSent(now);
    EXPECT_EQ(Tick(), Step::kNone);
    EXPECT_EQ(Reply(), Step::kNone);
    EXPECT_EQ(Tick(), Step::kGrant);
  }
};

TEST(ExportMachine, MovesSlotsStepByStep) {
  TestedMigration m;
  EXPECT_EQ(m.Tick(), Step::kNone);
  EXPECT_EQ(m.machine.OnConnected(m.now, true), Step::kAuthenticate);
  m.machine.OnSent(m.now);
  EXPECT_EQ(m.Reply(), Step::kEstablish);
  m.machine.OnSent(m.now);
  EXPECT_EQ(m.Reply(), Step::kCopy);
  m.machine.OnSent(m.now);  // a key
  m.machine.OnCopied(m.now);
  EXPECT_EQ(m.machine.state_text(), "waiting-to-pause");
  m.surroundings.unsent_bytes = 1;
  EXPECT_EQ(m.Tick(), Step::kNone) << "all must be sent before the pause";
  m.surroundings.unsent_bytes = 0;
  EXPECT_EQ(m.Tick(), Step::kPause);
  EXPECT_EQ(m.machine.pause_until(), m.now + m.limits.pause);
  EXPECT_EQ(m.Tick(), Step::kNone) << "the reply to the key is awaited";
  EXPECT_EQ(m.Reply(), Step::kNone);
  m.ToGrant();
  m.machine.OnSent(m.now);
  EXPECT_TRUE(m.machine.IsPaused());
  EXPECT_EQ(m.Reply(), Step::kHandOver);
  EXPECT_EQ(m.machine.state(), State::kSuccess);
  EXPECT_FALSE(m.machine.IsPaused());
}

TEST(ExportMachine, GrantsNothingWhileAScriptThatBeganBeforeThePauseRuns) {
  TestedMigration m;
  m.ToCopying();
  m.machine.OnCopied(m.now);
  m.surroundings.may_pause = false;
  EXPECT_EQ(m.Tick(), Step::kNone) << "a manual failover comes first";
  m.surroundings.may_pause = true;
  EXPECT_EQ(m.Tick(), Step::kPause);
  m.surroundings.writes_are_stopped = false;
  EXPECT_EQ(m.Tick(), Step::kNone);
  m.machine.OnSent(m.now);  // the script's changes
  m.surroundings.writes_are_stopped = true;
  EXPECT_EQ(m.Tick(), Step::kNone);
  EXPECT_EQ(m.Reply(), Step::kNone);
  m.ToGrant();
}

// The target measures the time since it received the announcement, by a clock of its own.
TEST(ExportMachine, GrantsTheTimeFromTheReplyToTheEndOfThePause) {
  TestedMigration m;
  m.ToCopying();
  m.machine.OnCopied(m.now);
  EXPECT_EQ(m.Tick(), Step::kPause);
  m.now += Millis(200);
  EXPECT_EQ(m.Tick(), Step::kAnnouncePause);
  m.machine.OnSent(m.now);
  m.now += Millis(300);
  EXPECT_EQ(m.Reply(), Step::kNone);
  m.machine.OnSent(m.now);  // a change that is no write of a client
  m.now += Millis(100);
  EXPECT_EQ(m.Reply(), Step::kNone);
  m.now += Millis(1000);
  EXPECT_EQ(m.Tick(), Step::kGrant);
  EXPECT_EQ(m.machine.GrantedTime(), m.limits.pause - Millis(600));
}

TEST(ExportMachine, AGrantIsShorterThanALongPause) {
  TestedMigration m;
  m.limits.pause = Millis(60000);
  m.ToGranted();
  EXPECT_EQ(m.machine.GrantedTime(), m.limits.grant);
  EXPECT_EQ(m.machine.pause_until(), m.now + m.limits.grant);
}

TEST(ExportMachine, AnnouncesItselfAgainIfTheTargetAsksForThat) {
  TestedMigration m;
  m.machine.OnConnected(m.now, false);
  m.machine.OnSent(m.now);
  EXPECT_EQ(m.Reply("TRYAGAIN keys are being deleted"), Step::kNone);
  EXPECT_EQ(m.Tick(), Step::kNone);
  m.now += Millis(100);
  EXPECT_EQ(m.Tick(), Step::kEstablish);
  m.machine.OnSent(m.now);
  EXPECT_EQ(m.Reply("TRYAGAIN"), Step::kNone);
  m.now += m.limits.silence;
  EXPECT_EQ(m.Tick(), Step::kNone);
  EXPECT_EQ(m.machine.state(), State::kFailed);
}

TEST(ExportMachine, AnErrorOfTheTargetEndsIt) {
  TestedMigration m;
  m.ToCopying();
  m.machine.OnSent(m.now);
  EXPECT_EQ(m.Reply("OOM command not allowed"), Step::kNone);
  EXPECT_EQ(m.machine.state(), State::kFailed);
  EXPECT_EQ(m.machine.message(), "The target replied: OOM command not allowed");
}

TEST(ExportMachine, ARefusedGrantEndsThePause) {
  TestedMigration m;
  m.ToGranted();
  EXPECT_FALSE(m.machine.WasRefused());
  EXPECT_EQ(m.Reply("ERR it is too late"), Step::kNone);
  EXPECT_EQ(m.machine.state(), State::kFailed);
  EXPECT_TRUE(m.machine.WasRefused());
  EXPECT_FALSE(m.machine.IsPaused());
}

TEST(ExportMachine, AfterTheGrantALostConnectionDecidesNothing) {
  TestedMigration m;
  m.ToGranted();
  EXPECT_FALSE(m.machine.Cancel(m.now));
  m.machine.OnLost(m.now, "reset");
  EXPECT_TRUE(m.machine.IsPaused()) << "the target may have the slots";
  EXPECT_EQ(m.Tick(), Step::kNone);
  m.surroundings.target_owns_slots = true;
  m.surroundings.owns_slots = false;
  EXPECT_EQ(m.Tick(), Step::kHandOver);

  TestedMigration other;
  other.ToGranted();
  other.machine.OnLost(other.now, "reset");
  EXPECT_TRUE(other.machine.HasLostGrant());
  other.now = other.machine.pause_until();
  EXPECT_EQ(other.Tick(), Step::kNone);
  other.now += Millis(300);
  EXPECT_EQ(other.Tick(), Step::kNone);
  EXPECT_EQ(other.machine.state(), State::kFailed);
}

// Its first tick comes before it reads the reply that has arrived in the meantime.
TEST(ExportMachine, ASourceThatWasStoppedDuringTheGrantHandsOver) {
  TestedMigration m;
  m.ToGranted();
  m.now += m.limits.pause * 10;
  EXPECT_EQ(m.Tick(), Step::kNone);
  EXPECT_TRUE(m.machine.IsPaused());
  EXPECT_EQ(m.Reply(), Step::kHandOver);
  EXPECT_FALSE(m.machine.HasLostGrant());
}

TEST(ExportMachine, EndsByItselfIfTheTargetIsSilentOrTheSlotsLeave) {
  TestedMigration silent;
  silent.ToCopying();
  silent.machine.OnSent(silent.now);
  silent.now += silent.limits.silence;
  EXPECT_EQ(silent.Tick(), Step::kNone);
  EXPECT_EQ(silent.machine.state(), State::kCopying);
  silent.now += Millis(1);
  silent.Tick();
  EXPECT_EQ(silent.machine.state(), State::kFailed);

  TestedMigration taken;
  taken.ToCopying();
  taken.surroundings.owns_slots = false;
  taken.Tick();
  EXPECT_EQ(taken.machine.message(), "A slot has got another owner");

  TestedMigration slow;
  slow.limits.most_unsent = 100;
  slow.ToCopying();
  slow.surroundings.unsent_bytes = 101;
  slow.Tick();
  EXPECT_EQ(slow.machine.state(), State::kFailed);
}

TEST(ExportMachine, ACancelledMigrationIgnoresWhatArrivesLater) {
  TestedMigration m;
  m.ToCopying();
  m.machine.OnSent(m.now);
  EXPECT_TRUE(m.machine.Cancel(m.now));
  EXPECT_EQ(m.Reply(), Step::kNone);
  EXPECT_EQ(m.Tick(), Step::kNone);
  m.machine.OnLost(m.now, "closed");
  EXPECT_EQ(m.machine.state(), State::kCancelled);
  EXPECT_FALSE(m.machine.Cancel(m.now));
}

// Any order of inputs: the grant is sent at most once, only when nothing else is awaited, and the
// pause ends.
TEST(ExportMachine, KeepsItsInvariantsUnderAnyInput) {
  constexpr int kRuns = 2000;
  for (int seed = 0; seed < kRuns; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    TestedMigration m;
    int announcements = 0;
    int grants = 0;
    int hand_overs = 0;
    const auto note = [&](Step step) {
      if (step == Step::kGrant) {
        EXPECT_EQ(m.machine.awaited(), 0u) << "seed " << seed;
        EXPECT_EQ(announcements, 1) << "seed " << seed;
        ++grants;
      }
      announcements += step == Step::kAnnouncePause;
      hand_overs += step == Step::kHandOver;
      const bool sends = step == Step::kAuthenticate || step == Step::kEstablish ||
                         step == Step::kAnnouncePause || step == Step::kGrant;
      if (sends) m.machine.OnSent(m.now);
    };
    for (int i = 0; i < 60; ++i) {
      m.now += Millis(rng.Below(2000));
      switch (rng.Below(9)) {
        case 0:
          note(m.machine.OnConnected(m.now, rng.Below(2) == 0));
          break;
        case 1:
        case 2:
          note(m.Reply());
          break;
        case 3:
          if (rng.Below(8) == 0) note(m.Reply("ERR no"));
          break;
        case 4:
          if (m.machine.SendsChanges() && !m.machine.IsPaused()) m.machine.OnSent(m.now);
          break;
        case 5:
          if (m.machine.state() == State::kCopying) m.machine.OnCopied(m.now);
          break;
        case 6:
          if (rng.Below(10) == 0) m.machine.OnLost(m.now, "gone");
          break;
        case 7:
          m.surroundings.unsent_bytes = rng.Below(2);
          m.surroundings.target_owns_slots = rng.Below(20) == 0;
          break;
        default:
          note(m.Tick());
      }
    }
    m.now += m.limits.pause + m.limits.silence;
    note(m.Tick());
    m.now += Millis(300);
    note(m.Tick());
    EXPECT_FALSE(m.machine.state() == State::kGranted) << "seed " << seed;
    EXPECT_LE(grants, 1) << "seed " << seed;
    EXPECT_EQ(hand_overs, m.machine.state() == State::kSuccess ? 1 : 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace zsetd
