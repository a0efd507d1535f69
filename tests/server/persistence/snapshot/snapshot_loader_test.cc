// Valid files are loaded; all other files are refused, whatever their bytes.
#include "server/persistence/snapshot/snapshot_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "protocol/rdb/append_number.h"
#include "protocol/rdb/crc64.h"
#include "protocol/rdb/packed_elements.h"
#include "protocol/rdb/rdb_file.h"
#include "server/engine/support/errors.h"
#include "tests/support/steps.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::snapshot_loader_test {
namespace {

using namespace std::string_literals;

constexpr Millis kNow{1'800'000'000'000};
const char* const kPath = "/data/dump.rdb";

std::string Number(int64_t number) {
  std::string bytes;
  AppendLittleEndian(static_cast<uint64_t>(number), 8, bytes);
  return bytes;
}

std::string String(std::string_view text) {
  std::string bytes;
  RdbWriter(bytes).String(text);
  return bytes;
}

std::string Sealed(std::string parts) {
  parts += '\xff';
  return parts + Number(static_cast<int64_t>(Crc64(parts)));
}

// CheckSnapshot() reports the same as a load that keeps expired keys.
void ExpectSameOfCheck(MemoryFiles& files, LoadOptions options) {
  options.keeps_expired = true;
  const auto loaded = LoadSnapshot(files, kPath, options);
  const auto checked = CheckSnapshot(files, kPath, options);
  ASSERT_EQ(loaded.ok(), checked.ok()) << loaded.status() << " " << checked.status();
  if (!loaded.ok()) return;
  EXPECT_EQ(checked->functions, loaded->functions);
  EXPECT_EQ(checked->keys_loaded, loaded->keys_loaded);
  EXPECT_EQ(checked->keys_expired, loaded->keys_expired);
  EXPECT_EQ(checked->keys_skipped, loaded->keys_skipped);
  EXPECT_EQ(checked->bytes, loaded->bytes);
  EXPECT_TRUE(checked->databases.empty());
}

// Also checks every file that it loads.
absl::StatusOr<LoadedSnapshot> Load(const std::string& bytes, bool skips_unknown = false) {
  MemoryFiles files;
  files.set_contents(kPath, bytes);
  const LoadOptions options = {
      .now = kNow, .skips_unknown = skips_unknown, .make_keyspace = [] { return Keyspace(1); }};
  ExpectSameOfCheck(files, options);
  return LoadSnapshot(files, kPath, options);
}

std::string ErrorOf(const std::string& bytes, bool skips_unknown = false) {
  const auto loaded = Load(bytes, skips_unknown);
  return loaded.ok() ? "" : std::string(ErrorLine(loaded.status()));
}

std::string Fields(const LoadedSnapshot& loaded) {
  std::string text;
  loaded.databases.at(0).Find("h")->GetIf<Hash>()->ForEach([&](const Field& field) {
    text += std::string(field.name) + "=" + std::string(field.value) + " ";
  });
  return text;
}

// Returns a sorted set with the members a and b, followed by `rest`.
std::string SetAnd(const std::string& rest) {
  return Sealed("REDIS0010\x05"s + String("z") + "\2" + String("a") + Number(0) + String("b") +
                Number(0) + rest);
}

std::string DeadlineField(const std::string& value) {
  return "\xfa"s + String("zsetd-ttl") + String(value);
}

std::string Deadline(const std::string& member, uint64_t deadline) {
  std::string bytes = String(member);
  RdbWriter(bytes).Length(deadline);
  return bytes;
}

// The offset grows with every change, and would become negative.
TEST(SnapshotLoader, APositionNearTheLargestOffsetDoesNotCount) {
  const std::string id(40, 'a');
  const auto position = [&](std::string_view offset) {
    const auto loaded = Load(Sealed("REDIS0010\xfa"s + String("repl-id") + String(id) + "\xfa" +
                                    String("repl-offset") + String(offset)));
    return loaded.ok() ? loaded->position : std::nullopt;
  };
  ASSERT_TRUE(position("4611686018427387903"));
  EXPECT_EQ(position("4611686018427387903")->offset, 4611686018427387903);
  EXPECT_FALSE(position("4611686018427387904"));
  EXPECT_FALSE(position("9223372036854775807"));
  EXPECT_FALSE(position("-5"));
}

TEST(SnapshotLoader, ReadsDeadlinesOfMembersAfterTheirKey) {
  const uint64_t later = kNow.count() + 1000;
  const auto loaded = Load(SetAnd(DeadlineField("\1" + Deadline("b", later))));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Keyspace& keys = loaded->databases.at(0);
  const SortedSet* set = keys.Find("z")->GetIf<SortedSet>();
  EXPECT_EQ(set->Deadline("a"), std::nullopt);
  EXPECT_EQ(set->Deadline("b"), Millis(later));
  EXPECT_EQ(keys.with_element_deadlines(), 1u);
  EXPECT_EQ(keys.NextDeadline(), Millis(later));
}

TEST(SnapshotLoader, RefusesDeadlinesThatAreNotTheKeys) {
  const std::string good = Deadline("b", 1);
  EXPECT_TRUE(Load(SetAnd(DeadlineField("\1" + good))).ok());
  EXPECT_FALSE(Load(SetAnd(DeadlineField("\2" + good))).ok());
  EXPECT_FALSE(Load(SetAnd(DeadlineField("\1" + good + "x"))).ok());
  EXPECT_FALSE(Load(SetAnd(DeadlineField("\1" + Deadline("c", 1)))).ok());
  EXPECT_FALSE(Load(SetAnd(DeadlineField("\1" + good.substr(0, 2)))).ok());
  const std::string of_text = "\0"s + String("s") + String("x");
  EXPECT_FALSE(Load(SetAnd(of_text + DeadlineField("\1" + good))).ok());
}

TEST(SnapshotLoader, SkipsDeadlinesOfASkippedKey) {
  const std::string key = "\x05"s + String("y") + "\1" + String("c") + Number(0);
  const std::string expired = "\xfc" + Number(kNow.count() - 1);
  const auto loaded =
      Load(SetAnd(expired + key + DeadlineField("\1" + Deadline("c", 1'900'000'000'000))));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->keys_expired, 1u);
  EXPECT_EQ(loaded->keys_loaded, 1u);
  EXPECT_FALSE(loaded->databases.at(0).Find("z")->EarliestElementDeadline());
}

