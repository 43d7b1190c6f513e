# A wrong word is wrong usage (2), one clear line, and the nearest right word is suggested.
. "$ROOT/tests/cli/lib.sh"
expect_exit 2 "$ASSAY" run --bacth 2 resnet50
expect_lines out 0
expect_has err "--bacth"
expect_has err "--batch"
expect_exit 2 "$ASSAY" rnu
expect_lines out 0
expect_has err "rnu"
expect_has err "'run'"
expect_exit 2 "$ASSAY" run
expect_lines out 0
expect_exit 2 "$ASSAY" help nothing-like-this
expect_lines out 0
