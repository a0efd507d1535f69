#pragma once

#include <cstdint>
#include <string_view>

namespace zsetd {

// An event of a key, with the name of its keyspace notification.
enum class KeyEvent : uint8_t {
  kNone,  // nothing that is announced
  kNew,
  kKeyMiss,
  kDel,
  kEvicted,
  kExpired,
  kExpire,
  kPersist,
  kCopyTo,
  kMoveFrom,
  kMoveTo,
  kRenameFrom,
  kRenameTo,
  kRestore,
  kAppend,
  kIncrBy,
  kIncrByFloat,
  kPfAdd,
  kSet,
  kSetBit,
  kSetRange,
  kLInsert,
  kLPop,
  kLPush,
  kLRem,
  kLSet,
  kLTrim,
  kRPop,
  kRPush,
  kSortStore,
  kHDel,
  kHExpire,
  kHExpired,
  kHIncrBy,
  kHIncrByFloat,
  kHPersist,
  kHSet,
  kSAdd,
  kSDiffStore,
  kSInterStore,
  kSPop,
  kSRem,
  kSUnionStore,
  kGeoRadiusStore,
  kGeoSearchStore,
  kXAdd,
  kXDel,
  kXGroupCreate,
  kXGroupCreateConsumer,
  kXGroupDelConsumer,
  kXGroupDestroy,
  kXGroupSetId,
  kXSetId,
  kXTrim,
  kZAdd,
  kZDelData,
  kZDiffStore,
  kZExpire,
  kZExpired,
  kZIncr,
  kZInterStore,
  kZPersist,
  kZPopMax,
  kZPopMin,
  kZRangeStore,
  kZRem,
  kZRemRangeByLex,
  kZRemRangeByRank,
  kZRemRangeByScore,
  kZSetData,
  kZUnionStore,
};

// The name in notifications, such as "rename_from"; empty for kNone.
std::string_view NameOf(KeyEvent event);

// The letter in notify-keyspace-events that selects it, such as 'g'; not of kNone.
char ClassOf(KeyEvent event);

}  // namespace zsetd