std::string PayloadField(const std::string& value) {
  return "\xfa"s + String("zsetd-data") + String(value);
}

std::string FormField(const std::string& form, const std::string& codes) {
  return "\xfa"s + String("zsetd-form") + String(String(form) + codes);
}

TEST(SnapshotLoader, ReadsTheFormOfScoresAfterTheirKey) {
  const std::string code("\1\0\0\0\0\0\x20\x80", 8);  // 2^53 + 1
  const auto loaded = Load(SetAnd(FormField("INT64", "\1" + String("b") + code)));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const SortedSet* set = loaded->databases.at(0).Find("z")->GetIf<SortedSet>();
  EXPECT_EQ(set->form().Text(), "INT64");
  EXPECT_EQ(set->form().ScoreText(ScoreCode(*set->Score("b"))), "9007199254740993");
  EXPECT_EQ(set->size(), 2u);
}

TEST(SnapshotLoader, RefusesFormsThatAreNotTheKeys) {
  const std::string code(8, '\0');
  const std::string none(1, '\0');
  const std::string one = "\1" + String("b") + code;
  EXPECT_TRUE(Load(SetAnd(FormField("TUPLE 8 8", one) + FormField("TUPLE 8 8", none))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("TUPLE 8 8", none) + FormField("INT64", none))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("TUPLE 8 8", "\1" + String("b") + "\0\0\1\0\0\0\0\0"s))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("DOUBLE", none))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("TUPLE", none))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("INT64", "\1" + String("c") + code))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("INT64", "\2" + String("b") + code))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("INT64", none + "x"))).ok());
  EXPECT_TRUE(Load(SetAnd(FormField("HALFLIFE 60", none))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("HALFLIFE 0", none))).ok());
  EXPECT_FALSE(Load(SetAnd(FormField("HALFLIFE 60", one))).ok());  // a NaN
  const std::string of_text = "\0"s + String("s") + String("x");
  EXPECT_FALSE(Load(SetAnd(of_text + FormField("INT64", none))).ok());
}

