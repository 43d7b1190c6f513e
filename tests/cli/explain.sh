# assay explain: made timelines whose cause is known, every format, saving, comparing, several ranks, and what is wrong is said in
# one line.
. "$ROOT/tests/cli/lib.sh"
export LC_ALL=C.UTF-8
get() { # get EXPRESSION: of the JSON in the file `out`
    python3 -c 'import json, sys; d = json.load(open("out")); print(eval(sys.argv[1]))' "$1"
}

python3 "$ROOT/tests/oracle/make_timelines.py" made 1 1
file_of() { python3 -c 'import json, sys; print([f for f, t in json.load(open("made/truth.json")).items() if t["kind"] == sys.argv[1]][0])' "$1"; }
sync=made/$(file_of synchronised) launches=made/$(file_of launch_overhead) training=made/$(file_of training)

# the screen, and the contract of JSON
expect_exit 0 "$ASSAY" explain "$sync"
expect_lines err 0
expect_has out "Drained by synchronisation"
expect_exit 0 "$ASSAY" explain "$sync" --json
expect_equal "$(get 'd["diagnosis"]["id"]')" synchronisation
expect_equal "$(get 'sorted(d["trace"])[:3], sorted(d["top"][0])[:3]')" "(['events', 'format', 'producer'], ['class', 'count', 'flops'])"
expect_equal "$(get '[s["id"] for s in d["scenarios"]]')" "['launch-overhead', 'transfers', 'inefficient-kernels']"
expect_equal "$(get 'sum(r["ns"] for r in d["devices"][0]["idle"]) + d["devices"][0]["busy_ns"] == d["devices"][0]["span_ns"]')" True
expect_equal "$(get 'sum(l["ms"] for l in d["losses"]) < d["devices"][0]["span_ns"] / 1e6')" True

# steps of a training, and its optimiser
expect_exit 0 "$ASSAY" explain "$training" --json
expect_equal "$(get 'd["steps"]["count"]')" 5
expect_equal "$(get '"optimiser-kernels" in [f["id"] for f in d["findings"]]')" True

# every view says the same; tables for programs; the page
python3 "$ROOT/tests/formats_same.py" "$ASSAY" explain "$sync" || fail "the views differ"
for table in kernels losses idle host functions scenarios findings devices streams gaps transfers synchronisations operators steps ranks what-if critical-path counters; do
    expect_exit 0 "$ASSAY" explain "$sync" --format csv --table $table
    [ "$(wc -l <out)" -ge 1 ] || fail "$table has no header"
done
expect_exit 0 "$ASSAY" explain "$sync" -o page.html
expect_lines out 0
expect_has page.html "Where the device"

# saved, it says the same again, in explain and in report; its events are a table
expect_exit 0 "$ASSAY" explain "$sync" -o saved.assay
mv out first
expect_exit 0 "$ASSAY" explain saved.assay
cmp out first || fail "a saved timeline is explained differently"
expect_exit 0 "$ASSAY" report saved.assay
cmp out first || fail "a saved timeline is reported differently"
expect_exit 0 "$ASSAY" report saved.assay --json
expect_equal "$(get 'd["diagnosis"]["id"]')" synchronisation
expect_exit 0 "$ASSAY" query saved.assay "SELECT count(*) > 0 FROM events WHERE kind = 'kernel'" --csv
expect_equal "$(tail -n 1 out)" 1

# two: what changed, part by part
expect_exit 0 "$ASSAY" explain "$launches" "$sync" --json
expect_equal "$(get '(d["before"]["diagnosis"], d["after"]["diagnosis"])')" "('launch-overhead', 'synchronisation')"
expect_equal "$(get 'abs(sum(c["after_ms"] for c in d["changes"]) - d["after"]["span_ms"] / (d["after"]["steps"] if d["per_step"] else 1)) < 1e-6')" True
expect_exit 0 "$ASSAY" explain "$launches" -o before.assay
expect_exit 0 "$ASSAY" report before.assay saved.assay
expect_has out "first to last work"
expect_has out "before.assay" # as it was named, not the trace that it was made from
expect_exit 0 "$ASSAY" explain before.assay saved.assay --json
expect_equal "$(get '(d["before"]["path"], d["after"]["path"])')" "('before.assay', 'saved.assay')"

# four ranks: known overlap, known straggler
python3 "$ROOT/tests/oracle/make_ranks.py" ranks 1
expect_exit 0 "$ASSAY" explain ranks/rank*.json --json
expect_equal "$(get 'd["ranks"]["straggler"]')" 1
expect_equal "$(get 'd["steps"]["count"]')" 5
expect_equal "$(get '[[round(r[k] * 1e3) for k in ("compute_ms", "communication_ms", "overlap_ms")] for r in d["ranks"]["items"]] == [list(r.values()) for r in json.load(open("ranks/truth.json"))["ranks"]]')" True
expect_exit 0 "$ASSAY" explain ranks --json # a folder
expect_equal "$(get 'len(d["devices"])')" 4
expect_exit 0 "$ASSAY" explain ranks/rank0.json ranks/rank2.json --json # two of them are still one job
expect_equal "$(get 'len(d["devices"])')" 2
expect_exit 0 "$ASSAY" explain "$launches" "$sync" --merge --json
expect_equal "$(get 'len(d["trace"]["sources"])')" 2

