/* test_base.c - arena, buffer, vector, map, errors, files, clock and text. */
#include "harness.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <assay/error.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

static void test_arena(void)
{
    struct assay__arena *arena = assay__arena_new();
    CHECK(arena != NULL);
    unsigned char *blocks[400];
    size_t total = 0;
    for (size_t i = 0; i < 400; i++) { /* crosses chunks; a large block in between */
        size_t size = i == 200 ? 3u << 20 : i * 7;
        blocks[i] = assay__arena_alloc(arena, size);
        CHECK(blocks[i] != NULL);
        CHECK_INT((uintptr_t)blocks[i] % 16, 0);
        for (size_t j = 0; j < size; j += 61)
            CHECK_INT(blocks[i][j], 0);
        memset(blocks[i], (int)(i & 0xff), size);
        total += size;
    }
    for (size_t i = 1; i < 400; i++) { /* nothing overlaps */
        size_t size = i == 200 ? 3u << 20 : i * 7;
        CHECK_INT(blocks[i][0], i & 0xff);
        CHECK_INT(blocks[i][size - 1], i & 0xff);
    }
    CHECK_INT(assay__arena_used(arena), total);
    CHECK(assay__arena_alloc(arena, SIZE_MAX) == NULL);
    CHECK(assay__arena_alloc(arena, SIZE_MAX - 15) == NULL);
    CHECK(assay__arena_alloc(arena, ((size_t)1 << 40) + 1) == NULL);
    CHECK(assay__arena_array(arena, SIZE_MAX / 2, 4) == NULL);
    CHECK(assay__arena_strndup(arena, "x", SIZE_MAX) == NULL);
    CHECK_STR(assay__arena_strndup(arena, "abcdef", 3), "abc");
    CHECK_STR(assay__arena_strdup(arena, ""), "");
    CHECK_STR(assay__arena_printf(arena, "%s-%d", "a", 42), "a-42");
    assay__arena_free(arena);
    assay__arena_free(NULL);
}

static void test_buf(void)
{
    struct assay__buf buf = {0};
    assay__buf_repeat(&buf, "ab", 0);
    CHECK(!buf.data || !*buf.data); /* nothing, or a string */
    for (int i = 0; i < 1000; i++)
        assay__buf_printf(&buf, "%d,", i);
    CHECK_INT(buf.length, 10 * 2 + 90 * 3 + 900 * 4);
    CHECK(strncmp(buf.data, "0,1,2,", 6) == 0);
    CHECK_STR(buf.data + buf.length - 4, "999,");
    assay__buf_clear(&buf);
    CHECK_STR(buf.data, "");
    assay__buf_repeat(&buf, "ab", 3);
    assay__buf_putc(&buf, '!');
    CHECK_STR(buf.data, "ababab!");
    assay__buf_repeat(&buf, "ab", SIZE_MAX / 2 + 1); /* overflows: sticks */
    CHECK(buf.failed);
    assay__buf_puts(&buf, "more");
    CHECK_STR(buf.data, "ababab!");
    assay__buf_free(&buf);
    CHECK(buf.data == NULL && !buf.failed);
}

static void test_vec(void)
{
    int *items = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(assay__vec_grow((void **)&items, &capacity, (size_t)i + 1, sizeof *items), 0);
        CHECK_INT(items[i], 0);
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        CHECK_INT(items[i], i);
    int *before = items;
    CHECK_INT(assay__vec_grow((void **)&items, &capacity, SIZE_MAX, sizeof *items), ASSAY_ENOMEM);
    CHECK(items == before);
    free(items);
}

static void test_map(void)
{
    enum { KEYS = 5000 };
    static char keys[KEYS][16];
    struct assay__map *map = assay__map_new();
    CHECK_INT(assay__map_get(map, "none"), ASSAY__MAP_NONE);
    CHECK(!assay__map_remove(map, "none"));
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(keys[i], sizeof keys[i], "key%zu", i);
        CHECK_INT(assay__map_set(map, keys[i], i), 0);
    }
    CHECK_INT(assay__map_set(map, "key7", 70), 0);
    CHECK_INT(assay__map_count(map), KEYS);
    for (size_t i = 0; i < KEYS; i += 2)
        CHECK(assay__map_remove(map, keys[i]));
    CHECK_INT(assay__map_count(map), KEYS / 2);
    for (size_t i = 0; i < KEYS; i++)
        CHECK_INT(assay__map_get(map, keys[i]), i % 2 == 0 ? ASSAY__MAP_NONE : i == 7 ? 70 : i);
    assay__map_free(map);
    assay__map_free(NULL);
}

