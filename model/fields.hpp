// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "model/run.hpp"

/// The one list of each struct's fields: the reader and the writer of the record and of the worker protocol
/// both walk it. An archive offers `field` (always present) and `optional_field` (left out when empty or not
/// set).
namespace mprof {

template <class Struct, class T>
concept Fields = std::is_same_v<std::remove_const_t<Struct>, T>;

template <class Archive, Fields<Tool> S>
void fields(Archive& a, S& s) {
  a.field("version", s.version);
  a.field("revision", s.revision);
}

template <class Archive, Fields<ParameterInfo> S>
void fields(Archive& a, S& s) {
  a.field("name", s.name);
  a.field("meaning", s.meaning);
  a.field("default", s.default_value);
  a.field("values", s.values);
}

template <class Archive, Fields<Expectation> S>
void fields(Archive& a, S& s) {
  a.field("metric", s.metric);
  a.optional_field("op", s.op);
  a.field("direction", s.direction);
  a.optional_field("factor", s.factor);
  a.optional_field("because", s.because);
}

template <class Archive, Fields<VariantInfo> S>
void fields(Archive& a, S& s) {
  a.field("id", s.id);
  a.field("family", s.family);
  a.field("title", s.title);
  a.field("idea", s.idea);
  a.field("device", s.device);
  a.optional_field("baseline", s.baseline);
  a.optional_field("parameters", s.parameters);
  a.optional_field("expectations", s.expectations);
  a.optional_field("references", s.references);
  a.optional_field("combines", s.combines);
  a.optional_field("library", s.library);
  a.optional_field("arithmetic", s.arithmetic);
  a.optional_field("special_functions", s.special_functions);
  a.optional_field("source_file", s.source_file);
  a.optional_field("subject", s.subject);
  a.optional_field("command", s.command);
}

template <class Archive, Fields<AxisInfo> S>
void fields(Archive& a, S& s) {
  a.field("name", s.name);
  a.field("plural", s.plural);
  a.field("title", s.title);
  a.optional_field("meaning", s.meaning);
  a.field("default", s.default_value);
  a.field("min", s.min);
  a.optional_field("max", s.max);
}

template <class Archive, Fields<Nouns> S>
void fields(Archive& a, S& s) {
  a.optional_field("item", s.item);
  a.optional_field("items", s.items);
  a.field("whole", s.whole);
  a.optional_field("group", s.group);
  a.optional_field("groups", s.groups);
  a.field("op_time", s.op_time_title);
  a.optional_field("group_time", s.group_time_title);
  a.field("total_time", s.total_time_title);
}

template <class Archive, Fields<QualityInfo> S>
void fields(Archive& a, S& s) {
  a.field("metric", s.metric);
  a.field("label", s.label);
  a.optional_field("meaning", s.meaning);
  a.field("unit", s.unit);
  a.field("better", s.better);
  a.field("tolerance", s.tolerance);
}

template <class Archive, Fields<OpInfo> S>
void fields(Archive& a, S& s) {
  a.field("name", s.name);
  a.optional_field("title", s.title);
  a.field("flops", s.flops);
  a.field("bytes", s.bytes);
  a.optional_field("special_operations", s.special_operations);
  a.optional_field("items", s.items);
}

template <class Archive, Fields<ProblemInfo> S>
void fields(Archive& a, S& s) {
  a.field("problem", s.problem);
  a.field("ops", s.ops);
}

template <class Archive, Fields<FamilyInfo> S>
void fields(Archive& a, S& s) {
  a.field("id", s.id);
  a.field("title", s.title);
  a.field("axes", s.axes);
  a.field("nouns", s.nouns);
  a.optional_field("qualities", s.qualities);
  a.optional_field("problems", s.problems);
}

template <class Archive, Fields<InputFile> S>
void fields(Archive& a, S& s) {
  a.field("family", s.family);
  a.field("name", s.name);
  a.field("path", s.path);
  a.field("size", s.size);
  a.field("checksum", s.checksum);
}

template <class Archive, Fields<Measurement> S>
void fields(Archive& a, S& s) {
  a.field("metric", s.metric);
  a.optional_field("op", s.op);
  a.optional_field("kernel", s.kernel);
  a.field("source", s.source);
  a.optional_field("absent", s.absent);
  a.optional_field("samples", s.samples);
  a.optional_field("rounds", s.rounds);
}

template <class Archive, Fields<Verification> S>
void fields(Archive& a, S& s) {
  a.field("op", s.op);
  a.field("passed", s.passed);
  a.field("relative_l2", s.relative_l2);
  a.field("max_error", s.max_error);
  a.field("tolerance", s.tolerance);
  a.field("elements", s.elements);
  a.field("non_finite", s.non_finite);
  a.field("never_written", s.never_written);
  a.optional_field("checksum", s.checksum);
  a.optional_field("finding", s.finding);
  a.optional_field("precision", s.precision);
  a.optional_field("declared_precision", s.declared_precision);
}

template <class Archive, Fields<Stopping> S>
void fields(Archive& a, S& s) {
  a.field("min_samples", s.min_samples);
  a.field("max_samples", s.max_samples);
  a.field("max_seconds", s.max_seconds);
  a.field("relative_half_width", s.relative_half_width);
}

template <class Archive, Fields<Sampling> S>
void fields(Archive& a, S& s) {
  a.field("warmups", s.warmups);
  a.field("samples", s.samples);
  a.field("ended_by", s.ended_by);
  a.optional_field("relative_half_width", s.relative_half_width);
  a.optional_field("retries", s.retries);
  a.optional_field("disturbance", s.disturbance);
  a.optional_field("host_disturbance", s.host_disturbance);
}

template <class Archive, Fields<Scrutiny> S>
void fields(Archive& a, S& s) {
  a.field("executions", s.executions);
  a.field("orders", s.orders);
  a.field("unseen", s.unseen);
}

template <class Archive, Fields<SourceLine> S>
void fields(Archive& a, S& s) {
  a.field("op", s.op);
  a.field("kernel", s.kernel);
  a.optional_field("file", s.file);
  a.optional_field("line", s.line);
  a.field("samples", s.samples);
  a.optional_field("stalls", s.stalls);
}

template <class Archive, Fields<ProgramOutcome> S>
void fields(Archive& a, S& s) {
  a.optional_field("exit_code", s.exit_code);
  a.optional_field("signal", s.signal);
  a.optional_field("output", s.output);
  a.optional_field("notes", s.notes);
  a.optional_field("verified_by", s.verified_by);
}

template <class Archive, Fields<PassResult> S>
void fields(Archive& a, S& s) {
  a.field("pass", s.pass);
  a.field("status", s.status);
  a.optional_field("reason", s.reason);
  a.field("seconds", s.seconds);
  a.optional_field("sampling", s.sampling);
  a.optional_field("rounds", s.rounds);
  a.optional_field("verification", s.verification);
  a.optional_field("choices", s.choices);
  a.optional_field("scrutiny", s.scrutiny);
  a.optional_field("measurements", s.measurements);
  a.optional_field("source_lines", s.source_lines);
  a.optional_field("outcome", s.outcome);
}

template <class Archive, Fields<CaseKey> S>
void fields(Archive& a, S& s) {
  a.field("variant", s.variant);
  a.field("parameters", s.parameters);
  a.field("problem", s.problem);
}

template <class Archive, Fields<Case> S>
void fields(Archive& a, S& s) {
  a.field("id", s.id);
  a.field("key", s.key);
  a.optional_field("ops", s.ops);
  a.optional_field("passes", s.passes);
}

template <class Archive, Fields<PluginSource> S>
void fields(Archive& a, S& s) {
  a.field("path", s.path);
  a.optional_field("variant", s.variant);
  a.optional_field("family", s.family);
  a.field("checksum", s.checksum);
  a.optional_field("compiler", s.compiler);
  a.optional_field("flags", s.flags);
  a.field("library", s.library);
}

template <class Archive, Fields<TunedPoint> S>
void fields(Archive& a, S& s) {
  a.field("variant", s.variant);
  a.field("problem", s.problem);
  a.field("parameters", s.parameters);
}

template <class Archive, Fields<Tuning> S>
void fields(Archive& a, S& s) {
  a.field("file", s.file);
  a.field("checksum", s.checksum);
  a.field("points", s.points);
}

template <class Archive, Fields<Plan> S>
void fields(Archive& a, S& s) {
  a.field("variants", s.variants);
  a.field("problems", s.problems);
  a.field("settings", s.settings);
  a.optional_field("tuned", s.tuned);
  a.field("passes", s.passes);
  a.optional_field("metrics", s.metrics);
  a.field("quick", s.quick);
  a.optional_field("hot", s.hot);
  a.field("seed", s.seed);
  a.field("timeout", s.timeout);
  a.field("stopping", s.stopping);
  a.optional_field("rounds", s.rounds);
  a.optional_field("fixed_rounds", s.fixed_rounds);
  a.optional_field("inputs", s.inputs);
  a.optional_field("sources", s.sources);
  a.optional_field("ops", s.ops);
  a.optional_field("kernels", s.kernels);
  a.optional_field("launch_skip", s.launch_skip);
  a.optional_field("window", s.window);
  a.optional_field("sample_interval", s.sample_interval);
  a.optional_field("without_stacks", s.without_stacks);
  a.optional_field("max_kernels", s.max_kernels);
  a.optional_field("replay_limit", s.replay_limit);
}

template <class Archive, Fields<Ceiling> S>
void fields(Archive& a, S& s) {
  a.field("id", s.id);
  a.field("device", s.device);
  a.optional_field("value", s.value);
  a.optional_field("absent", s.absent);
  a.optional_field("method", s.method);
}

template <class Archive, Fields<Shard> S>
void fields(Archive& a, S& s) {
  a.field("index", s.index);
  a.field("count", s.count);
}

template <class Archive, Fields<PassTime> S>
void fields(Archive& a, S& s) {
  a.field("pass", s.pass);
  a.field("workers", s.workers);
  a.field("seconds", s.seconds);
  a.field("starting", s.starting);
  a.field("loading", s.loading);
  a.field("measuring", s.measuring);
  a.optional_field("waiting", s.waiting);
}

template <class Archive, Fields<RunPart> S>
void fields(Archive& a, S& s) {
  a.optional_field("shard", s.shard);
  a.field("command_line", s.command_line);
  a.field("seed", s.seed);
  a.field("started", s.started);
  a.optional_field("finished", s.finished);
  a.field("environment", s.environment);
  a.field("ceilings", s.ceilings);
  a.optional_field("spent", s.spent);
  a.field("cases", s.cases);
}

/// All but the cases, which stand in files of their own.
template <class Archive, Fields<Run> S>
void fields(Archive& a, S& s) {
  a.field("schema_version", s.schema_version);
  a.field("tool", s.tool);
  a.field("command_line", s.command_line);
  a.field("state", s.state);
  a.field("started", s.started);
  a.optional_field("finished", s.finished);
  a.field("plan", s.plan);
  a.optional_field("shard", s.shard);
  a.field("environment", s.environment);
  a.field("ceilings", s.ceilings);
  a.optional_field("inputs", s.inputs);
  a.field("families", s.families);
  a.field("variants", s.variants);
  a.optional_field("parts", s.parts);
  a.optional_field("in_turns", s.in_turns);
  a.optional_field("spent", s.spent);
}

}  // namespace mprof
