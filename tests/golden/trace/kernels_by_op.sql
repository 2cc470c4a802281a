SELECT c.caseId, a.op, a.part, count(*) AS kernels, sum(k.end - k.start) AS ns
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
LEFT JOIN MPROF_ATTRIBUTION AS a USING (correlationId)
LEFT JOIN MPROF_CASE AS c ON c.id = a.caseId
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
