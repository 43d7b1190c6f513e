/* test_builds.c - the user's list of ONNX Runtime builds: reading, complaints, editing, names, and
 * devices with a build's prefix. */
#include "scratch.h"

#include "profile/facts.h"
#include "run/builds.h"
#include "run/run_options.h"

#include <assay/run.h>
#include <sys/stat.h>

static struct assay__arena *arena;
static struct assay__builds builds;

/* Each test has a configuration folder of its own. */
static void configure(void)
{
    arena = assay__arena_new();
    CHECK(arena);
    setenv("XDG_CONFIG_HOME", scratch("config"), 1);
}

static void list_write(const char *text)
{
    char path[700];
    CHECK_INT(mkdir(scratch("config"), 0700), 0);
    CHECK_INT(mkdir(scratch("config/assay"), 0700), 0);
    CHECK_INT(assay__builds_path(path, sizeof path, NULL), 0);
    CHECK_INT(assay__file_write(path, text, strlen(text), NULL), 0);
}

static void list_is(const char *expected)
{
    char path[700];
    char *text = NULL;
    size_t length;
    CHECK_INT(assay__builds_path(path, sizeof path, NULL), 0);
    CHECK_INT(assay__file_read(path, 100000, &text, &length, NULL), 0);
    CHECK_STR(text, expected);
    free(text);
}

static void read_list(void)
{
    struct assay_error error = {0};
    CHECK_INT(assay__builds_read(arena, &builds, &error), 0);
}

static void drop_list(void)
{
    char path[700];
    assay__builds_path(path, sizeof path, NULL);
    unlink(path);
    rmdir(scratch("config/assay"));
    rmdir(scratch("config"));
    assay__arena_free(arena);
}

static void test_path(void)
{
    char path[64];
    struct assay_error error = {0};
    setenv("XDG_CONFIG_HOME", "/xdg", 1);
    setenv("HOME", "/home/a", 1);
    CHECK_INT(assay__builds_path(path, sizeof path, &error), 0);
    CHECK_STR(path, "/xdg/assay/ort");
    setenv("XDG_CONFIG_HOME", "relative", 1);
    CHECK_INT(assay__builds_path(path, sizeof path, &error), 0);
    CHECK_STR(path, "/home/a/.config/assay/ort");
    CHECK_INT(assay__builds_path(path, 10, &error), ASSAY_ELIMIT);
    unsetenv("HOME");
    CHECK_INT(assay__builds_path(path, sizeof path, &error), ASSAY_ENOTFOUND);
    arena = assay__arena_new();
    read_list(); /* no place for a list is an empty one */
    CHECK_INT(builds.count, 0);
    assay__arena_free(arena);
}

static void test_missing(void)
{
    configure();
    read_list();
    CHECK_INT(builds.count, 0);
    CHECK_INT(builds.complaint_count, 0);
    drop_list();
}

static void test_read(void)
{
    configure();
    list_write("# mine\n\novn /opt/ov\n  gpu-2\t/opt/with two blanks/lib \r\nlast_1 /x");
    read_list();
    CHECK_INT(builds.count, 3);
    CHECK_INT(builds.complaint_count, 0);
    CHECK_STR(builds.items[0].name, "ovn");
    CHECK_STR(builds.items[0].library, "/opt/ov");
    CHECK_STR(builds.items[1].name, "gpu-2");
    CHECK_STR(builds.items[1].library, "/opt/with two blanks/lib");
    CHECK_STR(assay__builds_find(&builds, "last_1")->library, "/x");
    CHECK(assay__builds_find(&builds, "ov") == NULL);
    drop_list();
}

