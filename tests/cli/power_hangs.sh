# plain-only: a library is preloaded, which sanitizers refuse
# assay power beside a driver that does not answer when its files are first read: the reason is on the page and in the profile, not only
# another rail in its place.
. "$ROOT/tests/cli/lib.sh"
[ "$(uname -s)" = Linux ] || skip "preloading a library as on Linux"
export ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-intel-laptop
library=$BUILD/tests/lib/lib_hanging_reads.so
[ -e "$library" ] || fail "no $library"
run() { # run FILE: it hangs
    expect_exit 0 env HANG_READ="$1" LD_PRELOAD="$library" timeout 30 "$ASSAY" power --engine fake \
        --script 'clock=real;steady=2ms' --iters 50 --idle 0s -q --columns 200 -o p.assay
}
run /intel-rapl:0/energy_uj
expect_has out "nothing measures the processor alone (rapl: opening it did not return within 1 s: gave up)"
expect_has out "rapl, all channels: opening it did not return within 1 s: gave up"
expect_exit 0 "$ASSAY" report p.assay --json
python3 - <<'PYTHON' || fail "rapl in the profile"
import json
with open("out", encoding="utf-8") as file:
    series = {s["name"]: s for s in json.load(file)["trials"][0]["series"]}
assert series["rapl"]["state"] == "unavailable" and "did not return within 1 s:" in series["rapl"]["note"], series.get("rapl")
PYTHON
run /hwmon0/temp1_input
expect_has out "hwmon, all channels: opening it did not return within 1 s: gave up"
