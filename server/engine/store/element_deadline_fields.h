#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/time.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {

// Collects the deadlines of members for the fields of a snapshot's file that hold them
// (server/persistence/element_deadlines.h): [ count { member deadline } ], some thousands in each.
class ElementDeadlineFields {
 public:
  void Add(std::string_view member, Millis deadline) {
    RdbWriter pairs(pairs_, /*compresses=*/false);
    pairs.String(member);
    pairs.Length(static_cast<uint64_t>(deadline.count()));
    if (++count_ == kMostInField) End();
  }

  std::vector<std::string> Take() {
    if (count_ > 0) End();
    return std::exchange(fields_, {});
  }

 private:
  static constexpr size_t kMostInField = 4096;

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

}  // namespace zsetd
