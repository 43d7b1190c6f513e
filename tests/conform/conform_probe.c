/* conform_probe.c - what every probe of the table must do, on the real machine and on every machine
 * that is a folder (tests/fixtures/fsroot-*, found by their names: a captured one joins by being
 * put there): names and units of the contract, a reason for whatever is unavailable, the same
 * answers twice, nothing negative, no allocation in read. No time is asserted. */
#include "harness.h"
#include "../unit/scratch.h"

#include "probe/probe.h"

#include <dirent.h>
#include <limits.h>
#include <stdatomic.h>

#define FIXTURES ASSAY_TEST_ROOT "/tests/fixtures"

/* --- counting allocations: where the C library lets a program put its own malloc in front ----- */

#if defined(__SANITIZE_ADDRESS__)
#define COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COUNTS_ALLOCATIONS 0
#endif
#endif
#if !defined(COUNTS_ALLOCATIONS) && defined(__GLIBC__)
#define COUNTS_ALLOCATIONS 1
#elif !defined(COUNTS_ALLOCATIONS)
#define COUNTS_ALLOCATIONS 0
#endif

static atomic_ulong allocations;
static unsigned long refused = ULONG_MAX; /* the allocation of this number fails */

#if COUNTS_ALLOCATIONS
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return allocations++ == refused ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return allocations++ == refused ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return allocations++ == refused ? NULL : __libc_realloc(old, size);
}
#endif

/* --- the checks ------------------------------------------------------------------------------- */

static const struct assay__probe_ops *ops; /* under test */
static const char *tree;                   /* "": the real machine */

_Noreturn static void fail_at(const char *what, const char *where)
{
    printf("  %s on %s: %s: %s\n", ops->name, *tree ? tree : "this machine", where, what);
    fflush(stdout);
    exit(1);
}

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(text, *list) == 0) return true;
    return false;
}

/* The unit that each quantity has. */
static void check_unit(const struct assay__channel *channel)
{
    static const char *const pairs[][2] = {
        {"energy", "J"}, {"power", "W"},           {"temperature", "°C"}, {"clock", "Hz"},
        {"fan", "1/s"},  {"utilization", "ratio"}, {"memory", "B"},       {"time", "s"},
        {"state", "1"},  {"count", "1"},           {"bandwidth", "B/s"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(pairs[i][0], channel->quantity) == 0) {
            if (strcmp(pairs[i][1], channel->unit) != 0)
                fail_at("not the base unit", channel->name);
            return;
        }
    fail_at("a quantity that the contract does not have", channel->name);
}

static void check_name(const struct assay__channel *channels, size_t index)
{
    const char *name = channels[index].name;
    if (!name || !*name) fail_at("no name", "?");
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f) fail_at("space or control character", name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(channels[i].name, name) == 0) fail_at("the name is there twice", name);
}

static void check_channel(const struct assay__channel *channels, size_t index)
{
    const struct assay__channel *channel = &channels[index];
    check_name(channels, index);
    check_unit(channel);
    if (!channel->rail || !channel->source || !*channel->source)
        fail_at("no rail or source", channel->name);
    if (!channel->reason) fail_at("reason is NULL", channel->name);
    if (channel->available == (channel->reason[0] != '\0'))
        fail_at("available with a reason, or unavailable without", channel->name);
    if (channel->kind != ASSAY__CHANNEL_COUNTER && !isnan(channel->range))
        fail_at("a gauge has no range", channel->name);
    if (!isnan(channel->range) && channel->range <= 0) fail_at("no such range", channel->name);
    if (channel->states && strcmp(channel->quantity, "state") != 0)
        fail_at("states of what is no state", channel->name);
}

