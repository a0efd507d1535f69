#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// Metrics, grouped by family in the order in which the families were first added.
class Families {
 public:
  // Adds a metric without a value. Valid until the next call.
  prometheus::ClientMetric& Add(std::string_view name, prometheus::MetricType type,
                                std::string_view help, Labels labels = {});

  void Gauge(std::string_view name, std::string_view help, double value, Labels labels = {});
  void Counter(std::string_view name, std::string_view help, double value, Labels labels = {});

  // Returns all metrics in Prometheus's text format.
  std::string Text() const;

 private:
  std::vector<prometheus::MetricFamily> families_;
  std::map<std::string, size_t> index_;
};

}  // namespace zsetd