TEST(SnapshotLoader, KeysOfOneFileHaveDifferentForms) {
  const std::string none(1, '\0');
  const std::string key = "\x05"s + String("y") + "\1" + String("c") + Number(0);
  const auto loaded = Load(SetAnd(FormField("TUPLE 8 8", none) + key + FormField("INT64", none)));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Keyspace& keys = loaded->databases.at(0);
  EXPECT_EQ(keys.Find("z")->GetIf<SortedSet>()->form().Text(), "TUPLE 8 8");
  EXPECT_EQ(keys.Find("y")->GetIf<SortedSet>()->form().Text(), "INT64");
}

TEST(SnapshotLoader, ReadsPayloadsOfMembersAfterTheirKey) {
  const auto loaded =
      Load(SetAnd(PayloadField("\2" + String("b") + String("of b") + String("a") + String(""))));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const SortedSet* set = loaded->databases.at(0).Find("z")->GetIf<SortedSet>();
  EXPECT_EQ(set->Payload("a"), "");
  EXPECT_EQ(set->Payload("b"), "of b");
}

TEST(SnapshotLoader, RefusesPayloadsThatAreNotTheKeys) {
  const std::string good = String("b") + String("x");
  EXPECT_TRUE(Load(SetAnd(PayloadField("\1" + good))).ok());
  EXPECT_FALSE(Load(SetAnd(PayloadField("\2" + good))).ok());
  EXPECT_FALSE(Load(SetAnd(PayloadField("\1" + good + "x"))).ok());
  EXPECT_FALSE(Load(SetAnd(PayloadField("\1" + String("c") + String("x")))).ok());
  EXPECT_FALSE(Load(SetAnd(PayloadField("\1" + String("b")))).ok());
  const std::string of_text = "\0"s + String("s") + String("x");
  EXPECT_FALSE(Load(SetAnd(of_text + PayloadField("\1" + good))).ok());
}

TEST(SnapshotLoader, RefusesADuplicateKeyAmongMany) {
  std::string keys = "REDIS0010";
  std::vector<size_t> ends;
  for (int i = 0; i < 100; ++i) {
    keys += "\0"s + String("k" + std::to_string(i)) + String("v");
    ends.push_back(keys.size());
  }
  ASSERT_EQ(ErrorOf(Sealed(keys)), "");
  for (const int i : {0, 14, 15, 16, 17, 40, 99}) {
    std::string twice = keys;
    const std::string again = "\0"s + String("k" + std::to_string(i)) + String("w");
    twice.insert(ends[60], again);
    const std::string place = "at byte " + std::to_string(ends[std::max(i, 60)] + again.size());
    EXPECT_NE(ErrorOf(Sealed(twice)).find(place + " of "), std::string::npos) << i;
    EXPECT_NE(ErrorOf(Sealed(twice)).find("occurs twice"), std::string::npos) << i;
  }
}

TEST(SnapshotLoader, ReadsHashesWithFieldDeadlinesOfRedisAndValkey) {
  const int64_t later = kNow.count() + 1000;
  const std::string past = Number(kNow.count() - 5);
  // Valkey 9: field, value, deadline.
  const auto valkey =
      Load(Sealed("VALKEY080\x16"s + String("h") + "\3" + String("a") + String("1") + Number(-1) +
                  String("b") + String("2") + Number(later) + String("c") + String("3") + past));
  ASSERT_TRUE(valkey.ok()) << valkey.status();
  EXPECT_EQ(Fields(*valkey).size(), 8u);
  const Hash& of_valkey = *valkey->databases.at(0).Find("h")->GetIf<Hash>();
  EXPECT_EQ(of_valkey.Deadline("a"), std::nullopt);
  EXPECT_EQ(of_valkey.Deadline("b"), Millis(later));
  EXPECT_EQ(valkey->databases.at(0).hashes_with_deadlines(), 1u);
  // Redis 7.4: deadlines are relative to the first one, plus 1; 0 means no deadline.
  const auto redis =
      Load(Sealed("REDIS0012\x18"s + String("h") + past + "\3" + "\0"s + String("a") + String("1") +
                  "\1" + String("b") + String("2") + "\x3f" + String("c") + String("3")));
  ASSERT_TRUE(redis.ok()) << redis.status();
  EXPECT_EQ(Fields(*redis).size(), 8u);
  EXPECT_EQ(redis->databases.at(0).Find("h")->GetIf<Hash>()->Deadline("c"),
            kNow + Millis(0x3f - 1 - 5));
  ListpackWriter packed;
  for (const std::string& part : {"a"s, "1"s, "0"s, "b"s, "2"s, std::to_string(kNow.count()), "c"s,
                                  "3"s, std::to_string(later)}) {
    packed.Add(part);
  }
  const auto small = Load(Sealed("REDIS0012\x19"s + String("h") + past + String(packed.Finish())));
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_EQ(Fields(*small).size(), 8u);
  EXPECT_EQ(small->databases.at(0).Find("h")->GetIf<Hash>()->Deadline("c"), Millis(later));
}

