#!/usr/bin/env bash
# trace_model - a model's own timeline: the fake engine's layers at exact times, a model on the CPU in the order of
# execution, what cannot be combined.
. "$ROOT/tests/cli/lib.sh"

expect_exit 0 "$ASSAY" trace --engine fake -q -o f.assay \
    --script 'steady=100us;layers=conv:60us:Conv,relu:30us:Relu,rest:-;engine=10us'
expect_exit 0 "$ASSAY" query f.assay --csv \
    "SELECT kind, name, count(*), sum(duration_ns) FROM events GROUP BY kind, name ORDER BY kind, name"
tail -n +2 out | diff - <(printf '%s\n' operator,conv,20,1200000 operator,relu,20,600000 range,inference,20,2000000) ||
    fail "the events of the fake engine"
# relu begins where conv ends, and conv with the inference
expect_exit 0 "$ASSAY" query f.assay --csv \
    "SELECT name, start_ns - (SELECT min(start_ns) FROM events) FROM events ORDER BY start_ns LIMIT 4"
tail -n +2 out | tr -d '\r' | sort | diff - <(printf '%s\n' conv,0 inference,0 inference,100000 relu,60000) ||
    fail "the order of the layers"
expect_exit 0 "$ASSAY" explain f.assay --json

expect_exit 3 "$ASSAY" trace --engine fake -q -o bad.assay --script 'steady=100us;layers=conv:60us:Conv;crash_at=30'
[ ! -e bad.assay ] || fail "a profile of a run that failed"
expect_error 2 "not for a program" "$ASSAY" trace --device cpu -- true
expect_error 2 "no format junit" "$ASSAY" trace --report r.xml -- true
expect_error 2 "not for a model" "$ASSAY" trace --delay 1s mlp
expect_error 2 "--launches" "$ASSAY" trace --launches 3 mlp
expect_error 2 "MODEL is missing" "$ASSAY" trace

# one layer follows the other, all within an inference; the profile is named after the model
expect_exit 0 "$ASSAY" trace -q cfc
expect_exit 0 "$ASSAY" query cfc.assay --csv \
    "SELECT count(*) FROM events e WHERE kind = 'operator' AND NOT EXISTS (SELECT 1 FROM events r WHERE r.kind = 'range'
     AND r.start_ns <= e.start_ns AND r.start_ns + r.duration_ns >= e.start_ns + e.duration_ns)"
[ "$(tail -n 1 out)" = 0 ] || fail "layers outside of an inference: $(tail -n 1 out)"
[ -z "$(find . -name '*.records.*')" ] || fail "records were left behind"

# an output that cannot become a profile is refused before the program runs
echo text >text.assay
expect_exit 3 "$ASSAY" trace -q -o text.assay -- touch ran
expect_exit 2 "$ASSAY" trace -q -o /dev/null -- touch ran
[ ! -e ran ] || fail "the program ran for an output that cannot be written"
[ "$(cat text.assay)" = text ] || fail "the file was replaced"