static void check_reading(const struct assay__channel *channel,
                          const struct assay__probe_reading *reading)
{
    static const char *const signed_ones[] = {"temperature", NULL};
    if (!reading->reason) fail_at("the reading's reason is NULL", channel->name);
    if (isnan(reading->value) != (reading->reason[0] != '\0'))
        fail_at("a value with a reason, or none without", channel->name);
    if (!channel->available && !isnan(reading->value))
        fail_at("unavailable, and yet a value", channel->name);
    if (isnan(reading->value)) return;
    if (!isfinite(reading->value)) fail_at("not finite", channel->name);
    if (reading->value < 0 && !is_one_of(channel->quantity, signed_ones))
        fail_at("negative", channel->name);
    if (!isnan(channel->range) && reading->value > channel->range)
        fail_at("above its range", channel->name);
    if (channel->states) {
        size_t states = 0;
        while (channel->states[states])
            states++;
        if (reading->value >= (double)states || reading->value != floor(reading->value))
            fail_at("no such state", channel->name);
    }
}

/* Counters do not fall between two reads; on a folder, where nothing moves, two reads are equal. */
static void check_twice(const struct assay__channel *channel, double first, double second)
{
    if (isnan(first) || isnan(second)) {
        if (*tree && isnan(first) != isnan(second)) fail_at("it reads only once", channel->name);
        return;
    }
    if (*tree && first != second) fail_at("two reads differ", channel->name);
    if (channel->kind == ASSAY__CHANNEL_COUNTER && isnan(channel->range) && second < first)
        fail_at("the counter fell", channel->name);
}

static void check_probe(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__probe *probe = NULL;
    struct assay_error error;
    const struct assay__channel *channels = NULL, *again = NULL;
    bool any = false;
    CHECK(arena != NULL);
    if (ops->open(arena, &probe, &error)) fail_at(error.message, "open");
    size_t count = ops->channels(probe, &channels);
    struct assay__probe_reading *first = calloc(count + 1, sizeof *first),
                                *second = calloc(count + 1, sizeof *second);
    CHECK(first && second);
    /* One past the end is not ours to write. */
    second[count] = (struct assay__probe_reading){-7, "untouched"};
    ops->read(probe, first);
    size_t used = assay__arena_used(arena);
    unsigned long before = allocations;
    ops->read(probe, second);
    if (allocations != before || assay__arena_used(arena) != used) fail_at("it allocates", "read");
    CHECK_NEAR(second[count].value, -7, 0);
    CHECK_STR(second[count].reason, "untouched");
    CHECK_INT(ops->channels(probe, &again), count);
    CHECK(again == channels);
    for (size_t i = 0; i < count; i++) {
        check_channel(channels, i);
        check_reading(&channels[i], &second[i]);
        check_twice(&channels[i], first[i].value, second[i].value);
        any = any || channels[i].available;
    }
    if (any == (ops->reason(probe)[0] != '\0'))
        fail_at("a reason although something is available, or none", "reason");
    free(first);
    free(second);
    ops->close(probe);
    ops->close(NULL);
    assay__arena_free(arena);
}

static void check_table(void)
{
    size_t rows = 0;
    for (; (ops = assay__probe_at(rows)); rows++)
        check_probe();
    CHECK(rows >= 10);
}

/* --- the tests -------------------------------------------------------------------------------- */

static void test_table(void)
{
    CHECK(assay__probe_find("no such probe") == NULL);
    for (size_t i = 0; (ops = assay__probe_at(i)); i++) {
        CHECK(ops->name[0] && ops->summary[0]);
        CHECK(ops->open && ops->channels && ops->reason && ops->read && ops->close);
        CHECK(assay__probe_find(ops->name) == ops); /* so names are unique */
        CHECK(assay__probe_at(i + 1) != ops);
    }
}

static void test_this_machine(void)
{
    unsetenv("ASSAY_FSROOT");
    tree = "";
    check_table();
}

static void test_folders(void)
{
    DIR *dir = opendir(FIXTURES);
    struct dirent *entry;
    size_t trees = 0;
    CHECK(dir != NULL);
    while ((entry = readdir(dir))) {
        char root[1024];
        if (strncmp(entry->d_name, "fsroot-", 7) != 0 || strchr(entry->d_name, '.')) continue;
        snprintf(root, sizeof root, FIXTURES "/%s", entry->d_name);
        setenv("ASSAY_FSROOT", root, 1);
        tree = entry->d_name;
        check_table();
        trees++;
    }
    closedir(dir);
    CHECK(trees >= 8);
}

