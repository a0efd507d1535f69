#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/keyspace/entry.h"
#include "core/sorted_set/form/score_form.h"
#include "core/util/time.h"
#include "protocol/rdb/rdb_file.h"

namespace zsetd {

// Forms of scores, deadlines and payloads of members of sorted sets in a snapshot file. Redis has
// no place for them, so they are in AUX fields after their key. Each loader ignores a field that it
// does not know:
//
//   type key value   250 "zsetd-form" [ form count { member code } ]
//                    250 "zsetd-ttl" [ count { member deadline } ]   250 "zsetd-ttl" [ ... ]
//                    250 "zsetd-data" [ count { member payload } ]   250 "zsetd-data" [ ... ] type
//
// The fields name the members: pieces of a large set may be in the file in another order than the
// set's. The value has the double of each score; "zsetd-form" has the codes of the scores that are
// not exact as doubles.
inline constexpr std::string_view kScoreFormAux = "zsetd-form";
inline constexpr std::string_view kElementDeadlinesAux = "zsetd-ttl";
inline constexpr std::string_view kElementPayloadsAux = "zsetd-data";

// Collects pairs of a member and its property for such fields.
class ElementFields {
 public:
  std::vector<std::string> Take() {
    if (count_ > 0) End();
    return std::exchange(fields_, {});
  }

 protected:
  // Writes the member. The caller writes the property with the returned writer, then calls
  // EndIfFull().
  RdbWriter StartPair(std::string_view member) {
    RdbWriter pairs(pairs_, /*compresses=*/false);
    pairs.String(member);
    ++count_;
    return pairs;
  }

  void EndIfFull(bool is_full) {
    if (is_full) End();
  }

  size_t count() const { return count_; }
  size_t bytes() const { return pairs_.size(); }

 private:
  void End() {
    std::string field;
    RdbWriter(field).Length(count_);
    field += pairs_;
    fields_.push_back(std::move(field));
    pairs_.clear();
    count_ = 0;
  }

  std::vector<std::string> fields_;
  std::string pairs_;
  size_t count_ = 0;
};

// Deadlines, some thousands in each field.
class ElementDeadlineFields : public ElementFields {
 public:
  void Add(std::string_view member, Millis deadline) {
    StartPair(member).Length(static_cast<uint64_t>(deadline.count()));
    EndIfFull(count() == kMostInField);
  }

 private:
  static constexpr size_t kMostInField = 4096;
};

// Payloads, about a megabyte in each field.
class ElementPayloadFields : public ElementFields {
 public:
  void Add(std::string_view member, std::string_view payload) {
    StartPair(member).String(payload);
    EndIfFull(bytes() >= kFullBytes);
  }

 private:
  static constexpr size_t kFullBytes = 1u << 20;
};

// The form of a set, and the codes of scores that their doubles do not determine.
class ScoreFormFields : public ElementFields {
 public:
  explicit ScoreFormFields(const ScoreForm& form) : form_(form) {}

  const ScoreForm& form() const { return form_; }

  void Add(std::string_view member, uint64_t code) {
    if (form_.Nearest(form_.Rounded(code)) == code) return;
    StartPair(member).LittleEndian(code, 8);
    EndIfFull(count() == kMostInField);
  }

  // At least one field, each with the form.
  std::vector<std::string> Take();

 private:
  static constexpr size_t kMostInField = 4096;

  const ScoreForm form_;
};

// Writes the fields of the entry, whose value has just been written. O(n) if it has a form,
// deadlines or payloads, else O(blocks).
void WriteElementFields(const Entry& entry, RdbFileWriter& writer);

// Write fields from the classes above, of a value that was written in slices. The form comes first.
void WriteScoreForm(const std::vector<std::string>& fields, RdbFileWriter& writer);
void WriteElementDeadlines(const std::vector<std::string>& fields, RdbFileWriter& writer);
void WriteElementPayloads(const std::vector<std::string>& fields, RdbFileWriter& writer);

// Calls `visit` for each deadline in such a field. False if the field is not sound, or `visit`
// returned false.
using VisitElementDeadline = std::function<bool(std::string_view member, Millis deadline)>;
bool ReadElementDeadlines(std::string_view field, const VisitElementDeadline& visit);

// Sets the deadlines that such a field has on the value of its key. False if the field is not
// sound, or another value's; some of it may have been set.
bool SetElementDeadlines(Entry& entry, std::string_view field);

// Like the functions above, for a field of a form. The first one gives its form to all scores of
// the value, which then have the codes that are nearest to them.
using VisitScoreCode = std::function<bool(std::string_view member, uint64_t code)>;
std::optional<ScoreForm> ReadScoreForm(std::string_view field, const VisitScoreCode& visit);
bool SetScoreForm(Entry& entry, std::string_view field);

// Like the functions above, for a field of payloads.
using VisitElementPayload = std::function<bool(std::string_view member, std::string_view payload)>;
bool ReadElementPayloads(std::string_view field, const VisitElementPayload& visit);
bool SetElementPayloads(Entry& entry, std::string_view field);

}  // namespace zsetd