static void test_bad_lines(void)
{
    configure();
    list_write("alone\nb relative/path\nc!d /x\ngood /y\ngood /z\n"
               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa /w\nalso-good /v\n");
    read_list();
    CHECK_INT(builds.count, 2);
    CHECK_STR(builds.items[0].library, "/y");
    CHECK_STR(builds.items[1].name, "also-good");
    CHECK_INT(builds.complaint_count, 5);
    CHECK_HAS(builds.complaints[0], "ort:1: not of the form NAME PATH");
    CHECK_HAS(builds.complaints[1], "ort:2: the path is not absolute");
    CHECK_HAS(builds.complaints[2], "ort:3: a build cannot be called 'c!d'");
    CHECK_HAS(builds.complaints[3], "ort:5: this name is already defined above");
    CHECK_HAS(builds.complaints[4], "ort:6: a build cannot be called");
    drop_list();
}

static void test_not_a_file(void)
{
    struct assay_error error = {0};
    configure();
    CHECK_INT(mkdir(scratch("config"), 0700), 0);
    CHECK_INT(mkdir(scratch("config/assay"), 0700), 0);
    CHECK_INT(mkdir(scratch("config/assay/ort"), 0700), 0);
    CHECK_INT(assay__builds_read(arena, &builds, &error), ASSAY_EIO);
    CHECK_HAS(error.message, "is a folder");
    CHECK_INT(assay__builds_add("a", "/b", &error), ASSAY_EIO);
    rmdir(scratch("config/assay/ort"));
    drop_list();
}

static void test_edit(void)
{
    struct assay_error error = {0};
    configure();
    CHECK_INT(assay__builds_add("one", "/1", &error), 0); /* makes the folders */
    CHECK_INT(assay__builds_add("two", "/2 and a half", &error), 0);
    list_is("one /1\ntwo /2 and a half\n");
    CHECK_INT(assay__builds_add("one", "/other", &error), 0);
    list_is("two /2 and a half\none /other\n");
    CHECK_INT(assay__builds_remove("two", &error), 0);
    list_is("one /other\n");
    CHECK_INT(assay__builds_remove("two", &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "'two'");
    CHECK_INT(assay__builds_add("a b", "/1", &error), ASSAY_EINVAL);
    CHECK_INT(assay__builds_add("a", "relative", &error), ASSAY_EINVAL);
    CHECK_INT(assay__builds_add("a", "/with\nline", &error), ASSAY_EINVAL);
    list_is("one /other\n");
    drop_list();
}

static void test_edit_keeps_the_rest(void)
{
    struct assay_error error = {0};
    configure();
    list_write("# a comment\nbroken\nold /old\nx /y"); /* without a line end */
    CHECK_INT(assay__builds_add("new", "/new", &error), 0);
    CHECK_INT(assay__builds_remove("old", &error), 0);
    list_is("# a comment\nbroken\nx /y\nnew /new\n");
    drop_list();
}

static void test_unwritable(void)
{
    struct assay_error error = {0};
    configure();
    setenv("XDG_CONFIG_HOME", "/dev/null/config", 1);
    CHECK(assay__builds_add("a", "/b", &error) < 0);
    CHECK(error.message[0]);
    assay__arena_free(arena);
}

static void test_names(void)
{
    static const char *const good[] = {"a", "gpu", "ovn-2025_4", "A1"};
    static const char *const bad[] = {"", "a/b", "a b", "-a", "ü", "a=b", "a:0"};
    static const char *const paths[][2] = {
        {"/opt/onnxruntime-openvino/1.24.1", "openvino"},
        {"/opt/ort_webgpu/onnxruntime/capi", "ort_webgpu"},
        {"/home/a/.cache/onnxruntime-webgpu/current/libonnxruntime.so.1.27.0", "webgpu"},
        {"/usr/lib", "usr"},
        {"/lib/onnxruntime", "ort"},
        {"/opt/My Build (CUDA 13)", "my-build-cuda-13"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_INT(assay__build_name_check(good[i], NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(assay__build_name_check(bad[i], NULL), ASSAY_EINVAL);
    configure();
    struct assay__build taken[] = {{"openvino", "/a"}, {"openvino-2", "/b"}};
    struct assay__builds none = {0}, two = {.items = taken, .count = 2};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        CHECK_STR(assay__build_name_for(arena, paths[i][0], &none), paths[i][1]);
    CHECK_STR(assay__build_name_for(arena, paths[0][0], &two), "openvino-3");
    char path[3000] = "/";
    memset(path + 1, 'x', sizeof path - 2); /* a name is cut, and stays a name */
    path[sizeof path - 1] = '\0';
    CHECK_INT(assay__build_name_check(assay__build_name_for(arena, path, &none), NULL), 0);
    assay__arena_free(arena);
}

static void test_resolve(void)
{
    struct assay_error error = {0};
    const char *library = "unset", *device = NULL;
    configure();
    list_write("ovn /opt/ov\n");
    CHECK_INT(assay__build_resolve(arena, "cuda:0", &library, &device, &error), 0);
    CHECK(library == NULL);
    CHECK_STR(device, "cuda:0");
    CHECK_INT(assay__build_resolve(arena, "ovn/openvino:cpu", &library, &device, &error), 0);
    CHECK_STR(library, "/opt/ov");
    CHECK_STR(device, "openvino:cpu");
    CHECK_STR(assay__device_bare("ovn/openvino:cpu"), "openvino:cpu");
    CHECK_STR(assay__device_bare("cpu"), "cpu");
    CHECK(assay__device_bare(NULL) == NULL);
    CHECK_INT(assay__build_resolve(arena, "gpu/cuda:0", &library, &device, &error),
              ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "'gpu'");
    CHECK_HAS(error.message, "known: ovn");
    CHECK_HAS(error.message, "known: ovn");
    CHECK_INT(assay__build_resolve(arena, "ovn/", &library, &device, &error), ASSAY_EINVAL);
    CHECK_INT(assay__build_resolve(arena, "/cpu", &library, &device, &error), ASSAY_EINVAL);
    library = NULL;
    CHECK_INT(assay__build_of_run(arena, "fake", "ovn/cpu", &library, &device, &error),
              ASSAY_EINVAL);
    library = "/mine";
    CHECK_INT(assay__build_of_run(arena, "ort", "ovn/cpu", &library, &device, &error),
              ASSAY_EINVAL);
    CHECK_HAS(error.message, "a library");
    CHECK_INT(assay__build_of_run(arena, "ort", "cpu", &library, &device, &error), 0);
    CHECK_STR(library, "/mine"); /* stays */
    drop_list();
}

/* The prefix is for every user of the library, not only for the command line. */
static void test_run(void)
{
    struct assay_error error = {0};
    struct assay_profile *profile = NULL;
    configure();
    struct assay__run_options options = {.target.device = "none/cpu",
                                         .workload.model = "cfc:units=8,outputs=2"};
    CHECK_INT(assay__run(&options, &profile, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "no ONNX Runtime build 'none' (known: none)");
    CHECK(profile == NULL);
    drop_list();
}

int main(int argc, char **argv)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    static const struct harness_test tests[] = {
        {"path", test_path},
        {"missing", test_missing},
        {"read", test_read},
        {"bad_lines", test_bad_lines},
        {"not_a_file", test_not_a_file},
        {"edit", test_edit},
        {"edit_keeps_the_rest", test_edit_keeps_the_rest},
        {"unwritable", test_unwritable},
        {"names", test_names},
        {"resolve", test_resolve},
        {"run", test_run},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
