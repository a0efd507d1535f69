#include "core/sorted_set/form/score_form_table.h"

#include <array>
#include <atomic>
#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace zsetd {
namespace {

struct CountedForm {
  ScoreForm form;
  std::string text;
  uint32_t users = 0;
};

// Readers use `forms` without the lock: the form of a number in use does not change.
struct FormTable {
  FormTable() {
    static const ScoreForm kDoubleForm;
    static const ScoreForm kInt64Form = ScoreForm::Int64();
    forms[ScoreFormTable::kDouble] = &kDoubleForm;
    forms[ScoreFormTable::kInt64] = &kInt64Form;
  }

  std::array<std::atomic<const ScoreForm*>, size_t{ScoreFormTable::kMostForms} + 1> forms{};
  std::mutex mutex;
  std::map<uint16_t, CountedForm> counted;
  std::map<std::string, uint16_t> numbers;  // by the text of the form
  std::vector<uint16_t> free;               // numbers below `next`
  uint32_t next = ScoreFormTable::kInt64 + 1;
};

// It is never destroyed, because sets may be freed until the process ends.
FormTable& TheTable() {
  static FormTable* const table = new FormTable;
  return *table;
}

}  // namespace

uint16_t ScoreFormTable::Take(const ScoreForm& form) {
  if (form.is_double()) return kDouble;
  if (form.kind() == ScoreForm::Kind::kInt64) return kInt64;
  FormTable& table = TheTable();
  const std::lock_guard lock(table.mutex);
  const std::string text = form.Text();
  if (const auto found = table.numbers.find(text); found != table.numbers.end()) {
    ++table.counted[found->second].users;
    return found->second;
  }
  uint16_t number = kDouble;
  if (!table.free.empty()) {
    number = table.free.back();
    table.free.pop_back();
  } else if (table.next <= kMostForms) {
    number = static_cast<uint16_t>(table.next++);
  } else {
    return kDouble;
  }
  CountedForm& counted = table.counted[number];
  counted = {form, text, 1};
  table.numbers[text] = number;
  table.forms[number].store(&counted.form, std::memory_order_release);
  return number;
}

void ScoreFormTable::Share(uint16_t number) {
  if (number <= kInt64) return;
  FormTable& table = TheTable();
  const std::lock_guard lock(table.mutex);
  const auto found = table.counted.find(number);
  assert(found != table.counted.end());
  ++found->second.users;
}

void ScoreFormTable::Release(uint16_t number) {
  if (number <= kInt64) return;
  FormTable& table = TheTable();
  const std::lock_guard lock(table.mutex);
  const auto found = table.counted.find(number);
  assert(found != table.counted.end() && found->second.users > 0);
  if (--found->second.users > 0) return;
  table.forms[number].store(nullptr, std::memory_order_release);
  table.numbers.erase(found->second.text);
  table.counted.erase(found);
  table.free.push_back(number);
}

const ScoreForm& ScoreFormTable::Get(uint16_t number) {
  const ScoreForm* const form = TheTable().forms[number].load(std::memory_order_acquire);
  assert(form != nullptr);
  return *form;
}

}  // namespace zsetd
