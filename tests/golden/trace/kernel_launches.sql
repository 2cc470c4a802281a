-- From NVIDIA's recipe: each kernel with the call that launched it.
SELECT k.start AS "Start (ns)", k.end - k.start AS "Duration (ns)", k.start - r.end AS "After Call (ns)", k.streamId AS "Strm",
       k.graphNodeId AS "Node", (r.globalTid >> 24) & 0xFFFFFF AS "PID", r.globalTid & 0xFFFFFF AS "TID", api.value AS "API",
       kernel.value AS "Kernel"
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
  ON r.correlationId = k.correlationId AND r.globalTid & 0xFFFFFFFFFF000000 = k.globalPid AND r.eventClass = 0
JOIN StringIds AS api ON api.id = r.nameId
JOIN StringIds AS kernel ON kernel.id = k.shortName
ORDER BY k.start, k.streamId;
