/* test_monitor_tree.c - a process and its children in made-up files of /proc: shares and "other"
 * add up, children of children, names with brackets, an exec, an end, a number that is used again,
 * an orphan that stays. */
#include "scratch.h"

#include "monitor/tree.h"

#include <assay/error.h>
#include <stdarg.h>
#include <sys/stat.h>

static void put(const char *path, const char *format, ...) ASSAY_PRINTF(2, 3);

/* A file below the root; its folders are made. */
static void put(const char *path, const char *format, ...)
{
    char full[600];
    va_list args;
    snprintf(full, sizeof full, "%s%s", scratch("root"), path);
    for (char *at = full + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0777);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    CHECK(file);
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    CHECK_INT(fclose(file), 0);
}

static void drop(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "root/proc/%d", pid);
    assay__folder_remove(scratch(path));
}

/* All CPUs together: so many ticks were active and idle. */
static void machine(int active, int idle)
{
    put("/proc/stat", "cpu  %d 0 0 %d 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n", active, idle);
}

static void process(int pid, int parent, const char *name, int start, int ticks, const char *list)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    put(path, "%d (%s) S %d 1 1 0 -1 0 0 0 0 0 %d %d 0 0 20 0 1 0 %d 1000 25 0\n", pid, name,
        parent, ticks, 0, start);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    put(path, "%s", list);
}

static struct assay__tree_reader *reader;

static const struct assay__tree *read_tree(void)
{
    const struct assay__tree *tree = assay__tree_read(reader);
    double sum = tree->other;
    for (size_t i = 0; i < tree->count; i++)
        sum += isnan(tree->items[i].share) ? 0 : tree->items[i].share;
    if (!isnan(tree->total)) CHECK(sum <= tree->total + 1e-12);
    return tree;
}

static void begin(void)
{
    machine(1000, 9000);
    process(100, 1, "a (b) c", 50, 500, "101 ");
    process(101, 100, "child", 60, 40, "102 103 ");
    process(102, 101, "grandchild", 70, 0, "");
    process(103, 101, "second", 71, 0, "");
    setenv("ASSAY_FSROOT", scratch("root"), 1);
    CHECK_INT(assay__tree_open(100, &reader, NULL), 0);
    const struct assay__tree *tree = read_tree();
    CHECK_INT(tree->count, 4);
    CHECK(isnan(tree->total));
    CHECK_STR(tree->items[0].name, "a (b) c");
    CHECK_INT(tree->items[2].pid, 102);
    CHECK_INT(tree->items[2].depth, 2);
    CHECK_NEAR(tree->items[0].memory_bytes, 25.0 * (double)sysconf(_SC_PAGESIZE), 0);
}

static void shares_add_up(void)
{
    begin();
    machine(1060, 9140); /* 200 ticks, 60 of them active */
    process(100, 1, "a (b) c", 50, 510, "101 ");
    process(101, 100, "child", 60, 60, "102 103 ");
    process(102, 101, "grandchild", 70, 10, "");
    const struct assay__tree *tree = read_tree();
    static const double shares[] = {0.05, 0.1, 0.05, 0};
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(tree->items[i].share, shares[i], 1e-12);
    CHECK_NEAR(tree->share, 0.2, 1e-12);
    CHECK_NEAR(tree->other, 0.1, 1e-12);
    CHECK_NEAR(tree->total, 0.3, 1e-12);
    /* The processes were read later and have more ticks than the machine had: other is 0. */
    machine(1070, 9230);
    process(101, 100, "child", 60, 80, "102 103 ");
    tree = read_tree();
    CHECK_NEAR(tree->share, 0.2, 1e-12);
    CHECK_NEAR(tree->other, 0, 0);
    CHECK_NEAR(tree->total, 0.2, 1e-12);
    assay__tree_close(reader);
}

static void members_come_and_go(void)
{
    begin();
    /* It runs another program; its second child is gone, and its number belongs to someone else;
     * its first child has ended, and that one's child is adopted by init. */
    machine(1100, 9100);
    process(100, 1, "other-name", 50, 520, "");
    drop(101);
    process(102, 1, "grandchild", 70, 20, "104 ");
    process(103, 1, "stranger", 9999, 70, "");
    process(104, 102, "late", 80, 30, "");
    const struct assay__tree *tree = read_tree();
    CHECK_INT(tree->count, 3);
    CHECK_INT(tree->items[0].pid, 100);
    CHECK_STR(tree->items[0].name, "other-name");
    CHECK_INT(tree->items[1].pid, 102);
    CHECK_INT(tree->items[1].depth, 0);
    CHECK_INT(tree->items[2].pid, 104);
    CHECK_NEAR(tree->items[2].share, 0.15, 1e-12); /* all it used, since it began */
    CHECK_NEAR(tree->other, 0.5 - 0.35, 1e-12);
    /* Everyone ends. */
    drop(100);
    drop(102);
    process(104, 1, "late", 80, 30, "");
    put("/proc/104/stat", "104 (late) Z 1 1 1 0 -1 0 0 0 0 0 30 0 0 0 20 0 1 0 80 0 0 0\n");
    tree = read_tree();
    CHECK_INT(tree->count, 0);
    CHECK(tree->reason[0]);
    assay__tree_close(reader);
}

static void wrong_files(void)
{
    struct assay_error error = {0};
    begin();
    assay__tree_close(reader);
    CHECK_INT(assay__tree_open(999, &reader, &error), ASSAY_ENOTFOUND);
    CHECK(reader == NULL);
    put("/proc/999/stat", "999 no brackets");
    CHECK_INT(assay__tree_open(999, &reader, &error), ASSAY_ENOTFOUND);
    /* A child that names itself and its parent as its children ends the search, not the program. */
    process(101, 100, "child", 60, 40, "100 101 77777777777777777777 x");
    CHECK_INT(assay__tree_open(100, &reader, NULL), 0);
    CHECK_INT(read_tree()->count, 2);
    machine(0, 0);
    const struct assay__tree *tree = read_tree();
    CHECK(isnan(tree->total) && tree->reason[0]);
    assay__tree_close(reader);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"shares_add_up", shares_add_up},
        {"members_come_and_go", members_come_and_go},
        {"wrong_files", wrong_files},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