static void test_error(void)
{
    struct assay_error error;
    CHECK_STR(assay_error_name(ASSAY_ENOMEM), "ENOMEM");
    CHECK_STR(assay_error_name(-13), "EDENIED");
    CHECK_STR(assay_error_name(-99), "EUNKNOWN");
    CHECK_STR(assay_error_text(0), "no error");
    CHECK_INT(assay_error_set(&error, ASSAY_EIO, "bad \x1b[31m%s\n", "name"), ASSAY_EIO);
    CHECK_STR(error.message, "bad ?[31mname?");
    CHECK_INT(error.code, ASSAY_EIO);
    CHECK_INT(assay_error_set(NULL, ASSAY_EIO, "x"), ASSAY_EIO);
    char large[600];
    memset(large, 'a', sizeof large);
    large[sizeof large - 1] = '\0';
    memcpy(large + 510, "\xc2\xb5", 2); /* µ astride the cut: it must go whole */
    assay_error_set(&error, ASSAY_EIO, "%s", large);
    CHECK_INT(strlen(error.message), 510);
    memcpy(large + 509, "\xc2\xb5", 2); /* just fits */
    assay_error_set(&error, ASSAY_EIO, "%s", large);
    CHECK_INT(strlen(error.message), 511);
}

static void log_line(void *context, enum assay_log_level level, const char *domain,
                     const char *message)
{
    snprintf(context, 64, "%d %s %s", (int)level, domain, message);
}

static void test_log(void)
{
    char line[64] = "nothing";
    assay__log(ASSAY_LOG_ERROR, "base", "silent by default");
    assay_log_set(log_line, line, ASSAY_LOG_WARNING);
    assay__log(ASSAY_LOG_INFO, "base", "below");
    CHECK_STR(line, "nothing");
    assay__log(ASSAY_LOG_WARNING, "base", "n=%d", 3);
    CHECK_STR(line, "2 base n=3");
    assay_log_set(NULL, NULL, ASSAY_LOG_DEBUG);
}

static void test_file(void)
{
    char folder[256], path[300], below[300], link[300];
    struct assay_error error;
    struct assay__mapping mapping;
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    CHECK_INT(assay__path_join(folder, "a.txt", path, sizeof path), 0);
    CHECK_INT(assay__file_map(path, &mapping, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "a.txt");
    CHECK_INT(assay__file_write(path, "hello", 5, &error), 0);
    CHECK(assay__file_exists(path));
    CHECK_INT(assay__file_map(path, &mapping, &error), 0);
    CHECK_INT(mapping.size, 5);
    CHECK(memcmp(mapping.data, "hello", 5) == 0);
    assay__file_unmap(&mapping);
    CHECK_INT(assay__file_map(folder, &mapping, &error), ASSAY_EIO);
    CHECK_HAS(error.message, "is a folder");
    CHECK_INT(assay__file_map("/dev/null", &mapping, &error), ASSAY_EIO);
    char *text;
    size_t length;
    CHECK_INT(assay__file_read(path, 3, &text, &length, &error), 0);
    CHECK_STR(text, "hel");
    CHECK_INT(length, 3);
    free(text);
    /* through a link the link stays */
    CHECK_INT(assay__path_join(folder, "link", link, sizeof link), 0);
    CHECK_INT(symlink(path, link), 0);
    CHECK_INT(assay__file_write(link, "", 0, &error), 0);
    CHECK_INT(assay__file_map(path, &mapping, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "is empty");
    CHECK_INT(assay__file_write(folder, "x", 1, &error), ASSAY_EINVAL);
    CHECK_INT(assay__path_join(folder, "no/such/file", below, sizeof below), 0);
    CHECK_INT(assay__file_write(below, "x", 1, &error), ASSAY_ENOTFOUND);
    CHECK_INT(assay__path_join(folder, "sub", below, sizeof below), 0);
    CHECK_INT(mkdir(below, 0700), 0);
    assay__folder_remove(folder);
    CHECK(!assay__file_exists(folder));
}

/* A folder of a killed process goes when the next one is made; everything that only looks like one
 * stays. */
static void test_left_behind(void)
{
    char base[256], dead[400] = "", alive[400], next[400], path[512], odd[512];
    struct assay_error error;
    CHECK_INT(assay__folder_temporary(base, sizeof base, &error), 0);
    CHECK_INT(setenv("TMPDIR", base, 1), 0);
    CHECK_INT(assay__folder_temporary(alive, sizeof alive, &error), 0);
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (assay__folder_temporary(dead, sizeof dead, NULL) ||
            assay__path_join(dead, "model.onnx", path, sizeof path) ||
            assay__file_write(path, "x", 1, NULL) ||
            write(ends[1], dead, sizeof dead) != (ssize_t)sizeof dead)
            _exit(1);
        raise(SIGKILL);
    }
    CHECK_INT(read(ends[0], dead, sizeof dead), sizeof dead);
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status) && assay__file_exists(dead));
    CHECK_INT(assay__path_join(base, "assay-notes", path, sizeof path), 0);
    CHECK_INT(mkdir(path, 0700), 0);
    snprintf(odd, sizeof odd, "%s/assay-%ld-00000000-AbCdEf", base, (long)pid); /* another host's */
    CHECK_INT(mkdir(odd, 0700), 0);
    CHECK_INT(assay__folder_temporary(next, sizeof next, &error), 0);
    CHECK(!assay__file_exists(dead));
    CHECK(assay__file_exists(alive) && assay__file_exists(path) && assay__file_exists(odd));
    close(ends[0]);
    close(ends[1]);
    assay__folder_remove(base);
    CHECK(!assay__file_exists(base));
}

