-- A kernel belongs to every range that contains its launch call, on that call's thread.
SELECT coalesce(d.text || ':', '') || n.text AS "NVTX Range", n.globalTid & 0xFFFFFF AS "TID", count(*) AS "Kern Inst",
       sum(k.end - k.start) AS "Total Time (ns)", s.value AS "Kernel Name"
FROM NVTX_EVENTS AS n
LEFT JOIN NVTX_EVENTS AS d ON d.eventType = 75 AND d.domainId = n.domainId
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
  ON r.globalTid = n.globalTid AND r.start >= n.start AND r.end <= n.end AND r.eventClass = 0
JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = r.correlationId
JOIN StringIds AS s ON s.id = k.shortName
WHERE n.eventType = 59
GROUP BY 1, 2, 5
ORDER BY 1, 2, 5;
