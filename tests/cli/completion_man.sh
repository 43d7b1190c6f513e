# Completion and manual pages come from the table: every option of the help is in them, and the shells accept them.
. "$ROOT/tests/cli/lib.sh"
"$ASSAY" completion bash >assay.bash
bash -n assay.bash || fail "bash does not parse it"
"$ASSAY" completion zsh >assay.zsh
"$ASSAY" completion fish >assay.fish
if command -v zsh >/dev/null; then zsh -n assay.zsh || fail "zsh does not parse it"; fi
if command -v fish >/dev/null; then fish -n assay.fish || fail "fish does not parse it"; fi
expect_exit 0 "$ASSAY" man pages
for command in run report query devices doctor version help completion; do
    [ -s "pages/assay-$command.1" ] || fail "no page for $command"
    "$ASSAY" help $command | grep -o -- '--[a-z-]*' | sort -u | while read -r option; do
        sed 's/\\-/-/g' "pages/assay-$command.1" | grep -qF -- "$option" || fail "$option is not in assay-$command.1"
        expect_has assay.bash "$option"
        [ "$option" = --help ] || expect_has assay.fish "-l ${option#--} "
        expect_has assay.zsh "$option"
    done
done
expect_has pages/assay.1 'assay\-run'
expect_not pages/assay-run.1 'script'
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww pages/*.1 >/dev/null 2>warnings || fail "groff"
    expect_lines warnings 0
fi
# what bash completes
complete_words() { # complete_words WORD…: the last one is being typed
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _assay 2>/dev/null || true
    echo "${COMPREPLY[*]}"
}
. ./assay.bash
expect_equal "$(complete_words assay re)" report
expect_equal "$(complete_words assay run --thr)" --threads
expect_equal "$(complete_words assay run --format js)" json
expect_equal "$(complete_words assay completion z)" zsh
touch one.assay one.onnx
expect_equal "$(complete_words assay report one)" one.assay
expect_equal "$(complete_words assay query one)" one.assay
expect_equal "$(complete_words assay run one | tr ' ' '\n' | sort | tr '\n' ' ')" "one.assay one.onnx "
expect_has assay.zsh '_files -g "*.assay"'
expect_has assay.fish '__fish_complete_suffix .assay'
expect_exit 2 "$ASSAY" completion tcsh
expect_has err "bash, zsh, fish"