TEST(SnapshotLoader, AHashWhoseFieldsHaveAllExpiredIsSkipped) {
  const auto loaded = Load(Sealed("VALKEY080\x16"s + String("h") + "\1" + String("a") +
                                  String("1") + Number(kNow.count())));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->keys_expired, 1u);
  EXPECT_TRUE(loaded->databases.empty());
}

std::string KeyOf(int type, const std::string& value) {
  return static_cast<char>(type) + String("e") + value;
}

// Redis before 6.2 could save keys without elements; newer releases leave them out.
TEST(SnapshotLoader, SkipsKeysWithoutElements) {
  const std::string none(1, '\0');
  const std::string listpack = String("\7\0\0\0\0\0\xff"s);
  const std::string ziplist = String("\xb\0\0\0\xa\0\0\0\0\0\xff"s);
  const std::string keys[] = {
      KeyOf(1, none),
      KeyOf(2, none),
      KeyOf(3, none),
      KeyOf(4, none),
      KeyOf(5, none),
      KeyOf(10, ziplist),
      KeyOf(12, ziplist),
      KeyOf(13, ziplist),
      KeyOf(14, none),
      KeyOf(16, listpack),
      KeyOf(14, "\2" + ziplist + ziplist),
      KeyOf(17, listpack),
      KeyOf(18, none),
      KeyOf(18, "\1\2" + listpack),
      KeyOf(20, listpack),
  };
  const std::string before = "\0"s + String("a") + String("1");
  const std::string after = "\0"s + String("b") + String("2");
  for (const std::string& key : keys) {
    const auto loaded = Load(Sealed("REDIS0011" + before + key + after));
    ASSERT_TRUE(loaded.ok()) << loaded.status() << static_cast<int>(key[0]);
    EXPECT_EQ(loaded->keys_empty, 1u);
    EXPECT_EQ(loaded->keys_loaded, 2u);
    EXPECT_EQ(loaded->keys_expired, 0u);
    EXPECT_EQ(loaded->some_empty_keys, std::vector<std::string>{"e"});
    EXPECT_EQ(loaded->databases.at(0).size(), 2u);
  }
}

// Like Redis: these layouts have no valid form without elements.
TEST(SnapshotLoader, RefusesEmptyIntsetsAndZipmaps) {
  EXPECT_NE(ErrorOf(Sealed("REDIS0011" + KeyOf(11, String("\2\0\0\0\0\0\0\0"s)))), "");
  EXPECT_NE(ErrorOf(Sealed("REDIS0011" + KeyOf(9, String("\0\xff"s)))), "");
}

// The next key has its own deadline and not that of the skipped key.
TEST(SnapshotLoader, ForgetsTheDeadlineOfAKeyWithoutElements) {
  const std::string deadline = "\xfc" + Number(kNow.count() + 1000);
  const std::string text = "\0"s + String("a") + String("1");
  const auto loaded = Load(Sealed("REDIS0011" + deadline + KeyOf(2, std::string(1, '\0')) + text));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->databases.at(0).Find("a")->deadline(), std::nullopt);
}

TEST(SnapshotLoader, NamesTheFirstEmptyKeysOnly) {
  std::string keys;
  for (int i = 0; i < 100; ++i) keys += "\2"s + String("e" + std::to_string(i)) + '\0';
  const auto loaded = Load(Sealed("REDIS0011" + keys));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->keys_empty, 100u);
  EXPECT_EQ(loaded->some_empty_keys.size(), 10u);
}

