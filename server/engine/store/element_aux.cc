#include "server/engine/store/element_aux.h"

#include <cstdint>
#include <limits>
#include <string>

#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/sorted_set_builder.h"

namespace zsetd {
namespace {

void WriteFormOf(const SortedSet& set, RdbFileWriter& writer) {
  ScoreFormFields fields(set.form());
  for (auto at = set.At(0); at.valid(); at.Next()) fields.Add(at.member(), ScoreCode(at.score()));
  WriteScoreForm(fields.Take(), writer);
}

// Gives the set the form: each score becomes the code that is nearest to it. Returns false if too
// many forms are in use.
bool GiveForm(SortedSet& set, const ScoreForm& form) {
  SortedSetBuilder builder(form);
  for (auto at = set.At(0); at.valid(); at.Next()) {
    builder.Add(at.member(), ScoreOf(form.Nearest(at.score())), at.deadline());
    if (const auto payload = at.payload()) builder.SetPayload(at.member(), *payload);
  }
  std::optional<SortedSet> formed = builder.Build();
  if (!formed) return false;
  if (set.encoding() == SortedSetEncoding::kSkiplist) {
    formed->Expect(std::numeric_limits<size_t>::max(), 0, {});
  }
  set = *std::move(formed);
  return true;
}

}  // namespace

std::vector<std::string> ScoreFormFields::Take() {
  std::vector<std::string> codes = ElementFields::Take();
  if (codes.empty()) RdbWriter(codes.emplace_back()).Length(0);
  for (std::string& field : codes) {
    std::string whole;
    RdbWriter(whole, /*compresses=*/false).String(form_.Text());
    field = whole + field;
  }
  return codes;
}

void WriteElementFields(const Entry& entry, RdbFileWriter& writer) {
  const SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr) return;
  if (set->has_form()) WriteFormOf(*set, writer);
  if (!set->has_deadlines() && !set->HasPayloads()) return;
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

void WriteScoreForm(const std::vector<std::string>& fields, RdbFileWriter& writer) {
  for (const std::string& field : fields) writer.Aux(kScoreFormAux, field);
}

std::optional<ScoreForm> ReadScoreForm(std::string_view field, const VisitScoreCode& visit) {
  RdbReader reader(field, std::numeric_limits<uint32_t>::max());
  const std::optional<ScoreForm> form = ScoreForm::Read(reader.String());
  if (!reader.ok() || !form || form->is_double()) return std::nullopt;
  for (uint64_t left = reader.Length(); left > 0; --left) {
    const std::string member(reader.String());
    const uint64_t code = reader.LittleEndian(8);
    if (!reader.ok() || !form->IsCode(code) || !visit(member, code)) return std::nullopt;
  }
  return reader.ok() && reader.AtEnd() ? form : std::nullopt;
}

bool SetScoreForm(Entry& entry, std::string_view field) {
  SortedSet* set = entry.GetIf<SortedSet>();
  if (set == nullptr) return false;
  std::vector<std::pair<std::string, uint64_t>> codes;
  const auto form = ReadScoreForm(field, [&](std::string_view member, uint64_t code) {
    codes.emplace_back(member, code);
    return set->Contains(member);
  });
  if (!form || (set->has_form() && set->form() != *form)) return false;
  if (!set->has_form() && !GiveForm(*set, *form)) return false;
  for (const auto& [member, code] : codes) set->Place(member, code, /*keeps_deadline=*/true);
  return true;
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
