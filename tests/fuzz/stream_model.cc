#include "tests/fuzz/stream_model.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <utility>

namespace zsetd {
namespace {

using Entries = StreamModel::Entries;
using Group = StreamModel::Group;
using Texts = StreamModel::Texts;

Texts TextsOf(const StreamEntry& entry) {
  Texts texts;
  entry.ForEachField([&](std::string_view name, std::string_view value) {
    texts.emplace_back(name);
    texts.emplace_back(value);
  });
  return texts;
}

Group GroupModelOf(const ConsumerGroup& group) {
  Group model = {.last = group.last_id(), .entries_read = group.entries_read()};
  for (const auto& [name, consumer] : group.consumers()) model.consumers[name] = consumer.seen;
  for (PendingEntries::Cursor at(group.pending(), kFirstStreamId); at.valid(); at.Next()) {
    const PendingEntry& entry = at.entry();
    StreamModel::Pending& pending = model.pending[entry.id];
    if (!entry.is_released()) pending.consumer = group.NameOf(entry);
    pending.delivered = entry.delivery_time();
    pending.deliveries = entry.deliveries;
  }
  const auto all = [](StreamId) { return true; };
  for (const PendingEntry& entry : group.pending().Idle(Millis(0), UINT64_MAX, all)) {
    if (entry.is_released()) model.released.push_back(entry.id);
  }
  Must(model.released.size() == group.released(), "released entries are counted");
  return model;
}

std::string AnyText(Choices& choices) {
  switch (choices.Below(8)) {
    case 0:
      return "field";
    case 1:
      return std::to_string(choices.Number());
    case 2:
      return "-" + std::to_string(choices.Number());
    case 3:
      return "0" + std::to_string(choices.Below(10));
    case 4:
      return std::string(choices.Number() % 6000, 'v');
    case 5:
      return "";
    default:
      return std::string(choices.Bytes(choices.Below(80)));
  }
}

Texts AnyFields(Choices& choices) {
  Texts texts;
  for (uint64_t left = 1 + choices.Below(4); left > 0; --left) {
    texts.push_back(std::string(1, static_cast<char>('a' + choices.Below(12))));
    texts.push_back(AnyText(choices));
  }
  if (choices.Below(16) == 15) texts[0] = AnyText(choices);
  return texts;
}

StreamLimits AnyLimits(Choices& choices) {
  constexpr size_t kEntries[] = {100, 0, 1, 3};
  constexpr size_t kBytes[] = {4096, 0, 1, 300};
  const uint64_t choice = choices.Below(16);
  return {.entries = kEntries[choice % 4], .bytes = kBytes[choice / 4], .producers = {}};
}

void AddTo(Entries& entries, const StreamEntry& entry) {
  Must(entries.empty() || entries.rbegin()->first < entry.id, "IDs ascend");
  entries.emplace_hint(entries.end(), entry.id, TextsOf(entry));
}

}  // namespace

void Must(bool holds, const char* condition) {
  if (holds) return;
  std::cerr << "violated: " << condition << '\n';
  std::abort();
}

Entries EntriesOf(const StreamBlock& block) {
  Entries entries;
  StreamBlock::Reader at(block);
  for (at.SkipTo(kFirstStreamId); at.valid(); at.Next(), at.SkipTo(kFirstStreamId)) {
    AddTo(entries, at.entry());
  }
  return entries;
}

StreamModel ModelOf(const Stream& stream) {
  StreamModel model;
  for (Stream::Cursor at(stream, kFirstStreamId, Stream::Cursor::kForward); at.valid(); at.Next()) {
    AddTo(model.entries, at.entry());
  }
  model.state = stream.state();
  for (const auto& [name, group] : stream.groups()) model.groups[name] = GroupModelOf(group);
  Must(model.entries.size() == stream.size(), "size() counts the entries");
  return model;
}

void StreamBesideModel::Step(Choices& choices) {
  switch (choices.Below(20)) {
    case 6:
    case 7:
      return Delete(choices);
    case 8:
      return Trim(choices);
    case 9:
      return SetState(choices);
    case 10:
      return AddOrRemoveGroup(choices);
    case 11:
      return AddOrRemoveConsumer(choices);
    case 12:
    case 13:
      return SetPending(choices);
    case 14:
      return choices.Below(2) == 0 ? Release(choices) : Acknowledge(choices);
    case 15:
      return Walk(choices);
    case 16:
      return ContinueAtPlace(choices);
    case 17:
      return CopyBlocks(choices);
    case 18:
      return StepSnapshot(choices);
    case 19:
      return Clone();
    default:
      return Append(choices);
  }
}

void StreamBesideModel::Check() {
  stream_.Check();
  Must(ModelOf(stream_) == model_, "the stream equals the model");
  const std::optional<StreamId> last = stream_.LastEntryId();
  Must(last.has_value() == !model_.entries.empty(), "an empty stream has no last entry");
  Must(!last || *last == model_.entries.rbegin()->first, "LastEntryId()");
  Must(!last || *stream_.FirstId() == model_.entries.begin()->first, "FirstId()");
}

// An existing entry's, or an arbitrary one.
StreamId StreamBesideModel::AnyId(Choices& choices) const {
  const uint8_t choice = choices.Byte();
  if (choice < 32 || model_.entries.empty()) return {choices.Number(), choices.Number()};
  const size_t index = (choice - 32u) * model_.entries.size() / 224;
  return std::next(model_.entries.begin(), static_cast<ptrdiff_t>(index))->first;
}

// The model of one of two groups, or null if it does not exist.
Group* StreamBesideModel::AnyGroup(Choices& choices, std::string& name) {
  name = choices.Below(4) == 3 ? "h" : "g";
  const auto found = model_.groups.find(name);
  Must((found == model_.groups.end()) == (stream_.FindGroup(name) == nullptr), "FindGroup()");
  return found == model_.groups.end() ? nullptr : &found->second;
}

void StreamBesideModel::Append(Choices& choices) {
  const StreamId last = model_.state.last_id;
  StreamId id = {last.ms + choices.Below(20), 0};
  if (choices.Below(4) == 3) id = {last.ms + choices.Number(), choices.Number()};
  if (id <= last) {
    if (last == kLastStreamId) return;
    id = *last.Next();
  }
  const Texts texts = AnyFields(choices);
  const std::vector<std::string_view> fields(texts.begin(), texts.end());
  stream_.Append(id, fields, AnyLimits(choices));
  model_.entries[id] = texts;
  model_.state.last_id = id;
  ++model_.state.entries_added;
}

void StreamBesideModel::Delete(Choices& choices) {
  const StreamId id = AnyId(choices);
  const bool exists = model_.entries.erase(id) == 1;
  Must(stream_.Contains(id) == exists, "Contains()");
  Must(stream_.Delete(id) == exists, "Delete() reports whether the entry existed");
  if (exists) model_.state.max_deleted_id = std::max(model_.state.max_deleted_id, id);
}

// An approximate trim removes a part of what the exact one removes.
void StreamBesideModel::Trim(Choices& choices) {
  StreamTrim trim;
  if (choices.Below(2) == 0) {
    trim.length = choices.Number();
  } else {
    trim.by = StreamTrim::By::kId;
    trim.least_id = AnyId(choices);
  }
  trim.approximate = choices.Below(2) == 0;
  if (trim.approximate) trim.most = choices.Below(3) * choices.Byte();
  std::vector<StreamId> removed;
  const size_t count = stream_.Trim(trim, &removed);
  Must(count == removed.size(), "Trim() counts the entries that it reports");
  Must(trim.most == 0 || count <= trim.most, "Trim() keeps to its limit");
  auto& entries = model_.entries;
  const auto must_go = [&] {
    if (entries.empty()) return false;
    return trim.by == StreamTrim::By::kLength ? entries.size() > trim.length
                                              : entries.begin()->first < trim.least_id;
  };
  for (const StreamId id : removed) {
    Must(must_go() && entries.begin()->first == id, "Trim() removes the oldest entries");
    entries.erase(entries.begin());
  }
  Must(trim.approximate || !must_go(), "an exact trim removes all");
}

void StreamBesideModel::SetState(Choices& choices) {
  StreamState state = model_.state;
  state.entries_added = choices.Number();
  state.max_deleted_id = AnyId(choices);
  const StreamId last = {choices.Number(), choices.Number()};
  if (last > state.last_id) state.last_id = last;
  stream_.SetState(state);
  model_.state = state;
}

void StreamBesideModel::AddOrRemoveGroup(Choices& choices) {
  std::string name;
  const Group* const group = AnyGroup(choices, name);
  if (choices.Below(4) == 3) {
    Must(stream_.RemoveGroup(name) == (group != nullptr), "RemoveGroup()");
    model_.groups.erase(name);
    return;
  }
  const StreamId last = AnyId(choices);
  const auto entries_read = static_cast<int64_t>(choices.Number()) - 1;
  const bool is_new = stream_.AddGroup(name, ConsumerGroup(last, entries_read));
  Must(is_new == (group == nullptr), "AddGroup()");
  if (is_new) model_.groups[name] = {.last = last, .entries_read = entries_read};
}

void StreamBesideModel::AddOrRemoveConsumer(Choices& choices) {
  std::string name;
  Group* const group = AnyGroup(choices, name);
  if (group == nullptr) return;
  const std::string consumer(choices.Below(8), 'c');
  if (choices.Below(4) < 3) {
    const Millis seen(static_cast<int64_t>(choices.Number() >> 1));
    stream_.ChangeGroup(name)->Seen(consumer, seen);
    group->consumers[consumer] = seen;
    return;
  }
  const size_t removed = std::erase_if(
      group->pending, [&](const auto& each) { return each.second.consumer == consumer; });
  Must(stream_.ChangeGroup(name)->RemoveConsumer(consumer) == removed, "RemoveConsumer()");
  group->consumers.erase(consumer);
}

void StreamBesideModel::SetPending(Choices& choices) {
  std::string name;
  Group* const group = AnyGroup(choices, name);
  const StreamId first = AnyId(choices);
  if (group == nullptr || group->consumers.empty()) return;
  const auto consumer = std::next(group->consumers.begin(),
                                  static_cast<ptrdiff_t>(choices.Below(group->consumers.size())));
  const Millis delivered(static_cast<int64_t>(choices.Number() >> 1));
  const uint64_t deliveries = choices.Number();
  uint64_t left = choices.Below(4) == 3 ? choices.Byte() : 1;
  for (StreamId id = first; left > 0; --left) {
    stream_.ChangeGroup(name)->SetPending(id, consumer->first, delivered, deliveries);
    group->pending[id] = {consumer->first, delivered, deliveries};
    std::erase(group->released, id);
    if (id.ms == UINT64_MAX) break;
    ++id.ms;
  }
}

void StreamBesideModel::Release(Choices& choices) {
  std::string name;
  Group* const group = AnyGroup(choices, name);
  const StreamId id = AnyId(choices);
  if (group == nullptr) return;
  const uint64_t deliveries = choices.Number();
  stream_.ChangeGroup(name)->Release(id, deliveries);
  group->pending[id] = {std::nullopt, Millis(0), deliveries};
  std::erase(group->released, id);
  group->released.push_back(id);
}

void StreamBesideModel::Acknowledge(Choices& choices) {
  std::string name;
  Group* const group = AnyGroup(choices, name);
  if (group == nullptr) return;
  StreamId id = AnyId(choices);
  for (uint64_t left = 1 + choices.Byte() / 2; left > 0; --left) {
    const bool existed = group->pending.erase(id) == 1;
    Must(stream_.ChangeGroup(name)->Acknowledge(id) == existed, "Acknowledge()");
    std::erase(group->released, id);
    const auto next = group->pending.upper_bound(id);
    if (next == group->pending.end()) break;
    id = next->first;
  }
}

void StreamBesideModel::Walk(Choices& choices) {
  const StreamId from = AnyId(choices);
  const uint64_t most = choices.Number();
  const auto& entries = model_.entries;
  auto expected = entries.lower_bound(from);
  const auto count = static_cast<uint64_t>(std::distance(expected, entries.end()));
  Must(stream_.CountInRange(from, kLastStreamId, most) == std::min(count, most), "CountInRange()");
  for (Stream::Cursor at(stream_, from, Stream::Cursor::kForward); at.valid(); at.Next()) {
    Must(expected != entries.end() && at.id() == expected->first, "forward");
    place_ = at.place();
    placed_ = at.id();
    if (choices.Below(8) == 7) break;
    ++expected;
  }
  auto end = entries.upper_bound(from);
  for (Stream::Cursor at(stream_, from, Stream::Cursor::kBackward); at.valid(); at.Next()) {
    Must(end != entries.begin() && at.id() == (--end)->first, "backward");
    Must(TextsOf(at.entry()) == end->second, "fields backward");
  }
  Must(end == entries.begin(), "backward to the first entry");
}

void StreamBesideModel::ContinueAtPlace(Choices& choices) {
  uint64_t left = choices.Below(20);
  auto expected = model_.entries.upper_bound(placed_);
  for (Stream::Cursor at(stream_, placed_, place_); at.valid() && left > 0; at.Next(), --left) {
    Must(expected != model_.entries.end() && at.id() == expected->first, "IDs after a place");
    Must(TextsOf(at.entry()) == expected->second, "fields after a place");
    place_ = at.place();
    placed_ = at.id();
    ++expected;
  }
  Must(left == 0 || expected == model_.entries.end(), "a place continues to the end");
}

void StreamBesideModel::CopyBlocks(Choices& choices) {
  const StreamRange range = {.first = AnyId(choices),
                             .last = AnyId(choices),
                             .most = 1 + choices.Number(),
                             .backward = choices.Below(2) == 0};
  if (range.first > range.last) return;
  const Stream copy = stream_.CopyBlocks(range);
  const auto walk = [&](const Stream& stream) {
    const auto direction = range.backward ? Stream::Cursor::kBackward : Stream::Cursor::kForward;
    Stream::Cursor at(stream, range.backward ? range.last : range.first, direction);
    std::vector<Texts> found;
    for (uint64_t left = range.most; left > 0 && at.valid(); --left, at.Next()) {
      if (at.id() < range.first || at.id() > range.last) break;
      found.push_back(TextsOf(at.entry()));
    }
    return found;
  };
  Must(walk(copy) == walk(stream_), "copied blocks have the range");
}

void StreamBesideModel::StepSnapshot(Choices& choices) {
  if (snapshot_ == nullptr) {
    snapshot_ = stream_.StartSnapshot();
    at_snapshot_ = model_;
    shown_.clear();
  }
  for (uint64_t left = choices.Below(8); left > 0 && !snapshot_->done(); --left) {
    snapshot_->Step([&](const StreamBlock& block) { shown_.merge(EntriesOf(block)); });
  }
  if (choices.Below(16) == 15) return snapshot_.reset();
  if (!snapshot_->done()) return;
  const StreamTail tail = snapshot_->TakeTail();
  StreamModel taken = {.entries = std::move(shown_), .state = tail.state, .groups = {}};
  for (const auto& [name, group] : tail.groups) taken.groups[name] = GroupModelOf(group);
  Must(taken == at_snapshot_, "a snapshot has the stream of its start");
  Must(tail.length == taken.entries.size(), "a snapshot has the length of its start");
  snapshot_.reset();
}

void StreamBesideModel::Clone() { stream_ = stream_.Clone(); }

}  // namespace zsetd
