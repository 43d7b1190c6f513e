# A run of the fake engine, kept and rendered: JSON holds what the design promises, report prints what run printed, every
# format comes out, and the layers add up to the median exactly.
. "$ROOT/tests/cli/lib.sh"
script='load=2ms;compile=3ms;first=9ms;steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us'
expect_exit 0 "$ASSAY" run --engine fake --script "$script" --iters 700 --warmup 20 -o p.assay --json
expect_has err "profile saved to p.assay"
cp out run.json
python3 -m json.tool run.json >/dev/null || fail "not JSON"
python3 "$ROOT/tests/schema_check.py" run run.json || fail "not the promised shape"
expect_equal "$(json_get run.json '.trials[0].state')" ok
expect_equal "$(json_get run.json '.trials[0].metrics["latency.p50"].value')" 0.0001
expect_equal "$(json_get run.json '.trials[0].metrics["latency.p50"].state')" measured
expect_equal "$(json_get run.json '.trials[0].metrics["timing.load"].value')" 0.002
expect_equal "$(json_get run.json '.trials[0].metrics["latency.p999"].value')" null
expect_equal "$(json_get run.json '.trials[0].layers.length')" 2
expect_equal "$(json_get run.json '.trials[0].layers[0].time_us')" 60
expect_equal "$(json_get run.json '.trials[0].engine_us')" 7
expect_equal "$(json_get run.json '.trials[0].launches[0].p50_us')" 100
expect_equal "$(json_get run.json .complete)" true
case $(json_get run.json .command_line) in
"assay run --engine fake --script '"*"' --iters 700 --warmup 20 -o p.assay --json") ;;
*) fail "command line: $(json_get run.json .command_line)" ;;
esac
# the kept profile says the same
expect_exit 0 "$ASSAY" report p.assay --json
expect_lines err 0
cmp -s out run.json || { diff -u run.json out | head -n 20 >&2; fail "report --json differs from run --json"; }
expect_exit 0 "$ASSAY" report p.assay --full
cp out plain.txt
for text in '100 µs per inference; Conv takes 60 %.' 'engine per run' 'unattributed' 'total (the unprofiled median)' 'Not available'; do
    expect_has plain.txt "$text"
done
expect_exit 0 "$ASSAY" report p.assay --format text --columns 80 --full -o file.txt
expect_lines out 0
cmp -s file.txt plain.txt || fail "report -o differs from stdout"
if grep -q "$(printf '\033')" plain.txt; then fail "colours in a pipe"; fi
expect_exit 0 "$ASSAY" report p.assay --ascii
if LC_ALL=C grep -q '[^ -~]' out; then fail "--ascii is not ASCII"; fi
# without a UTF-8 locale it is ASCII on its own; a file is UTF-8 anywhere
cp out ascii.txt
for locale in C POSIX en_US.ISO-8859-1; do
    expect_exit 0 env LC_ALL=$locale "$ASSAY" report p.assay
    cmp -s out ascii.txt || fail "LC_ALL=$locale is not what --ascii gives"
done
expect_exit 0 env LC_ALL= LC_CTYPE= LANG=en_US.utf8 "$ASSAY" report p.assay --full
cmp -s out plain.txt || fail "LANG=en_US.utf8"
expect_exit 0 env LC_ALL=C "$ASSAY" report p.assay --columns 80 --full -o file.txt
cmp -s file.txt plain.txt || fail "report -o depends on the locale"
expect_exit 0 "$ASSAY" report p.assay --format csv
expect_has out "1,latency.p50,0.0001,s,measured,"
expect_exit 0 "$ASSAY" report p.assay --format csv --table samples
expect_lines out 701
expect_exit 0 "$ASSAY" report p.assay --format csv --table layers
expect_lines out 5
expect_exit 0 "$ASSAY" report p.assay --format markdown --full
expect_has out "| latency.p50 | 100 µs | measured |"
expect_exit 2 "$ASSAY" report p.assay --format pdf
expect_has err "text|json|csv|markdown"
