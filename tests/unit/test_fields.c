/* test_fields.c - the field tables: they agree with the schema, a wrong one is refused before
 * anything is written, values survive a message, and what cannot be is unknown. */
#include "harness.h"

#include "base/metric_value.h"
#include "profile/tables.h"
#include "profile/writer.h"

#include <limits.h>
#include <sqlite3.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct thing {
    const char *name, *note, *path;
    int level;
    enum assay_state state;
    int64_t count;
    size_t size;
    bool known;
    double time_ns, amount, limit;
    const char **tags;
    size_t tag_count;
};

static const struct assay__field thing_fields[] = {
    ASSAY__FIELD(thing, name, "name", .json = "name", .empty = ASSAY__EMPTY_SHOWN),
    ASSAY__FIELD(thing, note, "note", .json = "note"),
    ASSAY__FIELD(thing, path, "path", .json = "path", .empty = ASSAY__EMPTY_NULL),
    ASSAY__FIELD(thing, level, "level", .json = "level", .least = 1, .most = 9),
    ASSAY__FIELD(thing, state, "state", .json = "state", .names = &assay__state_names),
    ASSAY__FIELD(thing, count, "count", .json = "count", .unknown = -1),
    ASSAY__FIELD(thing, size, "size", .json = "size", .unknown = -1),
    ASSAY__FIELD(thing, known, "known", .json = "known"),
    ASSAY__FIELD(thing, time_ns, "time_ns", .json = "time_us", .divisor = 1e3),
    ASSAY__FIELD(thing, amount, "amount", .range = ASSAY__NOT_NEGATIVE),
    ASSAY__FIELD(thing, limit, "limit_", .json = "limit", .range = ASSAY__UNLIMITED),
    ASSAY__FIELD(thing, tags, "tags", .json = "tags",
                 .count_offset = offsetof(struct thing, tag_count)),
};
static const struct assay__field_table things = {.name = "things",
                                                 .keys = {"parent"},
                                                 .position = "position",
                                                 .fields = thing_fields,
                                                 .count = COUNT(thing_fields),
                                                 .size = sizeof(struct thing)};

static const char *tags[] = {"a", "b; c"};
static const struct thing full = {.name = "x",
                                  .note = "n",
                                  .path = "p",
                                  .level = 9,
                                  .state = ASSAY_DERIVED,
                                  .count = INT64_MAX,
                                  .size = 7,
                                  .known = true,
                                  .time_ns = 1500,
                                  .amount = 0.1,
                                  .limit = 64,
                                  .tags = tags,
                                  .tag_count = 2};

/* --- against a schema ------------------------------------------------------------------------- */

#define SCHEMA                                                                                \
    "CREATE TABLE things(parent INTEGER, position INTEGER, name TEXT, note TEXT, path TEXT, " \
    "level INTEGER, state TEXT, count INTEGER, size INTEGER, known INTEGER, time_ns REAL, "   \
    "amount REAL, limit_ REAL, PRIMARY KEY (parent, position))"

