#pragma once

#include <string_view>

#include "core/keyspace/entry.h"
#include "core/stream/producers.h"
#include "protocol/rdb/rdb_file.h"
#include "protocol/rdb/rdb_reader.h"

namespace zsetd {

// The IDs of producers of a stream in a snapshot file. The layout that Redis 7.0 reads has no place
// for them, so they are in an AUX field after their key, which every loader ignores that does not
// know it. Its content is that of Redis's own layout (RdbType::kStream4):
//
//   type key value   250 "zsetd-idmp" [ seconds | IDs | count { producer count { ID entry } } |
//   added | repeated ]
inline constexpr std::string_view kStreamProducersAux = "zsetd-idmp";

// Writes the content: that of the layout RdbType::kStream4 after the groups.
void WriteStreamProducers(const Producers& producers, RdbWriter& writer);

// Does nothing for null.
void WriteStreamProducers(const Producers* producers, RdbFileWriter& writer);

// Writes those of the entry, whose value has just been written, if it is a stream that has some.
void WriteStreamProducers(const Entry& entry, RdbFileWriter& writer);

// Reads the content. Returns false if it is not sound. With a null pointer, it is only checked.
bool ReadStreamProducers(RdbReader& reader, Producers* producers);

// Sets those of the entry from the content of a field. Returns false if it is not sound, or the
// entry is no stream. A null pointer: it is only checked.
bool SetStreamProducers(Entry* entry, std::string_view field);

}  // namespace zsetd
