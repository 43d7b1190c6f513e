/* suites.c - the main() of a program that holds every test file of a folder. The build renames the
 * main() of each file to suite_FILE and lists the files in suites.h; the program runs the one it is
 * called as: build/tests/unit/test_json is a link to build/tests/unit-suites. */
#include <stdio.h>
#include <string.h>

typedef int suite_fn(int argc, char **argv);
#define SUITE(name) suite_fn suite_##name;
#include "suites.h"
#undef SUITE

static const struct {
    const char *name;
    suite_fn *run;
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.h"
#undef SUITE
};

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
        if (strcmp(suites[i].name, name) == 0) return suites[i].run(argc, argv);
    fprintf(stderr, "no test file is called %s\n", name);
    return 2;
}