/* No file at all: every probe opens, has nothing, and says why. */
static void test_nothing(void)
{
    setenv("ASSAY_FSROOT", FIXTURES "/there-is-no-such-machine", 1);
    tree = "nothing";
    check_table();
    for (size_t i = 0; (ops = assay__probe_at(i)); i++) {
        struct assay__arena *arena = assay__arena_new();
        struct assay__probe *probe = NULL;
        CHECK_INT(ops->open(arena, &probe, NULL), 0);
        CHECK(ops->reason(probe)[0] != '\0');
        ops->close(probe);
        assay__arena_free(arena);
    }
}

/* $ASSAY_POWERMETRICS is a copy that was written just now: an old file is no reading. */
static void powermetrics_writes(const char *path)
{
    struct assay__mapping mapping;
    const char *copy = scratch("powermetrics");
    CHECK_INT(assay__file_map(path, &mapping, NULL), 0);
    CHECK_INT(assay__file_write(copy, mapping.data, mapping.size, NULL), 0);
    assay__file_unmap(&mapping);
    setenv("ASSAY_POWERMETRICS", copy, 1);
}

/* Those that ask a library or a program: with a fake one, and with files that it wrote. */
static void test_fakes(void)
{
    static const char *const written[] = {FIXTURES "/powermetrics/two.plist",
                                          FIXTURES "/powermetrics/two.txt"};
    unsetenv("ASSAY_FSROOT");
    setenv("ASSAY_NVML_LIBRARY", ASSAY_TEST_BUILD "/tests/lib/lib_fake_nvml.so", 1);
    tree = ""; /* the fake's energy moves */
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        powermetrics_writes(written[i]);
        check_table();
    }
}

static void test_allocations_are_counted(void)
{
    if (!COUNTS_ALLOCATIONS)
        SKIP("this C library, or a sanitizer, keeps malloc for itself: only the arena is watched");
    unsigned long before = allocations;
    void *volatile block = malloc(16);
    free(block);
    CHECK(allocations > before);
}

/* Every allocation of an open fails once: it ends with ENOMEM, or works without what it could not
 * have, and never crashes. */
static void test_no_memory(void)
{
    static const char *const trees[] = {"intel-laptop", "amdgpu-host", "intel-npu-laptop",
                                        "container"};
    if (!COUNTS_ALLOCATIONS) SKIP("this C library, or a sanitizer, keeps malloc for itself");
    unsigned long failures = 0;
    for (size_t t = 0; t < sizeof trees / sizeof trees[0]; t++) {
        char root[1024];
        snprintf(root, sizeof root, FIXTURES "/fsroot-%s", trees[t]);
        setenv("ASSAY_FSROOT", root, 1);
        powermetrics_writes(FIXTURES "/powermetrics/two.plist");
        for (size_t i = 0; (ops = assay__probe_at(i)); i++) {
            bool reached = true;
            for (unsigned long n = 0; reached; n++) {
                struct assay__probe *probe = NULL;
                struct assay__arena *arena = assay__arena_new();
                CHECK(arena != NULL);
                refused = allocations + n;
                int code = ops->open(arena, &probe, NULL);
                reached = allocations > refused;
                refused = ULONG_MAX;
                CHECK(code == 0 || code == ASSAY_ENOMEM);
                CHECK((code == 0) == (probe != NULL));
                failures += code != 0;
                ops->close(probe);
                assay__arena_free(arena);
            }
        }
    }
    CHECK(failures > 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"table", test_table},
        {"allocations_are_counted", test_allocations_are_counted},
        {"this_machine", test_this_machine},
        {"folders", test_folders},
        {"nothing", test_nothing},
        {"fakes", test_fakes},
        {"no_memory", test_no_memory},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
