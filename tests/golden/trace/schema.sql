SELECT m.name AS "Table", group_concat(p.name, ' ') AS "Columns"
FROM sqlite_master AS m, pragma_table_info(m.name) AS p
WHERE m.type = 'table'
GROUP BY m.name
ORDER BY m.name;
