#pragma once

#include <string_view>

/// The tables of trace.sqlite, for its writer and its readers. What an export of an older version does not
/// say is NULL here, though Nsight Systems' own have NOT NULL there.
namespace mprof::trace::tables {

struct Table {
  std::string_view name;
  std::string_view columns;  ///< as CREATE TABLE has them
};

inline constexpr Table string_ids{"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"};
inline constexpr Table session_start{
    "TARGET_INFO_SESSION_START_TIME",
    "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER"};
inline constexpr Table metadata{"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"};
inline constexpr Table gpus{
    "TARGET_INFO_GPU",
    "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, "
    "l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, "
    "pwGpuId INTEGER, uuid TEXT, luid INTEGER, chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, "
    "ctrlDevPath TEXT, revision INTEGER, nodeMask INTEGER, constantMemory INTEGER, maxIPC INTEGER, "
    "maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, maxShmemPerBlockOptin INTEGER, maxShmemPerSm "
    "INTEGER, maxRegistersPerSm INTEGER, threadsPerWarp INTEGER, asyncEngines INTEGER, maxWarpsPerSm "
    "INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, maxBlockDimX INTEGER, maxBlockDimY "
    "INTEGER, maxBlockDimZ INTEGER, maxGridDimX INTEGER, maxGridDimY INTEGER, maxGridDimZ INTEGER, "
    "computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER"};
inline constexpr Table devices{
    "TARGET_INFO_CUDA_DEVICE",
    "gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT, numMultiprocessors INTEGER"};
inline constexpr Table contexts{
    "TARGET_INFO_CUDA_CONTEXT_INFO",
    "nullStreamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, processId INTEGER NOT "
    "NULL, "
    "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, parentContextId INTEGER, isGreenContext INTEGER, "
    "numMultiprocessors INTEGER"};
inline constexpr Table streams{
    "TARGET_INFO_CUDA_STREAM",
    "streamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, processId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, priority INTEGER, flag INTEGER NOT NULL"};
inline constexpr Table details{
    "ANALYSIS_DETAILS",
    "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, stopTime INTEGER NOT "
    "NULL"};
inline constexpr Table capture{"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT"};
inline constexpr Table kernels{
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
    "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
    "cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX "
    "INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, "
    "localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER, "
    "graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, qmdBulkReleaseDone INTEGER, qmdPreexitDone "
    "INTEGER, qmdLastCtaDone INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER, "
    "clusterSchedulingPolicy INTEGER, maxPotentialClusterSize INTEGER, maxActiveClusters INTEGER, "
    "sharedMemoryRequestedPercentage INTEGER"};
inline constexpr Table calls{
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
    "correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, callchainId INTEGER"};
inline constexpr Table copies{
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes "
    "INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, "
    "srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause "
    "INTEGER, graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER"};
inline constexpr Table sets{
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value "
    "INTEGER, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER"};
inline constexpr Table synchronizations{
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
    "deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER"};
inline constexpr Table overheads{
    "CUPTI_ACTIVITY_KIND_OVERHEAD",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId "
    "INTEGER, nameId INTEGER NOT NULL, overheadType INTEGER NOT NULL"};
/// Of the profiler itself, beside what CUDA's own is in the table above.
inline constexpr Table profiler_overheads{
    "PROFILER_OVERHEAD",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL, overheadType "
    "INTEGER NOT NULL"};
inline constexpr Table allocations{
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT "
    "NULL, virtualAddress INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, "
    "memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER, "
    "localMemoryPoolAddress INTEGER, localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, "
    "localMemoryPoolUtilizedSize INTEGER, importedMemoryPoolAddress INTEGER, importedMemoryPoolProcessId "
    "INTEGER"};
inline constexpr Table system_calls{
    "OSRT_API",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, nameId "
    "INTEGER NOT NULL, returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER NOT NULL, "
    "argumentsId INTEGER NOT NULL"};
inline constexpr Table graphs{
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, graphId "
    "INTEGER NOT NULL, graphExecId INTEGER NOT NULL"};
inline constexpr Table processes{"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT"};
inline constexpr Table threads{"ThreadNames", "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER"};
inline constexpr Table system{
    "TARGET_INFO_SYSTEM_ENV",
    "globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value "
    "TEXT NOT NULL"};
inline constexpr Table ranges{
    "NVTX_EVENTS",
    "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, "
    "color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, "
    "uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, "
    "floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT"};

// --- what Nsight Systems does not know ---

inline constexpr Table cases{
    "MPROF_CASE",
    "id INTEGER PRIMARY KEY, caseId TEXT NOT NULL UNIQUE, globalPid INTEGER NOT NULL, start INTEGER NOT "
    "NULL, end INTEGER NOT NULL, firstCorrelationId INTEGER NOT NULL, lastCorrelationId INTEGER NOT NULL, "
    "droppedRecords INTEGER NOT NULL, zeroTimeRecords INTEGER NOT NULL, reversedRecords INTEGER NOT NULL, "
    "unattributedRecords INTEGER NOT NULL, attributionDisagreements INTEGER NOT NULL"};
inline constexpr Table attribution{
    "MPROF_ATTRIBUTION",
    "correlationId INTEGER PRIMARY KEY, caseId INTEGER NOT NULL, op TEXT NOT NULL, part TEXT NOT NULL"};
inline constexpr Table own_ranges{
    "MPROF_RANGE",
    "caseId INTEGER NOT NULL, externalId INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "name TEXT NOT NULL, globalTid INTEGER NOT NULL, op TEXT NOT NULL, part TEXT NOT NULL, isExtent INTEGER "
    "NOT NULL DEFAULT 0"};
/// Which processes a case had.
inline constexpr Table case_processes{"MPROF_PROCESS", "caseId INTEGER NOT NULL, globalPid INTEGER NOT NULL"};

}  // namespace mprof::trace::tables
