# trace_cpu.sh - the CPU side of a traced program: samples with their functions, threads and generated code, of all its
# processes; where the kernel refuses, the reason; where the disk is full, what was written.
. "$ROOT/tests/cli/lib.sh"
cat >busy.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) uint64_t spin_leaf(uint64_t s)
{
    for (int i = 0; i < 1000; i++)
        __asm__ volatile("" : "+r"(s));
    return s + 1;
}
__attribute__((noinline)) uint64_t spin_for(double seconds)
{
    struct timespec now;
    uint64_t s = 0;
    do {
        for (int i = 0; i < 100; i++)
            s = spin_leaf(s);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds);
    return s;
}
static void *second(void *unused)
{
    uint64_t s = spin_for(0.2);
    return (void *)(uintptr_t)(s + (unused != NULL));
}
int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1 && !strcmp(argv[1], "exec")) return execl(argv[0], argv[0], (char *)0);
    if (argc > 1 && !strcmp(argv[1], "fork") && fork() == 0) { spin_for(0.2); _exit(0); }
    pthread_create(&thread, 0, second, 0);
    spin_for(0.4);
    pthread_join(thread, 0);
    return 3;
}
END
cc -O1 -fno-omit-frame-pointer -pthread -o busy busy.c 2>cc.err || skip "no compiler: $(head -n 1 cc.err)"
expect_exit 3 "$ASSAY" trace -o a.assay -- ./busy
grep -q "the CPU is not sampled" err && skip "$(grep -o 'the CPU is not sampled.*' err | head -n 1)"
number() { "$ASSAY" query "$1" "$2" --csv | tail -n 1; }
about() { [ "$1" -ge "$3" ] && [ "$1" -le "$4" ] || fail "$2: $1, expected $3 to $4"; }

# 0.6 s of processor time, whatever else runs: so many samples of it, so much time, in these functions, on two threads
about "$(number a.assay "select sum(duration_ns) / 1000000 from events where kind = 'sample'")" "ms" 500 900
about "$(number a.assay "select count(*) from events where kind = 'sample'")" "samples" 100 900
about "$(number a.assay "select count(distinct tid) from trace_tracks")" "threads" 2 2
"$ASSAY" report a.assay --format csv --table functions >functions.csv
leaf=$(awk -F, '$1 == "spin_leaf" { print int($7 * 100) }' functions.csv)
about "${leaf:-0}" "percent in spin_leaf" 80 100
expect_exit 0 "$ASSAY" explain a.assay --export folded
grep -q ';main;' out || fail "no stack from main: $(head -n 3 out)"
expect_exit 0 "$ASSAY" report a.assay --chart flame --ascii
expect_has out "spin_leaf"
# a file *.svg is a figure, from either command the flame graph
expect_exit 0 "$ASSAY" report a.assay -o reported.svg
expect_exit 3 "$ASSAY" trace -q -o figure.assay --report traced.svg -- ./busy
for figure in reported traced; do
    grep -q '<svg' $figure.svg && grep -q spin_leaf $figure.svg || fail "$figure.svg is no flame graph"
    ! grep -qi '<html' $figure.svg || fail "$figure.svg is a page"
done
expect_exit 0 "$ASSAY" report a.assay --svg flame -o flame.svg
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("flame.svg")'

# another rate; none; all processes
expect_exit 3 "$ASSAY" trace -q --cpu-rate 100 -o slow.assay -- ./busy
about "$(number slow.assay "select count(*) from events where kind = 'sample'")" "samples at 100 Hz" 10 100
expect_exit 3 "$ASSAY" trace -q --cpu none -o none.assay -- ./busy
[ ! -e none.assay ] || fail "a profile of nothing"
expect_exit 3 "$ASSAY" trace -q -o fork.assay -- ./busy fork
about "$(number fork.assay "select count(distinct pid) from trace_tracks")" "processes" 2 2
expect_exit 3 "$ASSAY" trace -q -o exec.assay -- ./busy exec
about "$(number exec.assay "select count(*) from events where kind = 'sample'")" "samples after an execution" 100 900

# only a part of it
expect_exit 3 "$ASSAY" trace -q --delay 20s -o late.assay -- ./busy
[ ! -e late.assay ] || fail "samples before the delay was over"

# a crash and Ctrl-C keep what was recorded
expect_exit 139 "$ASSAY" trace -q -o crash.assay -- sh -c './busy; kill -SEGV $$' || true
about "$(number crash.assay "select count(*) from events where kind = 'sample'")" "samples before a crash" 100 900

# generated code by the names of its map
if python3 -X perf -c 1 2>/dev/null && [ "$(python3 -c 'import sys; print(sys.version_info >= (3, 12))')" = True ]; then
    expect_exit 0 "$ASSAY" trace -q -o python.assay -- python3 -X perf -c 'def hot(n): return sum(i * i for i in range(n))
hot(5000000)'
    "$ASSAY" explain python.assay --export folded | grep -q 'py::hot' || fail "no Python function"
fi

# the recorder's own cost is part of the profile, and small
cost=$("$ASSAY" report a.assay | tr '\n' ' ' | grep -oE 'taken with +[0-9.]+' | grep -oE '[0-9.]+$')
python3 -c 'import sys; sys.exit(not 0 <= float(sys.argv[1]) < 25)' "${cost:-x}" || fail "the recorder took ${cost:-?} % of a processor"
