SELECT sum(m.bytes) AS "Total (B)", count(*) AS "Count", sum(m.end - m.start) AS "Total Time (ns)",
       '[CUDA memcpy ' || o.label || ']' AS "Operation", source.label AS "SrcMemKd", destination.label AS "DstMemKd"
FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m
JOIN ENUM_CUDA_MEMCPY_OPER AS o ON o.id = m.copyKind
JOIN ENUM_CUDA_MEM_KIND AS source ON source.id = m.srcKind
JOIN ENUM_CUDA_MEM_KIND AS destination ON destination.id = m.dstKind
GROUP BY 4, 5, 6
UNION ALL
SELECT sum(bytes), count(*), sum(end - start), '[CUDA memset]', NULL, label
FROM CUPTI_ACTIVITY_KIND_MEMSET JOIN ENUM_CUDA_MEM_KIND ON id = memKind
GROUP BY label;
