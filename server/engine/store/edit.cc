#include "server/engine/store/edit.h"

#include "core/keyspace/value.h"

namespace zsetd {

Edit<ByteString> Edit<ByteString>::Make(Database& database, std::string_view key, KeyEvent event) {
  Edit edit(database, database.Make(key, ByteString({}, /*edited_in_place=*/true)), event);
  edit.is_new_ = true;
  return edit;
}

void Edit<ByteString>::Assign(std::string_view bytes) {
  entry_ = &database_->Assign(*entry_, ByteString(bytes), event_);
}

}  // namespace zsetd