static void test_full_disk(void)
{
    struct assay_error error;
    if (access("/dev/full", W_OK) != 0) SKIP("no /dev/full on this machine");
    CHECK_INT(assay__file_write("/dev/full", "hello", 5, &error), ASSAY_EIO);
    CHECK_HAS(error.message, "/dev/full");
    CHECK_HAS(error.message, strerror(ENOSPC));
}

static void test_paths(void)
{
    char out[16];
    CHECK_INT(assay__path_folder("a/b/c", out, sizeof out), 0);
    CHECK_STR(out, "a/b");
    CHECK_INT(assay__path_folder("c", out, sizeof out), 0);
    CHECK_STR(out, ".");
    CHECK_INT(assay__path_folder("/c", out, sizeof out), 0);
    CHECK_STR(out, "/");
    CHECK_INT(assay__path_folder("0123456789012345/c", out, sizeof out), ASSAY_ELIMIT);
    CHECK_INT(assay__path_join("a/", "b", out, sizeof out), 0);
    CHECK_STR(out, "a/b");
    CHECK_INT(assay__path_join("0123456789", "01234", out, sizeof out), ASSAY_ELIMIT);
}

static void check_scaled(double value, const char *unit, const char *expected)
{
    char out[64];
    assay__text_scaled(out, sizeof out, value, unit);
    CHECK_STR(out, expected);
}

static void test_scaled(void)
{
    check_scaled(0.0000205, "s", "20.5 µs");
    check_scaled(0.9996e-3, "s", "1.00 ms"); /* the prefix is chosen after rounding */
    check_scaled(0.9994e-3, "s", "999 µs");
    check_scaled(9.996e-6, "s", "10.0 µs");
    check_scaled(1e-9, "s", "1.00 ns");
    check_scaled(1.234e-11, "s", "0.0123 ns");
    check_scaled(1.5, "s", "1.50 s");
    check_scaled(1234, "s", "1,234 s");
    check_scaled(0, "s", "0 s");
    check_scaled(-0.0391, "s", "-39.1 ms");
    check_scaled(NAN, "s", "—");
    check_scaled(INFINITY, "s", "—");
    check_scaled(3.2e9, "B", "3.20 GB");
    check_scaled(512, "B", "512 B");
    check_scaled(1000, "B", "1.00 kB");
    check_scaled(68e9, "B/s", "68.0 GB/s");
    check_scaled(210e9, "FLOP/s", "210 GFLOP/s");
    check_scaled(8.2e9, "FLOP", "8.20 GFLOP");
    check_scaled(1.5e15, "FLOP/s", "1.50 PFLOP/s");
    check_scaled(48700, "1/s", "48.7 k/s");
    check_scaled(25.6, "1/s", "25.6 /s");
    check_scaled(0.75, "ratio", "75.0 %");
    check_scaled(-0.0123, "ratio", "-1.23 %");
    check_scaled(15, "ratio", "1,500 %");
    check_scaled(1234567, "count", "1,234,567");
    check_scaled(0, "count", "0");
    check_scaled(2.4e9, "Hz", "2.40 GHz");
    check_scaled(0.0123, "J", "12.3 mJ");
    check_scaled(15.25, "W", "15.2 W");
    check_scaled(61, "°C", "61.0 °C");
    check_scaled(5.6e-7, "TOPS/W", "560 kOPS/W"); /* the unit has a prefix of its own */
    check_scaled(0.9996e-3, "TOPS/W", "1.00 GOPS/W");
    check_scaled(4.21e-5, "TOPS/W", "42.1 MOPS/W");
    check_scaled(2.5, "TOPS/W", "2.50 TOPS/W");
    check_scaled(1234, "TOPS/W", "1,234 TOPS/W");
    check_scaled(5e-11, "TOPS/W", "0.0500 kOPS/W");
    check_scaled(0, "TOPS/W", "0 TOPS/W");
    check_scaled(87.25, "points", "87.2");
    check_scaled(1e300, "s", "1.00e+300 s");
    char tiny[4];
    assay__text_scaled(tiny, sizeof tiny, 123456, "count");
    CHECK_STR(tiny, "123");
}

