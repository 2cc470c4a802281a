SELECT sum(r.end - r.start) AS "Total Time (ns)", count(*) AS "Num Calls", max(r.end - r.start) AS "Max (ns)",
       CASE r.eventClass WHEN 0 THEN 'runtime' WHEN 1 THEN 'driver' END AS "API", s.value AS "Name"
FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN StringIds AS s ON s.id = r.nameId
GROUP BY r.nameId
ORDER BY 1 DESC, 5;
