#include "server/persistence/element_deadlines.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/sorted_set/sorted_set.h"

namespace zsetd {
namespace {

constexpr size_t kMostInField = 4096;

// Collects deadlines and writes a field when there are enough.
class FieldWriter {
 public:
  explicit FieldWriter(RdbFileWriter& writer) : writer_(writer) {}
  ~FieldWriter() { Flush(); }

  void Add(std::string_view member, Millis deadline) {
    RdbWriter pairs(pairs_, /*compresses=*/false);
    pairs.String(member);
    pairs.Length(static_cast<uint64_t>(deadline.count()));
    if (++count_ == kMostInField) Flush();
  }

 private:
  void Flush() {
    if (count_ == 0) return;
    std::string field;
    RdbWriter(field).Length(count_);
    field += pairs_;
    writer_.Aux(kElementDeadlinesAux, field);
    pairs_.clear();
    count_ = 0;
  }

  RdbFileWriter& writer_;
  std::string pairs_;
  size_t count_ = 0;
};

}  // namespace

void WriteElementDeadlines(const Entry& entry, RdbFileWriter& writer) {
  const SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr || !set->has_deadlines()) return;
  FieldWriter fields(writer);
  for (auto at = set->At(0); at.valid(); at.Next()) {
    if (at.deadline()) fields.Add(at.member(), *at.deadline());
  }
}

bool SetElementDeadlines(Entry& entry, std::string_view field) {
  SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr) return false;
  RdbReader reader(field, std::numeric_limits<uint32_t>::max());
  for (uint64_t left = reader.Length(); left > 0; --left) {
    const std::string member(reader.String());
    const uint64_t deadline = reader.Length();
    if (!reader.ok() || !set->Contains(member)) return false;
    set->SetDeadline(member, Millis(static_cast<int64_t>(deadline)));
  }
  return reader.ok() && reader.AtEnd();
}

}  // namespace zsetd
