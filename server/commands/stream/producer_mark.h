#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/stream/stream.h"
#include "server/engine/call.h"

namespace zsetd {

// The options of XADD with which a producer marks an entry, so that a repeated request adds
// nothing: IDMP producer-id id | IDMPAUTO producer-id
struct ProducerMark {
  std::string_view producer;
  std::string_view id;  // empty: computed from the fields (IDMPAUTO)
};

// Takes one of these options. Returns false, and takes nothing, if the next argument is another
// one.
bool TakeProducerMark(ArgReader& args, std::optional<ProducerMark>& mark);

// The ID of the mark. Equal fields with equal values, in any order, have the same one.
std::string IdOfMark(const ProducerMark& mark, Args fields);

// Propagates the limits of marks of a stream as XCFGSET, because other servers may have other
// settings.
void PropagateMarkLimits(Call& call, std::string_view key, const Producers::Limits& limits);

// Propagates the mark of an entry to servers that know marks.
void PropagateMark(Call& call, std::string_view key, std::string_view producer, std::string_view id,
                   StreamId entry);

}  // namespace zsetd
