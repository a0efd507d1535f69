#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/stream/stream.h"
#include "tests/fuzz/choices.h"

namespace zsetd {

// A plain model of a stream, without producers.
struct StreamModel {
  using Texts = std::vector<std::string>;  // names and values in turn
  using Entries = std::map<StreamId, Texts>;

  struct Pending {
    std::optional<std::string> consumer;  // nullopt: released
    Millis delivered{0};
    uint64_t deliveries = 0;

    friend bool operator==(const Pending&, const Pending&) = default;
  };

  struct Group {
    StreamId last;
    int64_t entries_read = 0;
    std::map<std::string, Millis> consumers;  // when they asked last
    std::map<StreamId, Pending> pending;
    std::vector<StreamId> released;  // in the order of their release

    friend bool operator==(const Group&, const Group&) = default;
  };

  Entries entries;
  StreamState state;
  std::map<std::string, Group> groups;

  friend bool operator==(const StreamModel&, const StreamModel&) = default;
};

StreamModel ModelOf(const Stream& stream);

// The entries of a block that are not deleted.
StreamModel::Entries EntriesOf(const StreamBlock& block);

// Ends the process if the condition is false.
void Must(bool holds, const char* condition);

// A stream and its model. Each step changes both, and compares what it reads.
class StreamBesideModel {
 public:
  void Step(Choices& choices);

  // Compares all, and the stream with the copies that are being taken.
  void Check();

  const Stream& stream() const { return stream_; }
  const StreamModel& model() const { return model_; }

 private:
  StreamId AnyId(Choices& choices) const;
  StreamModel::Group* AnyGroup(Choices& choices, std::string& name);

  void Append(Choices& choices);
  void Delete(Choices& choices);
  void Trim(Choices& choices);
  void SetState(Choices& choices);
  void AddOrRemoveGroup(Choices& choices);
  void AddOrRemoveConsumer(Choices& choices);
  void SetPending(Choices& choices);
  void Release(Choices& choices);
  void Acknowledge(Choices& choices);
  void Walk(Choices& choices);
  void ContinueAtPlace(Choices& choices);
  void CopyBlocks(Choices& choices);
  void StepSnapshot(Choices& choices);
  void Clone();

  Stream stream_;
  StreamModel model_;

  StreamPlace place_;
  StreamId placed_;  // the entry at `place_`

  std::unique_ptr<StreamSnapshot> snapshot_;
  StreamModel at_snapshot_;
  StreamModel::Entries shown_;
};

}  // namespace zsetd
