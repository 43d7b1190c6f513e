# plain-only: tests scripts, not the program
# The checks of layers and banned functions say no where they should.
. "$ROOT/tests/cli/lib.sh"
mkdir -p src/base src/model src/run src/cli src/platform include/assay examples scripts
echo '#include "base/arena.h"' >src/model/good.c
printf '#include <assay/assay.h>\n#include <sys/stat.h>\n' >>src/model/good.c
echo '#ifdef __linux__' >src/platform/linux_x.c
printf '/* never sprintf( */ const char *x = "strcpy(a, b) \\" exit(1)";\nsnprintf(b, 1, "");\n' >src/base/fine.c
expect_exit 0 "$ROOT/scripts/check-layers" .
expect_exit 0 "$ROOT/scripts/check-banned" .
echo '#include <run/worker/loop.h>' >src/model/bad.c
expect_exit 1 "$ROOT/scripts/check-layers" .
expect_has out "src/model/bad.c:1"
for include in run/worker/loop.h cli/main.h nowhere/x.h ../run/loop.h; do
    echo "#include \"$include\"" >src/model/bad.c
    expect_exit 1 "$ROOT/scripts/check-layers" .
    expect_has out "src/model/bad.c:1"
done
rm src/model/bad.c
echo '#include "base/arena.h"' >include/assay/bad.h
expect_exit 1 "$ROOT/scripts/check-layers" .
rm include/assay/bad.h
touch src/platform/good.c # a name that src/model has already
expect_exit 1 "$ROOT/scripts/check-layers" .
expect_has out "src/model/good.c"
expect_has out "src/platform/good.c"
rm src/platform/good.c
for line in 'x = sprintf(b, "%d", 1);' 'strcpy(a, b);' 'x = atoi("1");' 'exit(1);' 'printf("x");' 'abort();' \
    'fputs("x", stderr);' '#ifdef __APPLE__' '/* a */ strcat(a, b); /* b */'; do
    echo "$line" >src/base/bad.c
    expect_exit 1 "$ROOT/scripts/check-banned" .
    expect_has out "src/base/bad.c:1"
done
rm src/base/bad.c
echo 'printf("x"); exit(1);' >src/cli/main.c
expect_exit 0 "$ROOT/scripts/check-banned" .
{ echo 'int f(void)'; echo '{'; for i in $(seq 81); do echo "    x = $i;"; done; echo '}'; } >src/cli/long.c
expect_exit 1 "$ROOT/scripts/check-banned" .
expect_has out "81 lines"
for i in $(seq 801); do echo; done >src/cli/long.c
expect_exit 1 "$ROOT/scripts/check-banned" .
expect_has out "801 lines"
# Prose is written, not read back: only profile/schema1.c may.
rm src/cli/long.c
mkdir -p src/profile src/report
for line in 'if (strstr(m->note, "was read")) x();' 'n = strcspn(why, ";");' 'strncmp(row->reason, "no ", 3)' \
    'x = strchr(trial->notes[i], 59) != NULL;' 'x = strchr(points[i].label, 61);' 'sscanf(d->reason, "%d", &n);' \
    'same = strcmp(m->note, "not read") == 0;' 'v = strtod(point->label, &end);' \
    'same = strcmp("not read", m->note) == 0;' 'strcasecmp(row->reason, "no")' 'strncasecmp(why, "no", 2)' 'memcmp(note, "x", 1)'; do
    echo "$line" >src/report/bad.c
    expect_exit 1 "$ROOT/scripts/check-banned" .
    expect_has out "src/report/bad.c:1: prose read back as data"
done
printf 'x = strstr(\n    m->note, "was read");\n' >src/report/bad.c
expect_exit 1 "$ROOT/scripts/check-banned" .
expect_has out "src/report/bad.c:2"
printf 'x = strcmp(m->note,\n           "was read");\n' >src/report/bad.c
expect_exit 1 "$ROOT/scripts/check-banned" .
expect_has out "src/report/bad.c:2"
mv src/report/bad.c src/profile/schema1.c
expect_exit 0 "$ROOT/scripts/check-banned" .
echo 'same = strcmp(a->label, b->label) == 0 && strstr(name, "x") && strlen(note) > 3 && strcmp("x", name) == 0 && f(note);' >src/report/good.c
expect_exit 0 "$ROOT/scripts/check-banned" .
