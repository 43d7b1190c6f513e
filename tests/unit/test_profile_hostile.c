/* test_profile_hostile.c - files that are not what they should be: foreign, cut, newer, damaged or
 * crafted. Each gets one clear line or is read as far as it is sound, and none crashes, hangs or
 * allocates beyond its size. */
#include "profile_fixture.h"

/* --- files that are not what they should be --------------------------------------------------- */

static int open_code(const char *path, struct assay_error *error)
{
    struct assay_profile *p = NULL;
    int code = assay_profile_open(path, &p, error);
    CHECK((code == 0) == (p != NULL));
    assay_profile_close(p);
    return code;
}

static void test_not_a_profile(void)
{
    make_folder();
    struct assay_error error = {0};
    char text[5000];
    memset(text, 'x', sizeof text);
    write_file(in_folder("t.assay"), text, sizeof text);
    CHECK_INT(open_code(in_folder("t.assay"), &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "not an assay profile");
    write_file(in_folder("s.assay"), "x", 1);
    CHECK_INT(open_code(in_folder("s.assay"), &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "not an assay profile");
    write_file(in_folder("e.assay"), "", 0);
    CHECK_INT(open_code(in_folder("e.assay"), &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "is empty");
    edit(in_folder("other.db"), "CREATE TABLE profiles(id)");
    CHECK_INT(open_code(in_folder("other.db"), &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "not an assay profile");
    CHECK_INT(open_code(in_folder("missing"), &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "missing: No such file or directory");
    CHECK_INT(open_code(folder, &error), ASSAY_EIO);
    CHECK_HAS(error.message, "is a folder");
    CHECK_INT(open_code("", &error), ASSAY_ENOTFOUND);
    CHECK(!exists(in_folder("missing")));
}

static void test_newer(void)
{
    make_folder();
    struct assay_error error = {0};
    const char *path = in_folder("p.assay");
    write_document(path);
    edit(path, "PRAGMA user_version=7");
    CHECK_INT(open_code(path, &error), ASSAY_ENEWER);
    CHECK_HAS(error.message, "made by a newer assay (schema 7, this one reads up to 2)");
    edit(path, "PRAGMA user_version=0");
    CHECK_INT(open_code(path, &error), ASSAY_EFORMAT);
}

static void test_tolerant(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_profile *p = NULL;
    write_document(path);
    edit(path,
         "ALTER TABLE layers DROP COLUMN time_ns; DROP TABLE options; DROP TABLE environments;"
         "ALTER TABLE trials ADD COLUMN colour TEXT;"
         "UPDATE models SET parameters='many', name=x'00ff', node_count=-9;"
         "UPDATE metrics SET state='guessed', note=NULL WHERE name='compute.rate';"
         "UPDATE metrics SET value='fast' WHERE name='latency.p50';"
         "UPDATE launches SET streams=-4, warmup=1e300, p50_ns=9e999, state='?' WHERE id=1;"
         "UPDATE tensors SET rank=2000000000 WHERE name='scalar';"
         "UPDATE dims SET size=-7, axis=99 WHERE axis=1;"
         "UPDATE notes SET text=printf('%.*c', 200000, 'x') WHERE kind='note'");
    struct assay_error error = {0};
    if (assay_profile_open(path, &p, &error)) printf("  %s\n", error.message);
    CHECK(p != NULL);
    struct assay__trial *t = &p->trials[0];
    CHECK(isnan(t->layers.items[0].time_ns) && t->layers.items[0].flops == 1e9);
    CHECK(t->option_count == 0 && isnan(p->environment.memory_bytes));
    CHECK(p->models[0]->parameters == -1 && p->models[0]->node_count == -1);
    CHECK_STR(p->models[0]->name, "");
    const struct assay_metric *rate = assay_metrics_get(t->metrics, "compute.rate");
    CHECK(rate->state == ASSAY_UNAVAILABLE && isnan(rate->value) && rate->note[0]);
    CHECK(assay_metrics_get(t->metrics, "latency.p50")->state == ASSAY_UNAVAILABLE);
    CHECK(t->launches[0].streams == 1 && t->launches[0].warmup == 0 &&
          isnan(t->launches[0].p50_ns));
    CHECK(t->launches[0].state == ASSAY__TRIAL_RUNNING);
    CHECK_INT(p->models[0]->inputs[1].rank, -1);
    CHECK_INT(p->models[0]->inputs[0].dims[1], -1);
    CHECK_INT(strlen(t->notes[0]), 65536);
    check_samples(t);
    assay_profile_close(p);
}

/* Each lie about a chunk ends its launch's samples there and is said in the trial's notes. */
static void test_lying_chunks(void)
{
    static const struct {
        const char *sql, *said;
    } lies[] = {
        {"UPDATE sample_chunks SET count=60000 WHERE launch=1 AND chunk=1", "do not decode"},
        {"UPDATE sample_chunks SET count=9000000000000 WHERE launch=1 AND chunk=1",
         "count is wrong"},
        {"UPDATE sample_chunks SET count=-5 WHERE launch=1 AND chunk=1", "count is wrong"},
        {"UPDATE sample_chunks SET first=1 WHERE launch=1 AND chunk=1", "does not follow"},
        {"DELETE FROM sample_chunks WHERE launch=1 AND chunk=1", "missing"},
        {"UPDATE sample_chunks SET data='text' WHERE launch=1 AND chunk=1", "do not decode"},
        {"UPDATE sample_chunks SET encoding='zip' WHERE launch=1 AND chunk=1", "do not decode"},
        {"UPDATE sample_chunks SET data=zeroblob(7000000) WHERE launch=1 AND chunk=1",
         "do not decode"},
        {"UPDATE sample_chunks SET stream=-3 WHERE launch=1 AND chunk=1", "out of order"},
        {"UPDATE sample_chunks SET stream=1000000000 WHERE launch=1 AND chunk=1", "missing"},
    };
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    size_t size = 0;
    unsigned char *sound = read_file(path, &size);
    for (size_t i = 0; i < COUNT(lies); i++) {
        struct assay_profile *p = NULL;
        struct assay_error error = {0};
        write_file(path, sound, size);
        edit(path, lies[i].sql);
        if (assay_profile_open(path, &p, &error)) printf("  %s\n", error.message);
        CHECK(p != NULL);
        CHECK_INT(p->trials[0].note_count, 2);
        CHECK_HAS(p->trials[0].notes[1], lies[i].said);
        CHECK(p->trials[0].launches[0].sample_count < LONG_COUNT);
        CHECK_INT(p->trials[0].launches[1].sample_count, 5);
        assay_profile_close(p);
    }
    free(sound);
}

static void test_hostile_schema(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_error error = {0};
    write_document(path);
    size_t size = 0;
    unsigned char *sound = read_file(path, &size);
    edit(path, "DROP TABLE layers; CREATE VIEW layers AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL"
               " SELECT n+1 FROM c) SELECT 1 AS trial, n AS position, 'x' AS name FROM c");
    int code = open_code(path, &error); /* the view is not run: refused or taken as no layers */
    CHECK(code == 0 || code == ASSAY_EFORMAT || code == ASSAY_EDENIED || code == ASSAY_EIO);
    write_file(path, sound, size);
    edit(
        path,
        "DROP TABLE layers; CREATE TABLE layers(trial, position, note AS (hex(zeroblob(1000000))));"
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c LIMIT 2000)"
        " INSERT INTO layers SELECT 1, n FROM c");
    code = open_code(path, &error); /* 4 GB of text out of a small file */
    CHECK_INT(code, ASSAY_EFORMAT);
    CHECK_HAS(error.message, "damaged profile");
    write_file(path, sound, size);
    edit(path, "DROP TABLE profiles");
    CHECK_INT(open_code(path, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "no head");
    free(sound);
}

/* What is gone is said of every trial; nothing is said of a sound profile or of one that was
 * killed. */
static void test_lost_tables(void)
{
    static const struct {
        const char *sql, *said; /* NULL: nothing */
    } losses[] = {
        {"DROP TABLE metrics", "damaged profile: its table 'metrics'"},
        {"DROP TABLE launches", "damaged profile: its table 'launches'"},
        {"DROP TABLE metrics; CREATE VIEW metrics AS SELECT 1 AS trial, 0 AS launch, 0 AS position,"
         " 'latency.p50' AS name, 1.0 AS value",
         "damaged profile: its table 'metrics'"},
        {"ALTER TABLE sample_chunks RENAME COLUMN trial TO t",
         "damaged profile: its table 'sample_chunks'"},
        {"DROP TABLE placed_nodes", "damaged profile: its table 'placed_nodes'"},
        {"ALTER TABLE axes RENAME COLUMN trial TO t", "damaged profile: its table 'axes'"},
        {"UPDATE trials SET state='ok'; DELETE FROM metrics WHERE name='latency.p50'",
         "its latency.p50 is missing"},
        {"UPDATE profiles SET complete=0; DELETE FROM metrics", NULL},
        {"UPDATE trials SET state='failed'; DELETE FROM metrics", NULL},
        {"UPDATE trials SET state='ok'", NULL},
    };
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    size_t size = 0;
    unsigned char *sound = read_file(path, &size);
    for (size_t i = 0; i < COUNT(losses); i++) {
        struct assay_profile *p = NULL;
        struct assay_error error = {0};
        write_file(path, sound, size);
        edit(path, losses[i].sql);
        if (assay_profile_open(path, &p, &error)) printf("  %s\n", error.message);
        CHECK(p != NULL);
        CHECK_INT(p->trials[0].note_count, losses[i].said ? 2 : 1);
        if (losses[i].said) CHECK_HAS(p->trials[0].notes[1], losses[i].said);
        assay_profile_close(p);
    }
    struct assay_error error = {0};
    write_file(path, sound, size);
    edit(path, "DROP TABLE trials"); /* nothing left to show */
    CHECK_INT(open_code(path, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "damaged profile: its table 'trials'");
    free(sound);
}

static void test_truncated(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_error error = {0};
    write_document(path);
    size_t size = 0;
    unsigned char *sound = read_file(path, &size);
    for (size_t length = 0; length < size; length += length < 200 ? 7 : 1723) {
        write_file(path, sound, length);
        int code = open_code(path, &error);
        CHECK_INT(code, ASSAY_EFORMAT);
        CHECK_HAS(error.message, "p.assay: ");
    }
    free(sound);
}

static void flip_bytes(const char *path, unsigned char *bytes, size_t size, unsigned seed)
{
    uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < 8; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* Half of the flips go to the first pages, where the structure is. */
        size_t range = i % 2 && size > 20000 ? 20000 : size;
        bytes[(random >> 20) % range] ^= (unsigned char)(1u << (random >> 60 & 7));
    }
    write_file(path, bytes, size);
}

static int count_rows(void *context, int columns, const char *const *names,
                      const char *const *values, const int *types)
{
    (void)columns, (void)names, (void)values, (void)types;
    ++*(size_t *)context;
    return 0;
}

static void test_flipped(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay__store *store = NULL;
    struct assay_profile *p = make_document();
    double values[3000];
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = long_sample(i);
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, p);
    CHECK_INT(assay__store_add_samples(store, 1, 1, 0, values, COUNT(values), NULL), 0);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    assay_profile_close(p);
    size_t size = 0, refused = 0, rows = 0;
    unsigned char *sound = read_file(path, &size), *bytes = malloc(size);
    for (unsigned seed = 0; seed < 300; seed++) {
        struct assay_error error = {0};
        memcpy(bytes, sound, size);
        flip_bytes(path, bytes, size, seed);
        int code = open_code(path, &error);
        refused += code != 0;
        CHECK((code != 0) == (error.message[0] != 0));
        assay__query(path, "SELECT count(*), avg(ns) FROM samples", count_rows, &rows, NULL,
                     &error);
        assay__query(path, "SELECT count(*), avg(value) FROM series", count_rows, &rows, NULL,
                     &error);
    }
    CHECK(refused > 10 && refused < 300); /* the flips do hit, and not always the head */
    free(sound);
    free(bytes);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"not_a_profile", test_not_a_profile},
        {"newer", test_newer},
        {"tolerant", test_tolerant},
        {"lying_chunks", test_lying_chunks},
        {"hostile_schema", test_hostile_schema},
        {"lost_tables", test_lost_tables},
        {"truncated", test_truncated},
        {"flipped", test_flipped},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