static int check_against(const char *schema, const struct assay__field_table *table,
                         struct assay_error *error)
{
    struct assay__writer writer = {0};
    CHECK_INT(sqlite3_open(":memory:", &writer.db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(writer.db, schema, NULL, NULL, NULL), SQLITE_OK);
    int code = assay__writer_check(&writer, &table, 1, error);
    assay__writer_close(&writer);
    CHECK_INT(sqlite3_close(writer.db), SQLITE_OK);
    return code;
}

static void test_wrong_tables(void)
{
    struct assay_error error = {0};
    struct assay__field_table wrong = things;
    CHECK_INT(check_against(SCHEMA, &things, &error), 0);
    /* a column of the schema that no field writes: it would be NULL for ever */
    wrong.count = COUNT(thing_fields) - 2;
    CHECK_INT(check_against(SCHEMA, &wrong, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "'limit_'");
    /* a field without its column */
    CHECK_INT(check_against("CREATE TABLE things(parent, position, name)", &things, &error),
              ASSAY_EINVAL);
    CHECK_HAS(error.message, "note");
    /* one column twice, in place of another */
    struct assay__field twice[COUNT(thing_fields)];
    memcpy(twice, thing_fields, sizeof twice);
    twice[1].column = "name";
    wrong = things;
    wrong.fields = twice;
    CHECK_INT(check_against(SCHEMA, &wrong, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "note");
    wrong = things;
    wrong.keys[0] = "nobody";
    CHECK_INT(check_against(SCHEMA, &wrong, &error), ASSAY_EINVAL);
    wrong = things;
    wrong.position = NULL;
    CHECK_INT(check_against(SCHEMA, &wrong, &error), ASSAY_EINVAL);
    wrong = things;
    wrong.name = "other";
    CHECK_INT(check_against(SCHEMA, &wrong, &error), ASSAY_EINVAL);
    struct assay__field many[ASSAY__COLUMNS_MOST];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = thing_fields[0];
    wrong = things;
    wrong.fields = many, wrong.count = COUNT(many);
    CHECK_INT(check_against(SCHEMA, &wrong, &error), ASSAY_EINVAL);
}

/* The first failure stays; what comes after it writes nothing. */
static void test_sticky(void)
{
    struct assay__writer writer = {0};
    const struct assay__key keys[] = {{.number = 1}};
    CHECK_INT(sqlite3_open(":memory:", &writer.db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(writer.db, SCHEMA, NULL, NULL, NULL), SQLITE_OK);
    assay__writer_rows(&writer, &things, keys, &full, 1);
    CHECK_INT(writer.code, SQLITE_OK);
    assay__writer_run(&writer, "INSERT INTO nothing VALUES(1)", NULL, 0);
    CHECK_INT(writer.code, SQLITE_ERROR);
    assay__writer_clear(&writer, &things, keys, 1);
    assay__writer_row(&writer, &things, keys, 1, &full);
    CHECK_INT(writer.code, SQLITE_ERROR);
    sqlite3_stmt *statement = NULL;
    CHECK_INT(sqlite3_prepare_v2(writer.db, "SELECT count(*), max(count) FROM things", -1,
                                 &statement, NULL),
              SQLITE_OK);
    CHECK_INT(sqlite3_step(statement), SQLITE_ROW);
    CHECK_INT(sqlite3_column_int64(statement, 0), 1);
    CHECK_INT(sqlite3_column_int64(statement, 1), INT64_MAX);
    sqlite3_finalize(statement);
    assay__writer_close(&writer);
    CHECK_INT(sqlite3_close(writer.db), SQLITE_OK);
}

/* --- unknown ---------------------------------------------------------------------------------- */

static void check_unknown(const struct thing *t)
{
    CHECK_STR(t->name, "");
    CHECK_STR(t->note, "");
    CHECK(t->path == NULL);
    CHECK_INT(t->level, 0);
    CHECK_INT(t->state, ASSAY_UNAVAILABLE);
    CHECK_INT(t->count, -1);
    CHECK(t->size == SIZE_MAX);
    CHECK(!t->known);
    CHECK(isnan(t->time_ns) && isnan(t->amount) && isinf(t->limit));
}

static void test_unknown(void)
{
    struct thing t = full;
    assay__fields_unknown(&things, &t);
    check_unknown(&t);
    CHECK(t.tags == NULL && t.tag_count == 0);
    for (size_t i = 0; i < COUNT(thing_fields); i++) {
        const struct assay__field *field = &thing_fields[i];
        if (field->type == ASSAY__FIELD_TEXTS || field->type == ASSAY__FIELD_BOOL || field->names)
            continue;
        struct assay__field_value value = assay__field_get(field, (char *)&t + field->offset);
        CHECK_INT(value.kind, ASSAY__VALUE_UNKNOWN);
    }
}

static void test_set_refuses(void)
{
    static const struct {
        size_t field;
        struct assay__field_value value;
    } impossible[] = {
        {0, {.kind = ASSAY__VALUE_INTEGER, .integer = 3}},
        {3, {.kind = ASSAY__VALUE_INTEGER, .integer = 10}},
        {3, {.kind = ASSAY__VALUE_INTEGER, .integer = 0}},
        {3, {.kind = ASSAY__VALUE_INTEGER, .integer = 1LL << 33}},
        {3, {.kind = ASSAY__VALUE_TEXT, .text = "5"}},
        {4, {.kind = ASSAY__VALUE_TEXT, .text = "certain"}},
        {4, {.kind = ASSAY__VALUE_INTEGER, .integer = 1}},
        {5, {.kind = ASSAY__VALUE_REAL, .real = 1.5}},
        {5, {.kind = ASSAY__VALUE_INTEGER, .integer = -2}},
        {6, {.kind = ASSAY__VALUE_INTEGER, .integer = -1}},
        {7, {.kind = ASSAY__VALUE_INTEGER, .integer = 2}},
        {8, {.kind = ASSAY__VALUE_REAL, .real = INFINITY}},
        {9, {.kind = ASSAY__VALUE_REAL, .real = -1}},
        {10, {.kind = ASSAY__VALUE_TEXT, .text = "64"}},
    };
    struct thing t = full;
    assay__fields_unknown(&things, &t);
    for (size_t i = 0; i < COUNT(impossible); i++) {
        const struct assay__field *field = &thing_fields[impossible[i].field];
        assay__field_set(field, (char *)&t + field->offset, impossible[i].value);
    }
    check_unknown(&t);
    /* a whole number is a number */
    assay__field_set(&thing_fields[8], &t.time_ns,
                     (struct assay__field_value){.kind = ASSAY__VALUE_INTEGER, .integer = 12});
    CHECK(t.time_ns == 12);
}

/* --- JSON and messages ------------------------------------------------------------------------ */

static const char *json_of(const struct thing *t, const char *first, const char *last, bool message)
{
    static struct assay__buf out;
    struct assay__json_writer writer;
    assay__buf_clear(&out);
    assay__json_start(&writer, &out, false);
    assay__json_object(&writer);
    if (message)
        assay__fields_send(&writer, &things, t);
    else
        assay__fields_json(&writer, &things, t, first, last);
    assay__json_object_end(&writer);
    CHECK(!out.failed);
    return out.data;
}

static void test_json(void)
{
    struct thing t = full;
    CHECK_STR(json_of(&t, NULL, NULL, false),
              "{\"name\":\"x\",\"note\":\"n\",\"path\":\"p\",\"level\":9,\"state\":\"derived\","
              "\"count\":9223372036854775807,\"size\":7,\"known\":true,\"time_us\":1.5,"
              "\"limit\":64,\"tags\":[\"a\",\"b; c\"]}");
    CHECK_STR(json_of(&t, "level", "count", false),
              "{\"level\":9,\"state\":\"derived\",\"count\":9223372036854775807}");
    CHECK_STR(json_of(&t, NULL, "note", false), "{\"name\":\"x\",\"note\":\"n\"}");
    assay__fields_unknown(&things, &t);
    CHECK_STR(json_of(&t, NULL, NULL, false),
              "{\"name\":\"\",\"note\":null,\"path\":null,\"level\":null,\"state\":\"unavailable\","
              "\"count\":null,\"size\":null,\"known\":false,\"time_us\":null,\"limit\":null,"
              "\"tags\":[]}");
}

static void receive(struct assay__arena *arena, const char *text, struct thing *t)
{
    struct assay__json *root = NULL;
    CHECK_INT(assay__json_parse(arena, text, strlen(text), &root, NULL), 0);
    CHECK_INT(assay__fields_receive(root, &things, arena, t), 0);
}

static void test_messages(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct thing t = {0};
    receive(arena, json_of(&full, NULL, NULL, true), &t);
    CHECK_STR(t.name, "x");
    CHECK_STR(t.path, "p");
    CHECK_INT(t.level, 9);
    CHECK_INT(t.state, ASSAY_DERIVED);
    CHECK_INT(t.count, INT64_MAX);
    CHECK_INT(t.size, 7);
    CHECK(t.known && t.time_ns == 1500 && t.amount == 0.1 && t.limit == 64);
    CHECK_INT(t.tag_count, 2);
    CHECK_STR(t.tags[1], "b; c");
    assay__fields_unknown(&things, &t);
    CHECK_STR(json_of(&t, NULL, NULL, true),
              "{\"state\":\"unavailable\",\"known\":false,\"tags\":[]}");
    receive(arena,
            "{\"name\":7,\"note\":null,\"level\":1e99,\"state\":\"?\",\"count\":\"1\",\"size\":-1,"
            "\"known\":3,\"time_ns\":\"1\",\"amount\":-1,\"tags\":{}}",
            &t);
    check_unknown(&t);
    CHECK_INT(t.tag_count, 0);
    receive(arena, "{}", &t);
    check_unknown(&t);
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"wrong_tables", test_wrong_tables}, {"sticky", test_sticky}, {"unknown", test_unknown},
        {"set_refuses", test_set_refuses},   {"json", test_json},     {"messages", test_messages}};
    return harness_main(argc, argv, tests, COUNT(tests));
}
