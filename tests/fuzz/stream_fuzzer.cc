// Streams under libFuzzer. The first byte selects the rest:
//
//   operations                    a stream and a plain model do the same
//   type | bytes                  the bytes are an RDB value
//   type | elements | bytes       as the value, but its listpacks are sound
//   changes | operations          some bytes of the value of a stream are changed
//
// A value that is read is consistent, and is written as a value that reads the same.

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "protocol/rdb/packed_elements.h"
#include "protocol/rdb/rdb_reader.h"
#include "protocol/rdb/rdb_writer.h"
#include "protocol/text/number_text.h"
#include "server/engine/store/stream/stream_listpack.h"
#include "server/engine/store/stream/stream_producers.h"
#include "server/engine/store/stream/stream_rdb_reader.h"
#include "server/engine/store/stream/stream_rdb_writer.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/stream_model.h"

namespace zsetd {
namespace {

constexpr size_t kMostSteps = 3000;

constexpr RdbType kTypes[] = {RdbType::kStream2, RdbType::kStream, RdbType::kStream3,
                              RdbType::kStream4, RdbType::kStream5};

std::string ValueOf(const Stream& stream, RdbType type) {
  std::string value;
  RdbWriter writer(value, /*compresses=*/false);
  writer.Length(stream.block_count());
  stream.ForEachBlock([&](const StreamBlock& block) { WriteStreamBlock(block, writer); });
  WriteStreamTail(stream.size(), stream.FirstId().value_or(kFirstStreamId), stream.state(),
                  stream.groups(), writer, type);
  const Producers none;
  const Producers* const producers = stream.producers();
  if (type >= RdbType::kStream4) WriteStreamProducers(producers ? *producers : none, writer);
  return value;
}

std::optional<Stream> Read(std::string_view value, RdbType type) {
  RdbReader reader(value, std::numeric_limits<uint32_t>::max());
  std::optional<Stream> stream = ReadRdbStream(reader, type, {});
  return stream && reader.AtEnd() ? std::move(stream) : std::nullopt;
}

// Changes a group to what a value contains: released entries are those of the empty consumer that
// were delivered at time 0, and have no order.
void LoseInValue(StreamModel::Group& group) {
  bool is_released = false, is_used = false;
  for (auto& [id, pending] : group.pending) {
    if (pending.consumer == "" && pending.delivered == Millis(0)) pending.consumer.reset();
    is_released = is_released || !pending.consumer;
    is_used = is_used || pending.consumer == "";
  }
  const auto empty = group.consumers.find("");
  const bool exists = empty != group.consumers.end() && empty->second == Millis(0);
  if (is_released && !is_used && exists) group.consumers.erase(empty);
  group.released.clear();
}

StreamModel Written(StreamModel model) {
  for (auto& [name, group] : model.groups) LoseInValue(group);
  return model;
}

void CheckWritten(const Stream& stream) {
  stream.Check();
  const StreamModel model = Written(ModelOf(stream));
  for (const RdbType type : {RdbType::kStream2, RdbType::kStream3, RdbType::kStream4}) {
    const std::optional<Stream> again = Read(ValueOf(stream, type), type);
    Must(again.has_value(), "a written stream can be read");
    again->Check();
    Must(Written(ModelOf(*again)) == model, "a stream is read as it was written");
  }
}

void CheckRead(std::string_view value, RdbType type) {
  const std::optional<Stream> stream = Read(value, type);
  if (stream) CheckWritten(*stream);
}

void RunOperations(Choices& choices) {
  StreamBesideModel pair;
  for (size_t step = 0; step < kMostSteps && !choices.AtEnd(); ++step) {
    pair.Step(choices);
    if (choices.Below(16) == 15) pair.Check();
  }
  pair.Check();
}

// A listpack of sound elements, most of which are where a stream has such elements.
class HostileListpack {
 public:
  explicit HostileListpack(Choices& choices) : choices_(choices) {}

