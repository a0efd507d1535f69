#include "server/engine/store/stream/stream_producers.h"

#include <cassert>
#include <cstdint>
#include <limits>
#include <string>

#include "core/stream/stream.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {
namespace {

void WriteEntryId(StreamId id, RdbWriter& writer) {
  writer.Length(id.ms);
  writer.Length(id.seq);
}

// Each producer has its IDs after its name.
void WriteMarks(const Producers& producers, RdbWriter& writer) {
  struct Run {
    std::string_view producer;
    std::string ids;
    uint64_t count = 0;
  };
  Run run;
  [[maybe_unused]] size_t runs = 0;
  const auto end_run = [&] {
    if (run.count == 0) return;
    ++runs;
    writer.String(run.producer);
    writer.Length(run.count);
    writer.Written(run.ids);
  };
  writer.Length(producers.producer_count());
  producers.ForEach([&](std::string_view producer, std::string_view id, StreamId entry) {
    if (run.count == 0 || producer != run.producer) {
      end_run();
      run = {.producer = producer, .ids = {}, .count = 0};
    }
    RdbWriter mark(run.ids, /*compresses=*/false);
    mark.String(id);
    WriteEntryId(entry, mark);
    ++run.count;
  });
  end_run();
  assert(runs == producers.producer_count());
}

bool ReadMarks(RdbReader& reader, const std::string& producer, Producers* producers) {
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const std::string id(reader.String());
    StreamId entry;
    entry.ms = reader.Length();
    entry.seq = reader.Length();
    if (!reader.ok() || producer.empty() || id.empty()) return false;
    if (producers == nullptr) continue;
    if (producers->Find(producer, id, Millis(0))) return false;
    producers->Add(producer, id, entry, Millis(0));
  }
  return reader.ok();
}

}  // namespace

void WriteStreamProducers(const Producers& producers, RdbWriter& writer) {
  writer.Length(producers.limits().seconds);
  writer.Length(producers.limits().ids);
  WriteMarks(producers, writer);
  writer.Length(producers.counts().added);
  writer.Length(producers.counts().repeated);
}

void WriteStreamProducers(const Producers* producers, RdbFileWriter& writer) {
  if (producers == nullptr) return;
  std::string field;
  RdbWriter content(field, /*compresses=*/false);
  WriteStreamProducers(*producers, content);
  writer.Aux(kStreamProducersAux, field);
}

void WriteStreamProducers(const Entry& entry, RdbFileWriter& writer) {
  const Stream* const stream = entry.GetIf<Stream>();
  if (stream != nullptr) WriteStreamProducers(stream->producers(), writer);
}

bool ReadStreamProducers(RdbReader& reader, Producers* producers) {
  Producers::Limits limits;
  limits.seconds = reader.Length();
  limits.ids = reader.Length();
  const bool is_sound = limits.seconds >= 1 && limits.seconds <= Producers::kMostSeconds &&
                        limits.ids >= 1 && limits.ids <= Producers::kMostIds;
  if (!reader.ok() || !is_sound) return false;
  if (producers != nullptr) producers->SetLimits(limits);
  for (uint64_t left = reader.Length(); left > 0; --left) {
    const std::string producer(reader.String());
    if (!reader.ok() || !ReadMarks(reader, producer, producers)) return false;
  }
  Producers::Counts counts;
  counts.added = reader.Length();
  counts.repeated = reader.Length();
  if (producers != nullptr) producers->SetCounts(counts);
  return reader.ok();
}

bool SetStreamProducers(Entry* entry, std::string_view field) {
  Stream* const stream = entry == nullptr ? nullptr : entry->GetIf<Stream>();
  if (entry != nullptr && stream == nullptr) return false;
  RdbReader reader(field, std::numeric_limits<uint32_t>::max());
  Producers* const producers = stream == nullptr ? nullptr : &stream->ChangeProducers();
  return ReadStreamProducers(reader, producers) && reader.AtEnd();
}

}  // namespace zsetd
