# plain-only: many workers; its parts run under sanitizers as unit tests
# sweep --resume: a killed and an interrupted sweep go on and keep their samples; more launches; another grid, model, way of measuring, engine
# or version is refused and the file left as it is.
. "$ROOT/tests/cli/lib.sh"

args=(sweep mlp --engine fake --script "steady=1ms;noise=50us;seed=7;pace=1ms" --batch 1,2 --warmup 0 --iters 40)
samples() { # samples FILE TRIAL LAUNCH: how many, and their sum
    "$ASSAY" query "$1" "SELECT count(*), sum(ns) FROM samples WHERE trial=$2 AND launch=$3" --csv | tail -n 1
}
ended() { # ended FILE: launches that ended well
    "$ASSAY" query "$1" "SELECT count(*) FROM launches WHERE state='ok'" --csv 2>/dev/null | tail -n 1
}
begin() { # begin FILE: in the background, until two launches have ended
    in_background "$ASSAY" "${args[@]}" --launches 40 -q -o "$1"
    wait_for 2 "$1" "SELECT count(*) FROM launches WHERE state='ok'"
}

begin kill.assay
expect_stop KILL 137
had=$(ended kill.assay)
first=$(samples kill.assay 1 1)
second=$(samples kill.assay 2 1)
expect_exit 0 "$ASSAY" "${args[@]}" --launches 4 -o kill.assay --resume --json
expect_has err "0 of 2 points were complete; $had launches were reused"
expect_equal "$(json_get out '.complete')" true
expect_equal "$(json_get out '.trials[0].launches.length')" 4
expect_equal "$(json_get out '.trials[1].launches.length')" 4
expect_equal "$(json_get out '.sweep.points[1].usable')" true
expect_equal "$(samples kill.assay 1 1)" "$first"
expect_equal "$(samples kill.assay 2 1)" "$second"
expect_equal "$(samples kill.assay 2 4 | cut -d, -f1)" 40

begin int.assay
expect_stop INT 130
expect_has err "interrupted; what was measured is saved in int.assay; repeat the command with --resume to continue"
first=$(samples int.assay 1 1)
had=$(ended int.assay)
launches=$((had + 3)) # at least one is missing of each
expect_exit 0 "$ASSAY" "${args[@]}" --launches "$launches" -q -o int.assay --resume
expect_equal "$(ended int.assay)" $((2 * launches))
expect_equal "$(samples int.assay 1 1)" "$first"

# of an interrupted sweep every format says which points were not reached
in_background "$ASSAY" sweep mlp --engine fake --script "steady=1ms;pace=1ms" --batch 1,2,4 --warmup 0 --iters 1500 --launches 1 -q -o part.assay
wait_for 1 part.assay "SELECT count(*) FROM launches WHERE state='ok'"
expect_stop INT 130
for format in text markdown "csv --table sweep" json junit; do
    expect_exit 0 "$ASSAY" report part.assay --format $format
    expect_has out "interrupted"
    case $format in text | markdown | csv*)
        expect_has out "interrupted before it was measured"
        expect_has out "not reached"
        if grep -qE ',failed,|\| failed|failed *$' out; then fail "$format: a point that was not reached is called failed"; fi
        ;;
    esac
done

# complete points stand as they are; more launches are added to them
expect_exit 0 "$ASSAY" "${args[@]}" --launches 4 --goal latency --slo p50=1ns --memory-budget 1B -o kill.assay --resume --json
expect_has err "2 of 2 points were complete; 8 launches were reused"
# … and are judged by what is asked now
expect_equal "$(json_get out '.sweep.optimal')" null
expect_equal "$(json_get out '.sweep.points[0].within_limits')" false
expect_exit 0 "$ASSAY" "${args[@]}" --launches 4 --goal latency -q -o kill.assay --resume --json
expect_has out "best latency: "
expect_exit 0 "$ASSAY" report kill.assay
expect_has out "best latency: "
expect_equal "$(ended kill.assay)" 8
expect_exit 0 "$ASSAY" "${args[@]}" --launches 5 -q -o kill.assay --resume
expect_equal "$(ended kill.assay)" 10

# what is no part of the same sweep
cp kill.assay same.assay
refused() { # refused TEXT OPTION…
    expect_error 2 "$1" "$ASSAY" "${@:2}" -q -o kill.assay --resume
    cmp -s kill.assay same.assay || fail "the file was changed: $1"
}
refused "contains another grid: its point 2 is 'batch=2', here it is 'batch=4'" "${args[@]/1,2/1,4}"
refused "contains another grid: 2 points, here there are 3" "${args[@]/1,2/1,2,4}"
refused "was measured with iters 40, this command has 99" "${args[@]}" --iters 99
refused "was measured with seed 0, this command has 5" "${args[@]}" --seed 5
refused "was measured with script" "${args[@]}" --script steady=7us
refused "contains another model (mlp" "${args[@]/mlp/cfc}"
expect_error 2 "as the output" "$ASSAY" "${args[@]}" --resume
expect_exit 0 "$ASSAY" run --engine fake --script steady=1ms --iters 20 --layers=off -q -o run.assay
expect_error 2 "is a profile of run, not of sweep" "$ASSAY" "${args[@]}" -q -o run.assay --resume
echo text >text.assay
expect_exit 3 "$ASSAY" "${args[@]}" -q -o text.assay --resume
expect_lines err 1
expect_equal "$(cat text.assay)" text
# no file yet: the sweep begins
expect_exit 0 "$ASSAY" "${args[@]}" --iters 5 --launches 1 -o new.assay --resume
expect_has err "no new.assay to resume"
expect_equal "$(ended new.assay)" 2
# points of another version of ONNX Runtime
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || exit 0
expect_exit 0 "$ASSAY" sweep mlp --batch 1,2 --iters 5 --launches 1 -q -o ort.assay
python3 -c 'import sqlite3; d = sqlite3.connect("ort.assay"); d.execute("UPDATE trials SET engine_version=?", ("0.0.1",)); d.commit()'
expect_error 2 "was measured with ort 0.0.1, now it is" "$ASSAY" sweep mlp --batch 1,2 --iters 5 --launches 1 -q -o ort.assay --resume
