# SQL on a profile: aligned table, CSV, JSON, the list of tables; nothing but reading.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us' --iters 30 --warmup 0 -q -o p.assay
expect_exit 0 "$ASSAY" query p.assay "SELECT 1 AS one, 'a=b' AS text, NULL AS none, 2.5 AS half"
expect_lines out 2
expect_has out "one  text  none  half"
expect_has out "  1  a=b      —   2.5"
expect_exit 0 "$ASSAY" query p.assay "SELECT upper('a') AS a, '{\"k\":7}' ->> 'k' AS b, sum(2) OVER () AS c" --csv
expect_equal "$(tail -n 1 out)" "A,7,2"
expect_exit 0 "$ASSAY" query p.assay "SELECT 'x,y' AS a, '=1+1' AS b, -3 AS c, NULL AS d" --csv
expect_equal "$(tail -n 1 out)" "\"x,y\",\"'=1+1\",-3,"
expect_exit 0 "$ASSAY" query p.assay "SELECT 1 AS a, 'b' AS b, NULL AS c, 0.5 AS d" --json
expect_equal "$(cat out)" '{"columns":["a","b","c","d"],"rows":[[1,"b",null,0.5]]}'
expect_exit 0 "$ASSAY" query p.assay 'SELECT count(*) AS n, min(ns) AS low, max(ns) AS high FROM samples' --csv
expect_equal "$(tail -n 1 out)" "30,100000,100000"
expect_exit 0 "$ASSAY" query p.assay 'SELECT max(ns) AS ns, max(ns) / 1e3 AS us, 100000.5 AS half, -2.0 AS two, 1e20 AS large, 0.05 AS small FROM samples' --csv
expect_equal "$(tail -n 1 out)" "100000,100,100000.5,-2,1.0e+20,0.05"
expect_exit 0 "$ASSAY" query p.assay 'SELECT min(ns) AS ns, wall_ns FROM samples JOIN launches LIMIT 1'
expect_not out '\.0'
expect_exit 0 "$ASSAY" query p.assay "SELECT 'x|y' AS a, -3 AS b, NULL AS c" --format markdown
expect_equal "$(tail -n 1 out)" '| x\|y | -3 | — |'
expect_exit 0 "$ASSAY" query p.assay "SELECT 1 AS \"<b>\"\"x\", '<i>' AS c" --format html
expect_not out '<b>'
expect_not out '<i>'
expect_exit 0 "$ASSAY" query p.assay 'SELECT 1 AS a' --format csv
expect_lines out 2
# nothing is cut or split in a pipe, every row is there
expect_exit 0 "$ASSAY" query p.assay "SELECT printf('%0200d', 7) AS long, 1 AS one"
expect_lines out 2
expect_exit 0 "$ASSAY" query p.assay 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n'
expect_lines out 3001
expect_equal "$(tail -n 1 out | tr -d ' ')" 3000
expect_exit 0 "$ASSAY" query p.assay
for row in metrics samples launches layers layer_times series; do expect_has out "  $row "; done
expect_exit 0 "$ASSAY" query p.assay --json
python3 -m json.tool out >/dev/null || fail "not JSON"
for sql in "SELECT fts3_tokenizer('simple')" "SELECT load_extension('x')" 'DELETE FROM metrics' "ATTACH 'x' AS x" 'DROP TABLE metrics' 'SELECT * FROM no_such_table' 'nonsense'; do
    status=0
    "$ASSAY" query p.assay "$sql" >out 2>err || status=$?
    [ $status -ne 0 ] || fail "accepted: $sql"
    expect_lines out 0
    expect_lines err 1
done
expect_exit 0 "$ASSAY" query p.assay 'SELECT * FROM metrics WHERE 0'
expect_lines out 0
expect_has err "no rows"
expect_exit 2 "$ASSAY" query p.assay 'SELECT 1' --json --csv
expect_exit 2 "$ASSAY" query p.assay 'SELECT 1' --format html --csv
# what cannot be read ends as it does for every other command
mkdir folder
for input in folder '' nowhere.assay /dev/null; do
    expect_exit 3 "$ASSAY" query "$input"
    expect_exit 3 "$ASSAY" query "$input" 'SELECT 1'
    expect_exit 3 "$ASSAY" report "$input"
done
