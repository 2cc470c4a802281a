SELECT round(100.0 * sum(k.end - k.start) / (SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL), 1) AS "Time (%)",
       sum(k.end - k.start) AS "Total Time (ns)", count(*) AS "Instances", avg(k.end - k.start) AS "Avg (ns)",
       min(k.end - k.start) AS "Min (ns)", max(k.end - k.start) AS "Max (ns)", s.value AS "Name"
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s ON s.id = k.demangledName
GROUP BY k.demangledName
ORDER BY 2 DESC, 7;