  std::string Make() {
    const uint64_t entries = choices_.Below(20);
    const uint64_t names = 1 + choices_.Below(3);
    for (const uint64_t number : {entries, uint64_t{0}, names}) Add(number);
    for (uint64_t i = 0; i < names; ++i) packed_.Add("name");
    Add(0);
    for (uint64_t i = 0; i < entries; ++i) AddEntry(i, names);
    return packed_.Finish();
  }

 private:
  void AddEntry(uint64_t index, uint64_t names) {
    const bool same_names = choices_.Below(4) < 3;
    const uint64_t fields = same_names ? names : 1 + choices_.Below(3);
    Add(same_names ? kListpackSameFields : 0);
    Add(index);
    Add(choices_.Below(8));
    if (!same_names) Add(fields);
    for (uint64_t left = same_names ? fields : 2 * fields; left > 0; --left) {
      packed_.Add(choices_.Bytes(choices_.Below(8)));
    }
    Add(ListpackElementsOf(fields, same_names));
  }

  void Add(uint64_t number) {
    const uint8_t choice = choices_.Byte();
    if (choice == 255) number = choices_.Number();
    if (choice == 254) number = ~choices_.Number();
    if (choice != 253) packed_.Add(IntegerText(static_cast<int64_t>(number)));
    if (choice == 252) packed_.Add(choices_.Bytes(9));
  }

  Choices& choices_;
  ListpackWriter packed_;
};

void ReadListpacks(Choices& choices) {
  const RdbType type = kTypes[choices.Below(std::size(kTypes))];
  std::string value;
  RdbWriter writer(value, /*compresses=*/false);
  const uint64_t blocks = 1 + choices.Below(3);
  writer.Length(blocks);
  uint64_t ms = 1;
  for (uint64_t left = blocks; left > 0; --left, ms += 20 + choices.Number()) {
    std::string base(16, '\0');
    for (size_t i = 0; i < 8; ++i) base[i] = static_cast<char>(ms >> (56 - 8 * i));
    writer.String(base);
    writer.String(HostileListpack(choices).Make());
  }
  const uint64_t length = choices.Number();
  for (const uint64_t number : {length, UINT64_MAX, UINT64_MAX}) writer.Length(number);
  if (choices.Below(4) == 0 && type != RdbType::kStream) {
    for (const uint64_t number : {1, 0, 0, 0, 9}) writer.Length(number);
  }
  if (choices.Below(4) == 0) writer.Length(0);  // groups
  value += choices.Rest();
  CheckRead(value, type);
}

void ReadChanged(Choices& choices) {
  const RdbType type = kTypes[choices.Below(2) == 0 ? 0 : 2 + choices.Below(2)];
  struct Change {
    size_t place;
    uint8_t byte;
  };
  std::vector<Change> changes(choices.Below(5));
  for (Change& change : changes) {
    change.place = size_t{choices.Byte()} << 8;
    change.place += choices.Byte();
    change.byte = choices.Byte();
  }
  StreamBesideModel pair;
  for (size_t step = 0; step < kMostSteps && !choices.AtEnd(); ++step) pair.Step(choices);
  if (changes.empty()) return CheckWritten(pair.stream());
  std::string value = ValueOf(pair.stream(), type);
  for (const Change& change : changes) {
    value[change.place % value.size()] = static_cast<char>(change.byte);
  }
  CheckRead(value, type);
}

void Run(std::string_view bytes) {
  Choices choices(bytes);
  switch (choices.Below(4)) {
    case 0:
      return RunOperations(choices);
    case 1: {
      const RdbType type = kTypes[choices.Below(std::size(kTypes))];
      return CheckRead(choices.Rest(), type);
    }
    case 2:
      return ReadListpacks(choices);
    default:
      return ReadChanged(choices);
  }
}

}  // namespace
}  // namespace zsetd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  zsetd::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
