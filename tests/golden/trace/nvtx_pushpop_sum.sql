SELECT sum(n.end - n.start) AS "Total Time (ns)", count(*) AS "Instances", t.name AS "Style",
       coalesce(d.text || ':', '') || n.text AS "Range"
FROM NVTX_EVENTS AS n
JOIN ENUM_NSYS_EVENT_TYPE AS t ON t.id = n.eventType
LEFT JOIN NVTX_EVENTS AS d ON d.eventType = 75 AND d.domainId = n.domainId
WHERE n.eventType IN (34, 59, 60)
GROUP BY 3, 4
ORDER BY 1 DESC, 4;
