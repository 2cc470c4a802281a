// SPDX-License-Identifier: MIT
#include "report/analysis/analysis.hpp"

/// Names of judgements, as views, exports and templates write them.
namespace mprof {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::met:
      return "met";
    case Outcome::not_met:
      return "not met";
    case Outcome::not_told:
      return "not told";
    case Outcome::not_measurable:
      break;
  }
  return "not measurable";
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::wrong:
      return "wrong";
    case Severity::broken:
      return "broken";
    case Severity::incomplete:
      return "incomplete";
    case Severity::caution:
      break;
  }
  return "caution";
}

std::string_view to_string(Limit limit) {
  switch (limit) {
    case Limit::compute:
      return "FP32 peak";
    case Limit::memory:
      return "memory bandwidth";
    case Limit::special:
      break;
  }
  return "special-function peak";
}

std::string_view short_name(Limit limit) {
  switch (limit) {
    case Limit::compute:
      return "compute";
    case Limit::memory:
      return "memory";
    case Limit::special:
      break;
  }
  return "special functions";
}

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::compute:
      return "compute";
    case Bound::memory:
      return "memory";
    case Bound::balanced:
      return "balanced";
    case Bound::latency:
      break;
  }
  return "latency";
}

}  // namespace mprof
