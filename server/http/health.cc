#include "server/http/health.h"

#include "server/http/info_fields.h"

namespace zsetd {

std::string WhyNotReady(const InfoSource& source) {
  const std::string info = source.text("persistence") + source.text("replication");
  const InfoFields fields = FieldsOf(info);
  if (FieldOf(fields, "loading") == "1") return "The data is being loaded.";
  if (FieldOf(fields, "master_link_status") == "down") return "The link to the master is down.";
  return {};
}

}  // namespace zsetd
