// SPDX-License-Identifier: MIT
#include "injection/graph_nodes.hpp"

#include <utility>

#include <unistd.h>

#include "injection/launch_log.hpp"
#include "model/trace/journal.hpp"

namespace mprof::injection {
namespace {

/// B, so that a program with very many nodes needs no more memory for them.
constexpr std::size_t written_together = std::size_t{1} << 16;

}  // namespace

void GraphNodes::watch(CUpti_SubscriberHandle subscriber) const {
  for (const auto id : {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED})
    cupti_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
}

bool GraphNodes::take(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
  const bool is_copy = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
  if (!is_copy && id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) return false;
  if (resource.resourceDescriptor == nullptr) return true;
  const auto& graph = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  journal::GraphNode node{.time = now()};
  if (cupti_.graph_node_id(graph.node, &node.id) != CUPTI_SUCCESS) return true;
  if (is_copy && graph.originalNode != nullptr) cupti_.graph_node_id(graph.originalNode, &node.original);
  thread_local const auto thread = static_cast<std::uint32_t>(::gettid());
  node.thread = thread;
  node.stack = LaunchLog::stack_of_launching();
  const std::lock_guard lock(mutex_);
  chunk_.add_value(journal::Kind::graph_node, node);
  if (chunk_.bytes().size() >= written_together) journal_.write(std::exchange(chunk_, {}));
  return true;
}

void GraphNodes::write() {
  const std::lock_guard lock(mutex_);
  if (!chunk_.bytes().empty()) journal_.write(std::exchange(chunk_, {}));
}

}  // namespace mprof::injection
