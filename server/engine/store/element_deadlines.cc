#include "server/engine/store/element_deadlines.h"

#include <cstdint>
#include <limits>
#include <string>

#include "core/sorted_set/sorted_set.h"

namespace zsetd {
void WriteElementDeadlines(const Entry& entry, RdbFileWriter& writer) {
  const SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr || !set->has_deadlines()) return;
  ElementDeadlineFields fields;
  for (auto at = set->At(0); at.valid(); at.Next()) {
    if (at.deadline()) fields.Add(at.member(), *at.deadline());
  }
  WriteElementDeadlines(fields.Take(), writer);
}

void WriteElementDeadlines(const std::vector<std::string>& fields, RdbFileWriter& writer) {
  for (const std::string& field : fields) writer.Aux(kElementDeadlinesAux, field);
}

bool ReadElementDeadlines(std::string_view field, const VisitElementDeadline& visit) {
  RdbReader reader(field, std::numeric_limits<uint32_t>::max());
  for (uint64_t left = reader.Length(); left > 0; --left) {
    const std::string member(reader.String());
    const uint64_t deadline = reader.Length();
    if (!reader.ok() || !visit(member, Millis(static_cast<int64_t>(deadline)))) return false;
  }
  return reader.ok() && reader.AtEnd();
}

bool SetElementDeadlines(Entry& entry, std::string_view field) {
  SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr) return false;
  return ReadElementDeadlines(field, [set](std::string_view member, Millis deadline) {
    if (!set->Contains(member)) return false;
    set->SetDeadline(member, deadline);
    return true;
  });
}

}  // namespace zsetd
