#include "server/http/metric_families.h"

#include <prometheus/text_serializer.h>

#include <utility>

#include "server/http/utf8.h"

namespace zsetd {

using prometheus::ClientMetric;
using prometheus::MetricType;

ClientMetric& Families::Add(std::string_view name, MetricType type, std::string_view help,
                            Labels labels) {
  const auto [at, is_new] = index_.emplace(std::string(name), families_.size());
  if (is_new) families_.push_back({std::string(name), std::string(help), type, {}});
  ClientMetric metric;
  metric.label = std::move(labels);
  for (ClientMetric::Label& label : metric.label) label.value = AsUtf8(label.value);
  return families_[at->second].metric.emplace_back(std::move(metric));
}

void Families::Gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  Add(name, MetricType::Gauge, help, std::move(labels)).gauge.value = value;
}

void Families::Counter(std::string_view name, std::string_view help, double value, Labels labels) {
  Add(name, MetricType::Counter, help, std::move(labels)).counter.value = value;
}

std::string Families::Text() const { return prometheus::TextSerializer().Serialize(families_); }

}  // namespace zsetd
