SELECT sum(end - start) AS "Total Time (ns)", count(*) AS "Instances", gridX || ' ' || gridY || ' ' || gridZ AS "GridXYZ",
       blockX || ' ' || blockY || ' ' || blockZ AS "BlockXYZ", registersPerThread AS "Reg/Trd",
       staticSharedMemory AS "StcSMem", s.value AS "Name"
FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds AS s ON s.id = shortName
GROUP BY 3, 4, 7
ORDER BY 1 DESC, 7;
