/* golden.h - whole outputs, compared with the files of tests/golden. `tests/run --bless NAME`
 * (ASSAY_BLESS=1) rewrites the files from what is printed now; git diff then shows what changed. */
#ifndef ASSAY_TESTS_GOLDEN_H
#define ASSAY_TESTS_GOLDEN_H

#include "base/file.h"
#include "harness.h"

static inline bool golden_bless(void)
{
    const char *bless = getenv("ASSAY_BLESS");
    return bless && strcmp(bless, "1") == 0;
}

/* The first line that differs. */
static inline void golden_show(const char *name, const char *is, const char *expected)
{
    int line = 1;
    while (*is && *is == *expected)
        line += *is++ == '\n', expected++;
    printf("  tests/golden/%s:%d, from where it differs\n    is       %.*s\n    expected %.*s\n",
           name, line, (int)strcspn(is, "\n"), is, (int)strcspn(expected, "\n"), expected);
}

static inline void check_golden(const char *name, const char *text)
{
    char path[512], *expected = NULL;
    snprintf(path, sizeof path, "%s/tests/golden/%s", ASSAY_TEST_ROOT, name);
    if (golden_bless()) CHECK_INT(assay__file_write(path, text, strlen(text), NULL), 0);
    CHECK_INT(assay__file_read(path, 1 << 20, &expected, NULL, NULL), 0);
    if (strcmp(text, expected) != 0) {
        golden_show(name, text, expected);
        harness_fail(__FILE__, __LINE__, "not the golden output (tests/run --bless)");
    }
    free(expected);
}

#endif
