#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/resp/reply_writer.h"

namespace zsetd {

// Writes the pairs of a map. The header is already written, and may announce more pairs.
class ReplyFields {
 public:
  explicit ReplyFields(ReplyWriter& reply) : reply_(reply) {}

  void Text(std::string_view name, std::string_view value) {
    reply_.Bulk(name);
    reply_.Bulk(value);
  }
  void Number(std::string_view name, uint64_t value) {
    reply_.Bulk(name);
    reply_.Integer(static_cast<int64_t>(value));
  }

 private:
  ReplyWriter& reply_;
};

}  // namespace zsetd