// The value has many elements that span two of the pieces in which the file is read.
TEST(SnapshotLoader, ReadsValuesLongerThanItsBuffer) {
  constexpr int kMembers = 100'000;
  std::string value;
  RdbWriter writer(value);
  writer.Type(RdbType::kZSet);
  writer.String("z");
  writer.Length(kMembers);
  for (int i = 0; i < kMembers; ++i) {
    writer.String("member " + std::to_string(i));
    writer.Double(i);
  }
  const auto loaded = Load(Sealed("REDIS0010" + value));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const SortedSet& set = *loaded->databases.at(0).Find("z")->GetIf<SortedSet>();
  ASSERT_EQ(set.size(), size_t{kMembers});
  for (int i = 0; i < kMembers; ++i) {
    ASSERT_EQ(set.Score("member " + std::to_string(i)), i);
  }
}

TEST(SnapshotLoader, RefusesModulesByNameOrSkipsThem) {
  const std::string after = "\0"s + String("k") + String("v");
  const std::string module = "\7"s + String("document") + "\x81" + std::string(8, 'm') + "\2\5" +
                             "\4" + Number(0) + "\3" + "abcd" + "\5" + String("text") + "\0"s;
  const std::string file = Sealed("REDIS0011" + module + after);
  EXPECT_NE(ErrorOf(file).find("'document'"), std::string::npos) << ErrorOf(file);
  const auto skipped = Load(file, /*skips_unknown=*/true);
  ASSERT_TRUE(skipped.ok()) << skipped.status();
  EXPECT_EQ(skipped->keys_skipped, 1u);
  EXPECT_EQ(skipped->keys_loaded, 1u);
  const std::string array = Sealed("REDIS0013\x1c"s + String("array") + "\1");
  EXPECT_NE(ErrorOf(array, true).find("'array' is of type 28"), std::string::npos)
      << ErrorOf(array);
}

TEST(SnapshotLoader, RefusesTypesThatOnlyPayloadsOfDumpHave) {
  for (const char type : {'\x7a', '\x7b', '\x7c'}) {
    const std::string set = type + String("z") + "\0"s + std::string(16, '\0');
    const std::string error = ErrorOf(Sealed("REDIS0011" + set), true);
    EXPECT_NE(error.find("which this server does not support"), std::string::npos) << error;
  }
}

TEST(SnapshotLoader, KeepsFunctions) {
  const auto loaded = Load(Sealed("REDIS0010\xf5"s + String("#!lua name=one")));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->functions, "\xf5" + String("#!lua name=one"));
}

TEST(SnapshotLoader, ReadsOldFilesWithoutChecksum) {
  const auto loaded =
      Load("REDIS0003\xfd"s + "\xff\xff\xff\x7f" + "\0"s + String("k") + String("v") + "\xff");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->keys_loaded, 1u);
}

TEST(SnapshotLoader, RefusesUnreadableFiles) {
  EXPECT_NE(ErrorOf("").find("not a snapshot"), std::string::npos);
  EXPECT_NE(ErrorOf("REDIS0079\xff").find("version 79 of Redis"), std::string::npos);
  EXPECT_NE(ErrorOf("VALKEY081\xff").find("version 81 of Valkey"), std::string::npos);
  EXPECT_NE(ErrorOf(Sealed("REDIS0010\xfe\x20"s)).find("database 32"), std::string::npos);
  const std::string key = "\0"s + String("k") + String("v");
  EXPECT_NE(ErrorOf(Sealed("REDIS0010" + key + key)).find("'k' occurs twice"), std::string::npos);
  EXPECT_EQ(ErrorOf(Sealed("REDIS0010" + key)), "");
}

// A file of all types.
std::string AllTypes() {
  EnginePeer peer;
  const auto ask = [&](const std::vector<std::string>& words) {
    peer.Send("a", Multibulk(words));
    return peer.Receive("a", Millis(0));
  };
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i * 37);
    ask({"ZADD", "z", n, "m" + n});
    ask({"SADD", "s", n, "m"});
    ask({"RPUSH", "l", n, std::string(i, 'l')});
    ask({"HSET", "h", n, "value"});
    if (i < 20)
      ask({"ZADD", "small", n, n}), ask({"SADD", "ints", n}), ask({"SET", "t" + n, n, "EX", "9"});
  }
  ask({"HSET", "few", "a", "1", "b", "2"});
  for (const std::string hash : {"few", "h"}) ask({"HEXPIRE", hash, "9", "FIELDS", "1", "a"});
  ask({"HEXPIRE", "h", "9", "FIELDS", "2", "37", "74"});
  ask({"ZEXPIRE", "z", "9", "MEMBERS", "2", "m37", "m74"});
  ask({"SELECT", "3"});
  ask({"SET", "other", "1"});
  ask({"SAVE"});
  return peer.files().contents().at(kPath);
}

