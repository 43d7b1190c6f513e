/* test_drift.c - the numbers of a drift, and outputs kept as files. That two models are run and
 * compared is checked in tests/cli/make_rewrite.sh. */
#include "harness.h"

#include "base/file.h"
#include "run/trial/drift.h"
#include "run/trial/outputs.h"

static struct assay__drift_output compare(const double *r, const double *c, int64_t count, int rank,
                                          const int64_t *dims, struct assay__arena *arena)
{
    struct assay__drift_output out = {.elements = count};
    assay__drift_compare(r, c, rank, dims, true, arena, &out);
    return out;
}

static void test_numbers(void)
{
    struct assay__arena *arena = assay__arena_new();
    static const int64_t dims[] = {2, 2};
    static const double r[] = {3, 4, 0, 0}, c[] = {3, 4, 0, 5}, same[] = {3, 4, 0, 0};
    struct assay__drift_output out = compare(r, c, 4, 2, dims, arena);
    CHECK_NEAR(out.max_absolute, 5, 0);
    CHECK_NEAR(out.relative_l2, 1, 1e-15); /* 5 / 5 */
    CHECK_NEAR(out.cosine, 25 / (5 * sqrt(50)), 1e-15);
    CHECK_NEAR(out.top1, 1, 0);
    CHECK_INT(out.rows, 1); /* the second row's numbers are equal: it has no first class */
    out = compare(r, same, 4, 2, dims, arena);
    CHECK_NEAR(out.max_absolute, 0, 0);
    CHECK_NEAR(out.cosine, 1, 0);
    static const double swapped[] = {4, 3, 0, 0};
    out = compare(r, swapped, 4, 2, dims, arena);
    CHECK_NEAR(out.top1, 0, 0);
    /* all zero: no direction, no scale */
    static const double zero[] = {0, 0, 0, 0};
    out = compare(zero, c, 4, 2, dims, arena);
    CHECK(isnan(out.relative_l2) && isnan(out.cosine));
    CHECK_NEAR(out.max_absolute, 5, 0);
    out = compare(zero, zero, 4, 2, dims, arena);
    CHECK_NEAR(out.relative_l2, 0, 0);
    assay__arena_free(arena);
}

static void test_class_axis(void)
{
    struct assay__arena *arena = assay__arena_new();
    static const int64_t image[] = {2, 3, 1, 1}, vector[] = {6}, batch_of_one[] = {3, 1};
    static const double r[] = {1, 2, 3, 3, 2, 1}, c[] = {1, 2, 3, 1, 2, 3};
    struct assay__drift_output out = compare(r, c, 6, 4, image, arena);
    CHECK_NEAR(out.top1, 0.5, 0);
    CHECK(isnan(compare(r, c, 6, 1, vector, arena).top1));
    CHECK(isnan(compare(r, c, 3, 2, batch_of_one, arena).top1));
    /* ties are no agreement: neither of a reference without a first class nor of a candidate */
    static const double flat[] = {1, 1, 1, 1, 1, 1};
    CHECK(isnan(compare(flat, r, 6, 4, image, arena).top1));
    CHECK_INT(compare(flat, r, 6, 4, image, arena).rows, 0);
    CHECK_NEAR(compare(r, flat, 6, 4, image, arena).top1, 0, 0);
    assay__arena_free(arena);
}

static void test_nonfinite(void)
{
    struct assay__arena *arena = assay__arena_new();
    static const int64_t dims[] = {1, 3};
    static const double r[] = {1, -INFINITY, 2}, alike[] = {1, -INFINITY, 4},
                        broken[] = {1, -INFINITY, NAN}, other[] = {1, INFINITY, 2};
    struct assay__drift_output out = compare(r, alike, 3, 2, dims, arena);
    CHECK_STR(out.reason, "");
    CHECK_INT(out.nonfinite, 1);
    CHECK_NEAR(out.max_absolute, 2, 0);
    out = compare(r, broken, 3, 2, dims, arena);
    CHECK_INT(out.broken, 1);
    CHECK(isnan(out.max_absolute) && isnan(out.cosine) && isnan(out.top1));
    CHECK_HAS(out.reason, "1 of 3 numbers");
    CHECK_INT(compare(r, other, 3, 2, dims, arena).broken, 1); /* another infinity */
    CHECK_HAS(compare(r, r, 0, 2, dims, arena).reason, "empty");
    assay__arena_free(arena);
}

/* --- files ------------------------------------------------------------------------------------ */

static int give(struct assay__session *session, const struct assay__host_tensor **outputs,
                size_t *count, struct assay_error *error)
{
    static float numbers[] = {1, 2, 3, 4};
    static const char *const words[] = {"a"};
    static const int64_t two[] = {2, 2}, one[] = {1};
    static struct assay__host_tensor tensors[2];
    (void)session;
    (void)error;
    tensors[0] = (struct assay__host_tensor){
        .name = "y", .dtype = 1, .rank = 2, .dims = two, .data = numbers, .data_size = 16};
    tensors[1] = (struct assay__host_tensor){
        .name = "t", .dtype = 8, .rank = 1, .dims = one, .strings = words, .string_count = 1};
    *outputs = tensors;
    *count = 2;
    return 0;
}

static void test_files(void)
{
    struct assay_error error = {0};
    struct assay__arena *arena = assay__arena_new();
    struct assay__engine_ops engine = {.name = "test", .outputs = give};
    struct assay__output *outputs = NULL;
    size_t count = 0;
    char folder[1024];
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    CHECK_INT(assay__outputs_write(&engine, NULL, folder, &error), 0);
    CHECK_INT(assay__outputs_read(folder, arena, &outputs, &count, &error), 0);
    CHECK_INT(count, 2);
    CHECK_STR(outputs[0].name, "y");
    CHECK_INT(outputs[0].rank, 2);
    CHECK_STR(outputs[0].reason, "");
    CHECK(assay__file_exists(outputs[0].file));
    CHECK_STR(outputs[1].file, "");
    CHECK_HAS(outputs[1].reason, "text");
    engine.outputs = NULL;
    CHECK_INT(assay__outputs_write(&engine, NULL, folder, &error), ASSAY_EUNSUPPORTED);
    assay__folder_remove(folder);
    CHECK(assay__outputs_read(folder, arena, &outputs, &count, &error) != 0);
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"numbers", test_numbers},
        {"class_axis", test_class_axis},
        {"nonfinite", test_nonfinite},
        {"files", test_files},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
