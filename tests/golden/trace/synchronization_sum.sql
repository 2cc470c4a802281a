SELECT sum(s.end - s.start) AS "Total Time (ns)", count(*) AS "Count", t.label AS "Type", api.value AS "API"
FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS s
JOIN ENUM_CUPTI_SYNC_TYPE AS t ON t.id = s.syncType
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = s.correlationId AND r.eventClass = 0
JOIN StringIds AS api ON api.id = r.nameId
GROUP BY 3, 4
ORDER BY 1 DESC, 3, 4;
