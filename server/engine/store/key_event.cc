#include "server/engine/store/key_event.h"

#include <cassert>
#include <cstddef>

namespace zsetd {
namespace {

struct Row {
  KeyEvent event;
  std::string_view name;
  char event_class;  // as in notify-keyspace-events
};

// In the order of the enumeration. Names and classes are those of Redis.
constexpr Row kRows[] = {
    {KeyEvent::kNone, "", 0},
    {KeyEvent::kNew, "new", 'n'},
    {KeyEvent::kKeyMiss, "keymiss", 'm'},
    {KeyEvent::kDel, "del", 'g'},
    {KeyEvent::kEvicted, "evicted", 'e'},
    {KeyEvent::kExpired, "expired", 'x'},
    {KeyEvent::kExpire, "expire", 'g'},
    {KeyEvent::kPersist, "persist", 'g'},
    {KeyEvent::kCopyTo, "copy_to", 'g'},
    {KeyEvent::kMoveFrom, "move_from", 'g'},
    {KeyEvent::kMoveTo, "move_to", 'g'},
    {KeyEvent::kRenameFrom, "rename_from", 'g'},
    {KeyEvent::kRenameTo, "rename_to", 'g'},
    {KeyEvent::kRestore, "restore", 'g'},
    {KeyEvent::kAppend, "append", '$'},
    {KeyEvent::kIncrBy, "incrby", '$'},
    {KeyEvent::kIncrByFloat, "incrbyfloat", '$'},
    {KeyEvent::kPfAdd, "pfadd", '$'},
    {KeyEvent::kSet, "set", '$'},
    {KeyEvent::kSetBit, "setbit", '$'},
    {KeyEvent::kSetRange, "setrange", '$'},
    {KeyEvent::kLInsert, "linsert", 'l'},
    {KeyEvent::kLPop, "lpop", 'l'},
    {KeyEvent::kLPush, "lpush", 'l'},
    {KeyEvent::kLRem, "lrem", 'l'},
    {KeyEvent::kLSet, "lset", 'l'},
    {KeyEvent::kLTrim, "ltrim", 'l'},
    {KeyEvent::kRPop, "rpop", 'l'},
    {KeyEvent::kRPush, "rpush", 'l'},
    {KeyEvent::kSortStore, "sortstore", 'l'},
    {KeyEvent::kHDel, "hdel", 'h'},
    {KeyEvent::kHExpire, "hexpire", 'h'},
    {KeyEvent::kHExpired, "hexpired", 'h'},
    {KeyEvent::kHIncrBy, "hincrby", 'h'},
    {KeyEvent::kHIncrByFloat, "hincrbyfloat", 'h'},
    {KeyEvent::kHPersist, "hpersist", 'h'},
    {KeyEvent::kHSet, "hset", 'h'},
    {KeyEvent::kSAdd, "sadd", 's'},
    {KeyEvent::kSDiffStore, "sdiffstore", 's'},
    {KeyEvent::kSInterStore, "sinterstore", 's'},
    {KeyEvent::kSPop, "spop", 's'},
    {KeyEvent::kSRem, "srem", 's'},
    {KeyEvent::kSUnionStore, "sunionstore", 's'},
    {KeyEvent::kGeoRadiusStore, "georadiusstore", 'z'},
    {KeyEvent::kGeoSearchStore, "geosearchstore", 'z'},
    {KeyEvent::kXAdd, "xadd", 't'},
    {KeyEvent::kXDel, "xdel", 't'},
    {KeyEvent::kXGroupCreate, "xgroup-create", 't'},
    {KeyEvent::kXGroupCreateConsumer, "xgroup-createconsumer", 't'},
    {KeyEvent::kXGroupDelConsumer, "xgroup-delconsumer", 't'},
    {KeyEvent::kXGroupDestroy, "xgroup-destroy", 't'},
    {KeyEvent::kXGroupSetId, "xgroup-setid", 't'},
    {KeyEvent::kXSetId, "xsetid", 't'},
    {KeyEvent::kXTrim, "xtrim", 't'},
    {KeyEvent::kZAdd, "zadd", 'z'},
    {KeyEvent::kZDelData, "zdeldata", 'z'},
    {KeyEvent::kZDiffStore, "zdiffstore", 'z'},
    {KeyEvent::kZExpire, "zexpire", 'z'},
    {KeyEvent::kZExpired, "zexpired", 'z'},
    {KeyEvent::kZIncr, "zincr", 'z'},
    {KeyEvent::kZInterStore, "zinterstore", 'z'},
    {KeyEvent::kZPersist, "zpersist", 'z'},
    {KeyEvent::kZPopMax, "zpopmax", 'z'},
    {KeyEvent::kZPopMin, "zpopmin", 'z'},
    {KeyEvent::kZRangeStore, "zrangestore", 'z'},
    {KeyEvent::kZRem, "zrem", 'z'},
    {KeyEvent::kZRemRangeByLex, "zremrangebylex", 'z'},
    {KeyEvent::kZRemRangeByRank, "zremrangebyrank", 'z'},
    {KeyEvent::kZRemRangeByScore, "zremrangebyscore", 'z'},
    {KeyEvent::kZSetData, "zsetdata", 'z'},
    {KeyEvent::kZUnionStore, "zunionstore", 'z'},
};

constexpr bool IsInOrder() {
  size_t position = 0;
  for (const Row& row : kRows) {
    if (row.event != KeyEvent(position++)) return false;
  }
  return true;
}
static_assert(IsInOrder());

const Row& RowOf(KeyEvent event) { return kRows[static_cast<size_t>(event)]; }

}  // namespace

std::string_view NameOf(KeyEvent event) { return RowOf(event).name; }

char ClassOf(KeyEvent event) {
  assert(event != KeyEvent::kNone);
  return RowOf(event).event_class;
}

}  // namespace zsetd
