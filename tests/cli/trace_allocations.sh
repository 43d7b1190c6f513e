# plain-only: the tracker cannot be loaded together with a sanitizer
# trace_allocations.sh - who allocates in a traced program: exact numbers of a small one, however it ends.
. "$ROOT/tests/cli/lib.sh"
[ -e "$BUILD/libassay-track.so" ] || skip "this build has no allocation tracker"
cat >allocate.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) void keep(void) { kept = malloc(1 << 20); }
__attribute__((noinline)) void churn(void) { for (int i = 0; i < 1000; i++) { kept = malloc(100); free(kept); } }
int main(int argc, char **argv)
{
    struct timespec now = {0};
    for (int i = 0; i < 10; i++) keep();
    churn();
    while (now.tv_nsec < 50000000 && !now.tv_sec) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    if (argc > 1 && !strcmp(argv[1], "leave")) _exit(4);

    if (argc > 1 && !strcmp(argv[1], "execv")) execv(argv[0], (char *[]){argv[0], 0});
    if (argc > 1 && !strcmp(argv[1], "abort")) abort();
    return 0;
}
END
cc -O1 -rdynamic -o allocate allocate.c 2>cc.err || skip "no compiler: $(head -n 1 cc.err)"
expect_exit 0 "$ASSAY" trace -q --allocations -o a.assay -- ./allocate
grep -q "the CPU is not sampled" err && skip "$(grep -o 'the CPU is not sampled.*' err | head -n 1)"
number() { "$ASSAY" query "$1" "$2" --csv | tail -n 1; }
site() { number "$1" "select cast(count as integer) || ' ' || cast(bytes as integer) || ' ' || cast(live_bytes as integer) from allocation_sites where trial = 1 and site like '%($2)%' order by position"; }
expect_equal "$(site a.assay keep)" "10 10485760 10485760"
expect_equal "$(site a.assay churn)" "1000 100000 0"
expect_equal "$(number a.assay "select cast(count as integer) || ' ' || cast(freed_count as integer) from allocation_phases where trial = 1")" "1010 1000"
expect_exit 0 "$ASSAY" report a.assay
expect_has out "(keep)"

# ends without a destructor; two programs of one process; a crash, of which nothing is known
expect_exit 4 "$ASSAY" trace -q --allocations -o leave.assay -- ./allocate leave
expect_equal "$(site leave.assay keep)" "10 10485760 10485760"
expect_exit 0 "$ASSAY" trace -q --allocations -o exec.assay -- ./allocate execv
expect_equal "$(number exec.assay "select count(*) from allocation_sites where site like '%(keep)%'")" 2
status=0
"$ASSAY" trace -q --allocations -o abort.assay -- ./allocate abort 2>err || status=$?
expect_equal $status 134
expect_has err "did not leave in order"