TEST(SnapshotLoader, RefusesEveryPrefixAndEveryFlippedBit) {
  const std::string whole = AllTypes();
  ASSERT_EQ(ErrorOf(whole), "");
  for (size_t size = 0; size < whole.size(); size += 1 + size / 100) {
    ASSERT_NE(ErrorOf(whole.substr(0, size)), "") << size;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < Steps(400); ++i) {
    std::string damaged = whole;
    const size_t at = random() % damaged.size();
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << random() % 8);
    ASSERT_NE(ErrorOf(damaged), "") << at;
  }
}

TEST(SnapshotLoader, ReadsNothingBeyondTheEndWithoutAChecksum) {
  std::string whole = AllTypes();
  whole.replace(whole.size() - 8, 8, std::string(8, '\0'));
  std::mt19937_64 random(2);
  for (int i = 0; i < 400; ++i) {
    std::string damaged = whole;
    for (int bytes = 0; bytes < 3; ++bytes) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    (void)Load(damaged);
  }
}

TEST(SnapshotLoader, ACheckFindsDuplicateElements) {
  const std::string a = String("a");
  const std::string score = Number(0);
  for (const std::string& value :
       {"\5"s + String("k") + "\2" + a + score + a + score, "\2"s + String("k") + "\2" + a + a,
        "\4"s + String("k") + "\2" + a + a + a + a,
        "\x16"s + String("k") + "\2" + a + a + Number(1) + a + a + Number(2)}) {
    EXPECT_NE(ErrorOf(Sealed("REDIS0012" + value)), "");
  }
  std::string many = "\5"s + String("k");
  RdbWriter(many).Length(20'001);
  for (int i = 0; i < 20'000; ++i) many += String("m" + std::to_string(i)) + score;
  EXPECT_NE(ErrorOf(Sealed("REDIS0012" + many + String("m19999") + score)), "");
  EXPECT_EQ(ErrorOf(Sealed("REDIS0012" + many + String("m20000") + score)), "");
}

TEST(SnapshotLoader, ACheckOfManyKeysCanBeAbandoned) {
  std::string keys = "REDIS0010";
  for (int i = 0; i < 30'000; ++i) keys += "\0"s + String("k" + std::to_string(i)) + String("v");
  EXPECT_EQ(ErrorOf(Sealed(keys)), "");
  EXPECT_NE(ErrorOf(Sealed(keys + "\0"s + String("k7") + String("v"))), "");
  MemoryFiles files;
  files.set_contents(kPath, Sealed(keys));
  const auto given_up =
      CheckSnapshot(files, kPath, {.on_read = [](uint64_t, uint64_t) { return false; }});
  EXPECT_FALSE(given_up.ok());
}

// A replica that loads a dataset while it serves another one has the forms of both.
TEST(SnapshotLoader, ReportsThatTooManyFormsAreInUse) {
  const std::string field = String("HALFLIFE 1000000") + std::string(1, '\0');
  const std::string bytes = Sealed("REDIS0010\x05"s + String("z") + "\1" + String("a") + Number(0) +
                                   "\xfa" + String("zsetd-form") + String(field));
  EXPECT_EQ(ErrorOf(bytes), "");
  std::vector<SortedSet> others(ScoreFormTable::kMostForms - 1);
  for (size_t i = 0; i < others.size(); ++i) {
    ASSERT_TRUE(others[i].SetForm(*ScoreForm::Read("HALFLIFE " + std::to_string(i + 1))));
  }
  MemoryFiles files;
  files.set_contents(kPath, bytes);
  const LoadOptions options = {.now = kNow, .make_keyspace = [] { return Keyspace(1); }};
  const auto loaded = LoadSnapshot(files, kPath, options);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(ErrorLine(loaded.status()).find("too many forms of scores"), std::string::npos)
      << loaded.status();
  others.pop_back();
  EXPECT_TRUE(LoadSnapshot(files, kPath, options).ok());
}

}  // namespace
}  // namespace zsetd::snapshot_loader_test