# unrelated traces are no ranks: three are refused, by name and in a folder, unless the user insists; so are two with one rank or
# of jobs of different sizes beside a third
mkdir others
cp "$launches" others/a.json
cp "$sync" others/b.json
cp "$training" others/c.json
expect_error 2 "--merge" "$ASSAY" explain others/a.json others/b.json others/c.json
expect_error 2 "others/b.json" "$ASSAY" explain others
expect_exit 0 "$ASSAY" explain others --merge --json
expect_equal "$(get 'len(d["trace"]["sources"])')" 3
expect_error 2 "rank0.json" "$ASSAY" explain ranks/rank0.json ranks/rank1.json ranks/rank0.json
expect_error 2 "a.json" "$ASSAY" explain ranks/rank0.json ranks/rank1.json others/a.json
sed 's/"world_size": 4/"world_size": 8/' ranks/rank3.json >larger.json
expect_error 2 "larger.json" "$ASSAY" explain ranks/rank0.json ranks/rank1.json larger.json
expect_exit 0 "$ASSAY" explain ranks/rank0.json larger.json --json # two are compared
expect_equal "$(get '"changes" in d')" True
expect_exit 0 "$ASSAY" explain others --merge -o merged.assay
expect_exit 0 "$ASSAY" explain merged.assay --json # what was saved as one is one
expect_equal "$(get 'len(d["devices"])')" 3

# results as the guide lays them out
expect_exit 0 "$ASSAY" explain "$sync" --results PROFILING_RESULTS.md
for line in "# Profiling Results" "## Date: " "### Configuration" "- Device: NVIDIA H200" "### Key Findings" \
    "1. **Bottleneck Identified**: " "   - Evidence: " "   - Impact: " "   - Root cause: " "2. **GPU Utilization**: " \
    "   - Expected: >80%" "   - Gap: " "3. **Memory Patterns**:" "   - Transfers: " "   - Bandwidth: " \
    "### Optimization Opportunities" "   - Potential gain: " "   - Effort: " "   - Approach: " "| Avg Gap Time | "; do
    grep -qF -- "$line" PROFILING_RESULTS.md || fail "no line '$line'"
done

# for other viewers
copies=made/$(file_of transfers)
for of in "$sync" "$copies"; do
    expect_exit 0 "$ASSAY" explain "$of" --json
    said=$(get 'd["diagnosis"], d["transfers"], d["losses"]')
    for format in chrome perfetto; do
        expect_exit 0 "$ASSAY" explain "$of" --export $format -o again
        expect_exit 0 "$ASSAY" explain again --json
        expect_equal "$(get 'd["diagnosis"], d["transfers"], d["losses"]')" "$said"
    done
done

# what is wrong
expect_error 3 "none.json" "$ASSAY" explain none.json
echo "this is no trace" >text.txt
expect_error 3 "text.txt" "$ASSAY" explain text.txt
expect_error 2 "--export" "$ASSAY" explain "$sync" --export perfetto --json
expect_error 2 "--merge" "$ASSAY" explain "$sync" "$launches" -o two.assay
expect_error 2 ".pdf" "$ASSAY" explain "$sync" -o page.pdf
expect_error 2 "svg" "$ASSAY" explain "$sync" -o page.svg
expect_error 2 "junit" "$ASSAY" explain "$sync" -o page.xml
expect_error 2 "kineto" "$ASSAY" explain "$sync" --from nothing
expect_exit 2 "$ASSAY" explain
head -c 20000 "$sync" >cut.json # an input that ends early is explained as far as it goes
expect_exit 0 "$ASSAY" explain cut.json
expect_has out "ends early"
python3 - "$sync" <<'END' # events in far centuries do not hide the others
import json, sys
made = json.load(open(sys.argv[1]))
for at in (-9e15, 9e15):
    made["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "stray", "pid": 0, "tid": 7, "ts": at, "dur": 1, "args": {"device": 0, "stream": 7}})
json.dump(made, open("strays.json", "w"))
END
expect_exit 0 "$ASSAY" explain strays.json --json
expect_equal "$(get 'd["diagnosis"]["id"], d["trace"]["sources"][0]["skipped"]')" "('synchronisation', 2)"
cat "$sync" "$launches" >both.json # a second one behind the first is not read, and that is said
expect_exit 0 "$ASSAY" explain both.json --json
expect_equal "$(get 'd["diagnosis"]["id"], d["trace"]["sources"][0]["complaint"] is None')" "('synchronisation', False)"
python3 -c 'import gzip; open("bomb.gz", "wb").write(gzip.compress(b"{\"traceEvents\":[" + b" " * (70 << 20)))'
expect_error 3 "beyond the limit" "$ASSAY" explain bomb.gz

gzip -c "$sync" | "$ASSAY" explain /dev/stdin --json >out # a pipe is read once
expect_equal "$(get 'd["diagnosis"]["id"]')" synchronisation

# what was read is not replaced by what is written
cp "$sync" kept.json
cp "$sync" kept.assay
expect_error 2 "kept.json" "$ASSAY" explain kept.json -o ./kept.json
expect_error 2 "kept.json" "$ASSAY" explain "$launches" kept.json -o kept.json
expect_error 2 "kept.json" "$ASSAY" explain kept.json --results kept.json
expect_error 2 "kept.json" "$ASSAY" explain kept.json --export chrome -o kept.json
expect_error 2 "kept.assay" "$ASSAY" explain kept.assay -o kept.assay
cp -r ranks more
expect_error 2 "rank1.json" "$ASSAY" explain more -o more/rank1.json
cmp ranks/rank1.json more/rank1.json && cmp kept.json "$sync" && cmp kept.assay "$sync" || fail "a trace was replaced"
expect_error 2 "same.md" "$ASSAY" explain "$sync" -o same.md --results ./same.md
