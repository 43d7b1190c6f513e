# Requirements through the command line: exit statuses, formats, a kept profile, tables that are wrong.
. "$ROOT/tests/cli/lib.sh"
export LC_ALL=C.UTF-8
script="steady=1ms;layers=conv:600us:Conv,relu:300us:Relu;engine=100us"
judged() { # judged CODE TABLE OPTIONS…
    local code=$1 table=$2
    shift 2
    expect_exit "$code" "$ASSAY" run --engine fake --script "$script" --iters 700 --require "$table" "$@"
}

# Met: status 0; the clock is scripted, so every number is exact.
printf 'name mine\nthroughput 500 2000\np50 2ms 1.25ms\np99 4ms\n' >mine.txt
judged 0 mine.txt -q --json
python3 "$ROOT/tests/schema_check.py" run out
row='.trials[0].requirements.rows'
expect_equal "$(json_get out '.trials[0].requirements.table')" mine
expect_equal "$(json_get out '.trials[0].requirements.minimum')" pass
expect_equal "$(json_get out '.trials[0].requirements.target')" fail
expect_equal "$(json_get out "$row.length")" 3
expect_equal "$(json_get out "$row[1].name")" p50
expect_equal "$(json_get out "$row[1].value")" 0.001
expect_equal "$(json_get out "$row[1].minimum.ratio")" 0.5
expect_equal "$(json_get out "$row[1].target.ratio")" 0.8
expect_equal "$(json_get out "$row[1].target.verdict")" pass
expect_equal "$(json_get out "$row[2].minimum.ratio")" 0.25
expect_equal "$(json_get out "$row[2].target.verdict")" none
expect_equal "$(json_get out '.trials[0].metrics["power.budget_share"].value')" null
expect_lines err 0

# Not met: status 1 and one line; the same table as JSON.
printf '{"name": "mine", "minimum": {"p50": "0.5ms", "throughput": 500}}' >strict.json
judged 1 strict.json -q -o strict.assay
expect_lines err 1
expect_has err "the minimum of 'mine' is not met: latency p50 1.00 ms, at most 500 µs"
expect_has out "  mine: minimum NOT MET, target not given."
grep -qE '^  latency p50 +1\.00 ms +500 µs +=200 % +fail' out || fail "no verdict of the latency"
expect_has out "  • latency p50 uses 200 % of "

# Cannot be judged: status 4; a script has no graph, so there are no FLOPs.
judged 4 m1 -q
expect_has err "the minimum of 'm1' cannot be judged, the report says why: compute; bandwidth"
expect_has out "unreachable: above the published peak"
# what fails decides, even where something else is unknown
printf 'tflops 1\np50 1us\n' >both.txt
judged 1 both.txt -q

# A failed run is 3, whatever the table says; an interrupted one is no verdict either.
expect_exit 3 "$ASSAY" run --engine fake --script "$script;error_at=20" --iters 700 --require mine.txt -q

# The kept profile gives the same section, and can be judged by another table without being changed.
judged 0 mine.txt -q -o kept.assay
sed -n '/^Requirements/,/^$/p' out >first
expect_exit 0 "$ASSAY" report kept.assay
sed -n '/^Requirements/,/^$/p' out >second
[ -s first ] || fail "no section"
cmp -s first second || fail "the kept profile is judged differently"
expect_exit 1 "$ASSAY" report kept.assay --require both.txt
expect_has out "  both: minimum NOT MET"
expect_exit 0 "$ASSAY" report kept.assay
expect_has out "  mine: minimum met"
expect_exit 0 "$ASSAY" query kept.assay "select value from options where key = 'require'"
expect_has out "name mine; throughput 500 2000; p50 0.002s 0.00125s; p99 0.004s"
expect_exit 0 "$ASSAY" query strict.assay "select state from metrics where name = 'memory.budget_share'"
expect_has out "unavailable"