static void check_range(double low, double high, const char *expected)
{
    const struct assay__digits_pair made = assay__digits_range(low, high);
    CHECK_STR(made.text, expected);
}

/* Numbers of sentences: three digits, no powers of ten, the ends of an interval alike. */
static void test_digits(void)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {{1780, 3, "1,780"},
                 {120, 2, "120"},
                 {2.6666, 3, "2.67"},
                 {3, 3, "3"},
                 {9.996, 3, "10"},
                 {999.6, 3, "1,000"},
                 {0.00455, 3, "0.00455"},
                 {1.23456e-5, 3, "0.0000123"},
                 {0, 3, "0"},
                 {-0.5, 3, "-0.5"},
                 {-2220, 3, "-2,220"},
                 {NAN, 3, "—"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct assay__digits made = assay__digits(cases[i].value, cases[i].digits);
        CHECK_STR(made.text, cases[i].text);
    }
    check_range(1.04, 1.117, "1.04 to 1.12");
    check_range(1.0004, 1.2848, "1.0004 to 1.2848");
    check_range(0.4912, 0.6381, "0.491 to 0.638");
    check_range(0.00451, 0.00462, "0.00451 to 0.00462");
    check_range(1, 1, "1 to 1");
    check_range(7.2, 11.8, "7.2 to 11.8");
    check_range(0.99, 45, "0.99 to 45.00");
    check_range(2, 2, "2 to 2");
    check_range(2, 2.1, "2.0 to 2.1");
    check_range(100, 200, "100 to 200");
    check_range(176, 1550, "176 to 1,550");
    check_range(0.001, 7, "0.001 to 7");
}

static void test_numbers(void)
{
    int64_t whole = 0;
    double value = 0;
    uint64_t bytes = 0;
    CHECK_INT(assay__text_int64("-42", &whole), 0);
    CHECK_INT(whole, -42);
    CHECK_INT(assay__text_int64("9223372036854775807", &whole), 0);
    CHECK(whole == INT64_MAX);
    static const char *const not_integers[] = {
        "", "-", "1.0", " 1", "1 ", "0x10", "9223372036854775808", "12k"};
    for (size_t i = 0; i < sizeof not_integers / sizeof not_integers[0]; i++)
        CHECK_INT(assay__text_int64(not_integers[i], &whole), ASSAY_EINVAL);
    CHECK_INT(assay__text_double("1.5e-3", &value), 0);
    CHECK_NEAR(value, 1.5e-3, 0);
    static const char *const not_numbers[] = {"",    ".",    "nan", "inf", "1e999",
                                              "0x1", "1.5s", "--1", "1e"};
    for (size_t i = 0; i < sizeof not_numbers / sizeof not_numbers[0]; i++)
        CHECK_INT(assay__text_double(not_numbers[i], &value), ASSAY_EINVAL);
    static const struct {
        const char *text;
        double seconds;
    } durations[] = {{"2", 2},        {"1.5s", 1.5}, {"100ms", 0.1}, {"20us", 20e-6},
                     {"20µs", 20e-6}, {"5ns", 5e-9}, {"2m", 120}};
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        CHECK_INT(assay__text_duration_s(durations[i].text, &value), 0);
        CHECK_NEAR(value, durations[i].seconds, 1e-15);
    }
    CHECK_INT(assay__text_duration_s("-1s", &value), ASSAY_EINVAL);
    CHECK_INT(assay__text_duration_s("1 s", &value), ASSAY_EINVAL);
    CHECK_INT(assay__text_bytes("1.5Gi", &bytes), 0);
    CHECK_INT(bytes, 1610612736);
    CHECK_INT(assay__text_bytes("64MB", &bytes), 0);
    CHECK_INT(bytes, 64000000);
    CHECK_INT(assay__text_bytes("0.5", &bytes), ASSAY_EINVAL);
}

