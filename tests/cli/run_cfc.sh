# A real run on ONNX Runtime, on the processor this build is for: latency, layers that add up to it, and which processor.
# alone: it measures
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
expect_exit 0 "$ASSAY" run cfc --iters 50 --json
case $(od -An -tu1 -j18 -N1 "$BUILD/assay") in # the machine in an ELF header
*183) expect_equal "$(json_get out .environment.architecture)" aarch64 ;;
*62) expect_equal "$(json_get out .environment.architecture)" x86_64 ;;
esac
python3 - <<'PYTHON' || fail "the numbers of the run"
import json
trial = json.load(open("out"))["trials"][0]
p50 = trial["metrics"]["latency.p50"]
assert trial["state"] == "ok" and p50["state"] == "measured" and p50["value"] > 0, p50
assert len(trial["layers"]) >= 30, len(trial["layers"])
total = sum(layer["time_us"] or 0 for layer in trial["layers"]) + trial["engine_us"] + trial["unattributed_us"]
assert abs(total - p50["value"] * 1e6) <= 1e-6 * total, (total, p50)
PYTHON