# Reports.
expect_exit 0 "$ASSAY" report kept.assay --detail basic
for word in "  mine: minimum met" Performance Score Recommendations; do expect_has out "$word"; done
for word in Bottlenecks Disturbances "Latency  host"; do expect_not out "$word"; done
expect_exit 0 "$ASSAY" report kept.assay --detail detailed --columns 80
for word in Bottlenecks Opportunities Recommendations Disturbances; do expect_has out "$word"; done
expect_has out "conv (Conv) takes 60 %"
expect_has out "2.5 ×"
python3 -c "import sys; sys.exit(max(len(l.rstrip(chr(10))) for l in open('out', encoding='utf-8')) > 80)" || fail "wider than 80"
expect_exit 0 "$ASSAY" report kept.assay --detail detailed --ascii
if LC_ALL=C grep -q '[^ -~]' out; then fail "not ASCII"; fi
expect_exit 0 "$ASSAY" report kept.assay --detail basic --json
python3 "$ROOT/tests/schema_check.py" run out
expect_equal "$(json_get out '.trials[0].review.score.parts[0].points')" 40
for format in markdown html; do
    expect_exit 0 "$ASSAY" report kept.assay --detail basic --format $format
    expect_has out "mine: minimum met, target NOT MET."
    expect_not out "Latency  host"
done
expect_exit 0 "$ASSAY" report kept.assay --format csv --table requirements
expect_has out "1,p50,latency.p50,0.001,s,measured,0.002,0.5,pass,0.00125,0.8,pass,,"

# JUnit is XML; the counts are those of the cases.
expect_exit 1 "$ASSAY" report kept.assay --require both.txt --format junit
python3 - out <<'PYTHON'
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
cases = {case.get("name"): case for case in suite.findall("testcase")}
assert list(cases) == ["run", "compute minimum", "latency p50 minimum"], list(cases)
assert suite.get("tests") == "3" and suite.get("failures") == "1" and suite.get("errors") == "1", suite.attrib
assert cases["compute minimum"].find("error") is not None
assert "at most 1.00 µs" in cases["latency p50 minimum"].find("failure").get("message")
assert len(list(cases["run"])) == 0
PYTHON

# A table's power budget switches the sensors on: the reason is theirs.
mkdir -p nothing/proc nothing/sys
printf 'power 10\n' >watts.txt
expect_exit 4 env ASSAY_FSROOT="$PWD/nothing" "$ASSAY" run --engine fake --script "$script" --iters 50 --idle 0s \
    --require watts.txt -q --json
expect_equal "$(json_get out '.trials[0].target.options.watch')" power
expect_equal "$(json_get out '.trials[0].requirements.rows[0].value')" null

# Wrong tables: one line, nothing is run.
printf 'p50 1ms\nbandwith 3\n' >wrong.txt
expect_error 2 "run: --require: requirement table 'wrong.txt', line 2: there is no requirement 'bandwith'; did you mean 'bandwidth'?" \
    "$ASSAY" run --engine fake --script "$script" --require wrong.txt
expect_error 2 "did you mean 'm1-pro'?" "$ASSAY" run --engine fake --script "$script" --require m1-por
expect_error 2 "there is no requirement table 'none.txt'" "$ASSAY" report kept.assay --require none.txt
expect_error 2 "cannot read" "$ASSAY" run --engine fake --script "$script" --require .
head -c 70000 /dev/zero >zeros.txt
expect_error 2 "longer than 65536 bytes" "$ASSAY" run --engine fake --script "$script" --require zeros.txt
head -c 100 /dev/zero >zeros.txt
expect_error 2 "line 1: a zero byte" "$ASSAY" run --engine fake --script "$script" --require zeros.txt
expect_error 2 "'much' is not one of basic|detailed" "$ASSAY" report kept.assay --detail much
expect_error 2 "--require" "$ASSAY" run --engine fake --script "$script" --require
