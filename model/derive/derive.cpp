#include "model/derive/derive.hpp"

namespace mprof {

void derive(Run& /*run*/, const std::filesystem::path& /*directory*/) {}

}  // namespace mprof