static void check_safe(const char *text, const char *expected)
{
    struct assay__buf buf = {0};
    assay__text_safe(&buf, text);
    CHECK_STR(buf.data ? buf.data : "", expected);
    assay__buf_free(&buf);
}

static void test_safe(void)
{
    check_safe("conv1/weights", "conv1/weights");
    check_safe("a\x1b[2Jb\n", "a?[2Jb?");
    check_safe("µ 層 é", "µ 層 é");
    check_safe("\xff\xc3-", "?"
                            "?-");
    check_safe("\xc0\xaf", "??");        /* overlong */
    check_safe("\xed\xa0\x80", "???");   /* surrogate */
    check_safe("x\xc2\x9by", "x?y");     /* C1: CSI */
    check_safe("x\xe2\x80\xaey", "x?y"); /* right-to-left override */
    CHECK_INT(assay__text_width("abc"), 3);
    CHECK_INT(assay__text_width("20.5 µs"), 7);
    CHECK_INT(assay__text_width("層"), 2);
    CHECK_INT(assay__text_width("e\xcc\x81"), 1); /* e + combining acute */
}

static void check_fit(const char *text, size_t columns, int keep_end, const char *expected)
{
    struct assay__buf buf = {0};
    assay__text_fit(&buf, text, columns, keep_end);
    CHECK_STR(buf.data ? buf.data : "", expected);
    CHECK_INT(assay__text_width(buf.data ? buf.data : ""), columns);
    assay__buf_free(&buf);
}

static void test_fit(void)
{
    check_fit("conv", 6, 0, "conv  ");
    check_fit("convolution", 6, 0, "convo…");
    check_fit("convolution", 6, 1, "…ution");
    check_fit("層層層", 4, 0, "層… "); /* a wide character does not fit in one column */
    check_fit("層層層", 4, 1, "…層 ");
    check_fit("abc", 0, 0, "");
    check_fit("abc", 1, 1, "…");
    check_fit("a\tb", 3, 0, "a?b");
}

static void test_distance(void)
{
    CHECK_INT(assay__text_distance("", ""), 0);
    CHECK_INT(assay__text_distance("abc", ""), 3);
    CHECK_INT(assay__text_distance("kitten", "sitting"), 3);
    CHECK_INT(assay__text_distance("--bacth", "--batch"), 1); /* a swap is one */
    CHECK_INT(assay__text_distance("--iter", "--iters"), 1);
    CHECK_INT(assay__text_distance("ca", "abc"), 3); /* optimal string alignment */
}

static void test_clock(void)
{
    double read_ns, step_ns;
    assay__clock_measure(&read_ns, &step_ns);
    CHECK(read_ns > 0 && read_ns < 1e6);
    CHECK(step_ns > 0);
    uint64_t before = assay__now_ns();
    assay__sleep_ns(2000000);
    CHECK(assay__now_ns() - before >= 2000000);
    CHECK_STR(assay_version(), ASSAY_VERSION_STRING);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"arena", test_arena},
        {"buf", test_buf},
        {"vec", test_vec},
        {"map", test_map},
        {"error", test_error},
        {"log", test_log},
        {"file", test_file},
        {"full_disk", test_full_disk},
        {"paths", test_paths},
        {"scaled", test_scaled},
        {"digits", test_digits},
        {"numbers", test_numbers},
        {"safe", test_safe},
        {"fit", test_fit},
        {"distance", test_distance},
        {"clock", test_clock},
        {"left_behind", test_left_behind},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
