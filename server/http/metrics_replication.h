#pragma once

#include "server/http/info_fields.h"
#include "server/http/metric_families.h"

namespace zsetd {

// Adds the metrics about the link to a master and about each replica, which have labels as those of
// prometheus-redis-exporter:
//
//   redis_master_link_up{master_host="10.0.0.11",master_port="6379"}
//   redis_connected_slave_offset_bytes{slave_ip="10.0.0.12",slave_port="6379",slave_state="online"}
void AddReplication(const InfoFields& fields, Families& families);

}  // namespace zsetd
