#include "server/engine/store/element_aux.h"

#include <cstdint>
#include <limits>
#include <string>

#include "core/sorted_set/sorted_set.h"

namespace zsetd {

void WriteElementFields(const Entry& entry, RdbFileWriter& writer) {
  const SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr || (!set->has_deadlines() && !set->HasPayloads())) return;
  ElementDeadlineFields deadlines;
  ElementPayloadFields payloads;
  for (auto at = set->At(0); at.valid(); at.Next()) {
    if (const auto deadline = at.deadline()) deadlines.Add(at.member(), *deadline);
    if (const auto payload = at.payload()) payloads.Add(at.member(), *payload);
  }
  WriteElementDeadlines(deadlines.Take(), writer);
  WriteElementPayloads(payloads.Take(), writer);
}

void WriteElementDeadlines(const std::vector<std::string>& fields, RdbFileWriter& writer) {
  for (const std::string& field : fields) writer.Aux(kElementDeadlinesAux, field);
}

void WriteElementPayloads(const std::vector<std::string>& fields, RdbFileWriter& writer) {
  for (const std::string& field : fields) writer.Aux(kElementPayloadsAux, field);
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

bool ReadElementPayloads(std::string_view field, const VisitElementPayload& visit) {
  RdbReader reader(field, std::numeric_limits<uint32_t>::max());
  for (uint64_t left = reader.Length(); left > 0; --left) {
    const std::string member(reader.String());
    const std::string_view payload = reader.String();
    if (!reader.ok() || !visit(member, payload)) return false;
  }
  return reader.ok() && reader.AtEnd();
}

bool SetElementPayloads(Entry& entry, std::string_view field) {
  SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr) return false;
  return ReadElementPayloads(field, [set](std::string_view member, std::string_view payload) {
    if (!set->Contains(member)) return false;
    set->SetPayload(member, payload);
    return true;
  });
}

}  // namespace zsetd
