// Streams are read as they were written, in all of Redis's formats, and damaged bytes are refused.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream/stream.h"
#include "core/util/rng.h"
#include "protocol/rdb/rdb_reader.h"
#include "protocol/rdb/rdb_writer.h"
#include "server/engine/store/stream/stream_rdb_reader.h"
#include "server/engine/store/stream/stream_rdb_writer.h"
#include "tests/support/steps.h"

namespace zsetd::stream_rdb_test {
namespace {

constexpr size_t kMostBytes = 1 << 30;

// Entries with several lists of names, deleted entries, two groups and pending entries.
Stream Example() {
  Stream stream;
  for (uint64_t i = 1; i <= 250; ++i) {
    const std::string number = std::to_string(i);
    std::vector<std::string_view> fields = {"n", number, "text", "value"};
    if (i % 7 == 0) fields = {"other", number};
    stream.Append({1000 + i / 3, i}, fields, StreamLimits());
  }
  for (uint64_t i = 5; i < 30; ++i) stream.Delete({1000 + i / 3, i});
  ConsumerGroup group({1060, 180}, 180);
  group.AddConsumer("a", Millis(5));
  group.AddConsumer("b", Millis(6));
  for (uint64_t i = 40; i < 180; ++i) {
    group.SetPending({1000 + i / 3, i}, i % 3 == 0 ? "a" : "b", Millis(7000 + i), i % 4 + 1);
  }
  stream.AddGroup("group", std::move(group));
  stream.AddGroup("empty", ConsumerGroup({0, 0}, ConsumerGroup::kUnknownCount));
  return stream;
}

void WriteTail(const Stream& stream, RdbWriter& writer) {
  WriteStreamTail(stream.size(), stream.FirstId().value_or(StreamId()), stream.state(),
                  stream.groups(), writer);
}

std::string Written(const Stream& stream) {
  std::string bytes;
  RdbWriter writer(bytes, /*compresses=*/false);
  writer.Length(stream.block_count());
  stream.ForEachBlock([&](const StreamBlock& block) { WriteStreamBlock(block, writer); });
  WriteTail(stream, writer);
  return bytes;
}

// The state and the groups. Blocks may differ, because deleted entries are not read.
std::string Tail(const Stream& stream) {
  std::string bytes;
  RdbWriter writer(bytes, /*compresses=*/false);
  WriteTail(stream, writer);
  return bytes;
}

std::vector<std::string> EntriesOf(const Stream& stream) {
  std::vector<std::string> entries;
  for (Stream::Cursor at(stream, StreamId(), Stream::Cursor::kForward); at.valid(); at.Next()) {
    std::string text = std::to_string(at.id().ms) + "-" + std::to_string(at.id().seq);
    at.entry().ForEachField([&](std::string_view name, std::string_view value) {
      text.append(" ").append(name).append("=").append(value);
    });
    entries.push_back(std::move(text));
  }
  return entries;
}

// Nullopt also if bytes are left.
std::optional<Stream> Read(std::string_view bytes, RdbType type) {
  RdbReader reader(bytes, kMostBytes);
  std::optional<Stream> stream = ReadRdbStream(reader, type, StreamLimits());
  return reader.AtEnd() ? std::move(stream) : std::nullopt;
}

TEST(StreamRdb, IsReadAsItWasWritten) {
  const Stream stream = Example();
  const std::optional<Stream> read = Read(Written(stream), RdbType::kStream2);
  ASSERT_TRUE(read.has_value());
  read->Check();
  EXPECT_EQ(read->size(), stream.size());
  EXPECT_EQ(read->state(), stream.state());
  const ConsumerGroup& group = *read->FindGroup("group");
  EXPECT_EQ(group.entries_read(), 180);
  EXPECT_EQ(group.FindConsumer("a")->pending,
            stream.FindGroup("group")->FindConsumer("a")->pending);
  EXPECT_EQ(read->FindGroup("empty")->entries_read(), ConsumerGroup::kUnknownCount);
  EXPECT_EQ(EntriesOf(*read), EntriesOf(stream));
  EXPECT_EQ(Tail(*read), Tail(stream));
}

TEST(StreamRdb, KeepsAnEmptyStream) {
  Stream stream;
  stream.SetState({.last_id = {5, 6}, .max_deleted_id = {5, 6}, .entries_added = 3});
  const std::optional<Stream> read = Read(Written(stream), RdbType::kStream2);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->state(), stream.state());
}

// kStream lacks the state except the last ID, and the counts of entries read. kStream3 has another
// time for each consumer.
TEST(StreamRdb, ReadsOlderAndNewerFormats) {
  Stream stream;
  stream.Append({1, 1}, std::vector<std::string_view>{"f", "v"}, StreamLimits());
  std::string block;
  RdbWriter writer(block, /*compresses=*/false);
  writer.Length(1);
  stream.ForEachBlock([&](const StreamBlock& each) { WriteStreamBlock(each, writer); });
  const std::string id = std::string(7, '\0') + "\1" + std::string(7, '\0') + "\1";
  const std::string time(8, '\1');
  const std::string pending = "\1" + id + time + "\2";
  const std::string group = "\1\5group\1\1";

  const std::string old = block + "\1\1\1" + group + pending + "\1\1c" + time + "\1" + id;
  const std::optional<Stream> read_old = Read(old, RdbType::kStream);
  ASSERT_TRUE(read_old.has_value());
  EXPECT_EQ(read_old->state().entries_added, 1u);
  EXPECT_EQ(read_old->FindGroup("group")->entries_read(), 1);
  const Consumer* const old_consumer = read_old->FindGroup("group")->FindConsumer("c");
  EXPECT_EQ(old_consumer->active, old_consumer->seen);

  const std::string tail = std::string("\1\1\1\1\1") + '\0' + '\0' + "\1";
  const auto with_times = [&](const std::string& seen, const std::string& active) {
    return block + tail + group + "\1" + pending + "\1\1c" + seen + active + "\1" + id;
  };
  const std::string later(8, '\2');
  const std::optional<Stream> read_new = Read(with_times(time, later), RdbType::kStream3);
  ASSERT_TRUE(read_new.has_value());
  const Consumer& consumer = *read_new->FindGroup("group")->FindConsumer("c");
  EXPECT_EQ(consumer.pending, 1u);
  EXPECT_EQ(consumer.seen.count(), 0x0101010101010101);
  EXPECT_EQ(consumer.active.count(), 0x0202020202020202);
  for (const std::string& never : {std::string(8, '\xff'), std::string(7, '\0') + "\x80"}) {
    const std::optional<Stream> read_never = Read(with_times(time, never), RdbType::kStream3);
    ASSERT_TRUE(read_never.has_value());
    EXPECT_EQ(read_never->FindGroup("group")->FindConsumer("c")->active, Millis(-1));
  }

  // A pending entry without a consumer, and one with two.
  EXPECT_FALSE(
      Read(block + tail + group + "\1" + pending + std::string(1, '\0'), RdbType::kStream2));
  EXPECT_FALSE(Read(
      block + tail + group + "\1" + pending + "\2\1c" + time + "\1" + id + "\1d" + time + "\1" + id,
      RdbType::kStream2));
}

// kStream5 has the released entries after the consumers. It and kStream4 have the IDs of producers.
TEST(StreamRdb, ReadsTheFormatsWithProducersAndReleasedEntries) {
  Stream stream;
  stream.Append({1, 1}, std::vector<std::string_view>{"f", "v"}, StreamLimits());
  std::string block;
  RdbWriter writer(block, /*compresses=*/false);
  writer.Length(1);
  stream.ForEachBlock([&](const StreamBlock& each) { WriteStreamBlock(each, writer); });
  const std::string head = block + std::string("\1\1\1\1\1") + '\0' + '\0' + "\1";
  const auto id_of = [](char ms) {
    return std::string(7, '\0') + ms + std::string(7, '\0') + '\1';
  };
  const std::string never(8, '\0');
  const std::string two_pending = "\2" + id_of(1) + never + "\3" + id_of(2) + never + "\4";
  const std::string group = std::string("\1\5group\1\1\1") + two_pending + '\0';
  const std::string producers = std::string("\5\7\1\3pid\2\1a\1\1\1b\2\1\2") + '\0';

  const std::string nothing_taken = head + group + producers;
  EXPECT_FALSE(Read(nothing_taken, RdbType::kStream4).has_value());
  const std::string released = head + group + "\2" + id_of(2) + id_of(1) + producers;
  const std::optional<Stream> read = Read(released, RdbType::kStream5);
  ASSERT_TRUE(read.has_value());
  const ConsumerGroup& read_group = *read->FindGroup("group");
  EXPECT_EQ(read_group.released(), 2u);
  const auto idle = read_group.pending().Idle(Millis(0), 9, [](StreamId) { return true; });
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_EQ(idle[0].id, (StreamId{2, 1}));
  ASSERT_NE(read->producers(), nullptr);
  EXPECT_EQ(read->producers()->limits(), (Producers::Limits{.seconds = 5, .ids = 7}));
  EXPECT_EQ(read->producers()->Find("pid", "b", Millis(2)), (StreamId{2, 1}));
  EXPECT_EQ(read->producers()->counts().added, 2u);
  EXPECT_EQ(idle[0].deliveries, 4u);
  EXPECT_FALSE(Read(head + group + "\2" + id_of(2) + id_of(2) + producers, RdbType::kStream5));
  EXPECT_FALSE(Read(head + group + "\1" + id_of(3) + producers, RdbType::kStream5));
  EXPECT_FALSE(Read(released.substr(0, released.size() - 1), RdbType::kStream5).has_value());

  const std::string without_groups = head.substr(0, head.size()) + '\0' + producers;
  EXPECT_TRUE(Read(without_groups, RdbType::kStream4).has_value());
  EXPECT_FALSE(Read(without_groups, RdbType::kStream3).has_value());
}

// Released entries are written as those of the empty consumer.
TEST(StreamRdb, KeepsReleasedEntries) {
  for (const bool has_empty_consumer : {false, true}) {
    Stream stream;
    stream.Append({1, 1}, std::vector<std::string_view>{"f", "v"}, StreamLimits());
    stream.AddGroup("g", ConsumerGroup({1, 1}, 1));
    ConsumerGroup& group = *stream.ChangeGroup("g");
    group.AddConsumer("a", Millis(5));
    group.SetPending({2, 0}, "a", Millis(9), 1);
    if (has_empty_consumer) {
      group.AddConsumer("", Millis(5));
      group.SetPending({4, 0}, "", Millis(9), 1);
    }
    group.Release({1, 1}, INT64_MAX);
    group.Release({3, 0}, 0);
    const std::optional<Stream> read = Read(Written(stream), RdbType::kStream2);
    ASSERT_TRUE(read.has_value());
    const ConsumerGroup& read_group = *read->FindGroup("g");
    EXPECT_EQ(read_group.released(), 2u);
    EXPECT_EQ(read_group.consumers().size(), 1u + has_empty_consumer);
    EXPECT_EQ(read_group.pending().Find({1, 1})->deliveries, uint64_t{INT64_MAX});
    if (has_empty_consumer) {
      EXPECT_EQ(read_group.FindConsumer("")->pending, 1u);
    }
  }
}

TEST(StreamRdb, RefusesDamagedBytes) {
  const std::string bytes = Written(Example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(Read(bytes.substr(0, size), RdbType::kStream2).has_value()) << size;
  }
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  // The newer formats also end with the limits, one producer with an ID, and the counts.
  const std::string producers = std::string("\5\7\1\3pid\1\1a\1\1\1") + '\0';
  for (int round = 0; round < Steps(40'000); ++round) {
    const RdbType type = std::to_array({RdbType::kStream, RdbType::kStream2, RdbType::kStream3,
                                        RdbType::kStream4, RdbType::kStream5})[rng.Below(5)];
    std::string damaged = type >= RdbType::kStream4 ? bytes + producers : bytes;
    for (uint64_t left = 1 + rng.Below(3); left > 0; --left) {
      damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Next());
    }
    const std::optional<Stream> read = Read(damaged, type);
    if (read) read->Check();
  }
}

// Returns a stream of one block whose entries share a name of this length.
Stream WithLongName(size_t length) {
  Stream stream;
  const std::string name(length, 'n');
  const std::vector<std::string_view> fields = {name, "1"};
  for (uint64_t i = 1; i <= 20'000; ++i) {
    stream.Append({i, 0}, fields, {.entries = 0, .bytes = 0});
  }
  return stream;
}

// In blocks of a hundred they would repeat the name 200 times. The rest of them shares a block.
TEST(StreamRdb, EntriesThatShareALongNameTakeABoundedMultiple) {
  const Stream stream = WithLongName(20'000);
  ASSERT_EQ(stream.block_count(), 1u);
  const std::string bytes = Written(stream);
  EXPECT_LT(bytes.size(), 1u << 20);
  const std::optional<Stream> read = Read(bytes, RdbType::kStream2);
  ASSERT_TRUE(read.has_value());
  read->Check();
  EXPECT_EQ(read->size(), stream.size());
  EXPECT_LT(read->BytesUsed(), 80 * bytes.size());
}

// Comparing or copying the name of each entry would take 30 GB.
TEST(StreamRdb, EntriesThatShareAVeryLongNameTakeLinearTime) {
  constexpr uint64_t kEntries = 30'000;
  Stream stream;
  const std::string name(1u << 20, 'n');
  const std::vector<std::string_view> fields = {name, "1"};
  for (uint64_t i = 1; i <= kEntries; ++i) {
    stream.Append({i, 0}, fields, {.entries = 0, .bytes = 0}, StreamBlock::Names::kOfFirst);
  }
  ASSERT_EQ(stream.block_count(), 1u);
  const std::string bytes = Written(stream);
  std::optional<Stream> read = Read(bytes, RdbType::kStream2);
  ASSERT_TRUE(read.has_value());
  read->Check();
  EXPECT_EQ(read->size(), kEntries);
  EXPECT_LT(read->BytesUsed(), 100 * bytes.size());
  EXPECT_GT(Written(*read).size(), bytes.size());  // with the names of some blocks more

  // Half of them is deleted, so the block is compacted.
  read->Trim({.length = kEntries / 3});
  EXPECT_TRUE(read->Delete({kEntries, 0}));
  const Stream::Cursor at(*read, {kEntries - 1, 0}, Stream::Cursor::kForward);
  at.entry().ForEachField([&](std::string_view found, std::string_view value) {
    EXPECT_TRUE(found == name);
    EXPECT_EQ(value, "1");
  });
}

// Entries with names of their own are in the block that the others share.
TEST(StreamRdb, NamesOfAListpackAreNotMixedWithThoseOfEntries) {
  Stream stream;
  const std::string name(50'000, 'n');
  for (uint64_t i = 1; i <= 5000; ++i) {
    const std::vector<std::string_view> fields = {i % 3 == 0 ? "other" : std::string_view(name),
                                                  "1"};
    stream.Append({i, 0}, fields, {.entries = 0, .bytes = 0});
  }
  const std::string bytes = Written(stream);
  const std::optional<Stream> read = Read(bytes, RdbType::kStream2);
  ASSERT_TRUE(read.has_value());
  read->Check();
  EXPECT_LT(read->BytesUsed(), 100 * bytes.size());
  for (Stream::Cursor at(*read, kFirstStreamId, Stream::Cursor::kForward); at.valid(); at.Next()) {
    at.entry().ForEachField([&](std::string_view found, std::string_view) {
      EXPECT_EQ(found.size(), at.id().ms % 3 == 0 ? 5u : name.size());
    });
  }
}

}  // namespace
}  // namespace zsetd::stream_rdb_test
