/* require_table.c - requirement tables: their kinds, the built-in ones, and reading and writing a
 * user's.
 *
 * The built-in tables are those of the NCP monitoring guide for the M1 family: TFLOP/s and GB/s are
 * floors, MiB of memory are a budget. The peaks of the chips, which show that no program can meet a
 * requirement, are those of predict_chips.c, each with its source. For M3 and later chips no GPU
 * clock is published: the values are good enough for an estimate, and only their bandwidth is
 * compared.
 *
 * A user's table is text or JSON, and untrusted: every error is one line that names the table, the
 * line in it and what would be valid.
 *
 * Text, one requirement per line (or separated by ';'), '#' begins a comment, '-' is "not
 * required":
 *     KEY MINIMUM [TARGET]        tflops 8 12        p99 40ms 25ms        memory 32768 24576
 *       power - 6
 *     name TEXT                   chip M1 Max        batch 128            backbone_units 64
 * JSON: {"name": TEXT, "chip": TEXT, "minimum": {KEY: VALUE, …}, "target": {…}, "batch": N,
 * "backbone_units": N}, a value being a number, or a text as above. A plain number is in the key's
 * unit (TFLOP/s, GB/s, inferences/s, MiB, W); a time needs its unit. */
#include "judge/require.h"

#include "base/no_memory.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERA 1e12
#define GIGA 1e9
#define MEBI 1048576.0

static const struct assay__require_info infos[ASSAY__REQUIRE_COUNT] = {
    {"tflops", "compute", "compute.rate", "compute.efficiency", "FLOP/s", TERA, "TFLOP/s", true},
    {"bandwidth", "bandwidth", "memory.bandwidth", NULL, "B/s", GIGA, "GB/s", true},
    {"throughput", "throughput", "throughput.inferences", NULL, "1/s", 1, "inferences/s", true},
    {"p50", "latency p50", "latency.p50", NULL, "s", 0, "", false},
    {"p99", "latency p99", "latency.p99", NULL, "s", 0, "", false},
    {"memory", "memory", "memory.peak.worker", "memory.budget_share", "B", MEBI, "MiB", false},
    {"power", "power", "power.average", "power.budget_share", "W", 1, "W", false},
};

const struct assay__require_info *assay__require_info(enum assay__require_kind kind)
{
    return &infos[kind];
}

/* --- chips ------------------------------------------------------------------------------------ */

double assay__require_peak(const struct assay__chip *chip, enum assay__require_kind kind)
{
    if (kind == ASSAY__REQUIRE_BANDWIDTH) return chip->bandwidth.value;
    if (kind != ASSAY__REQUIRE_TFLOPS || assay__cell_is_rough(&chip->gpu_flops)) return NAN;
    return chip->gpu_flops.value;
}

/* --- built-in tables -------------------------------------------------------------------------- */

/* Only letters and digits, and without "Apple": "Apple M1-Max" is "m1max". */
static void fold(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (; *name && used + 1 < size; name++)
        if (!strchr(" -_", *name)) out[used++] = (char)tolower((unsigned char)*name);
    out[used] = '\0';
    if (strncmp(out, "apple", 5) == 0) memmove(out, out + 5, used - 5 + 1);
}

#define COLUMN(tflops, gigabytes, mebibytes)                                    \
    {                                                                           \
        (tflops) * TERA, (gigabytes)*GIGA, NAN, NAN, NAN, (mebibytes)*MEBI, NAN \
    }

static const struct assay__require_table presets[] = {
    {"m1", "built in", &assay__chips[0], COLUMN(2, 50, 8192), COLUMN(3, 70, 6144), 32, 32, 64, 32},
    {"m1-pro", "built in", &assay__chips[1], COLUMN(4, 150, 16384), COLUMN(6, 200, 12288), 64, 64,
     128, 64},
    {"m1-max", "built in", &assay__chips[2], COLUMN(8, 300, 32768), COLUMN(12, 400, 24576), 128, 64,
     128, 64},
    {"m1-ultra", "built in", &assay__chips[3], COLUMN(16, 600, 65536), COLUMN(24, 800, 49152), 256,
     128, 256, 128},
};

const struct assay__require_table *assay__require_preset_at(size_t index)
{
    return index < sizeof presets / sizeof presets[0] ? &presets[index] : NULL;
}

const struct assay__require_table *assay__require_preset(const char *name)
{
    char wanted[32], own[32];
    fold(name, wanted, sizeof wanted);
    for (size_t i = 0; assay__require_preset_at(i); i++) {
        fold(presets[i].name, own, sizeof own);
        if (strcmp(own, wanted) == 0) return &presets[i];
    }
    return NULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
    struct assay__arena *arena;
    const char *what; /* the table, for messages */
    const char *text; /* whole */
    struct assay__require_table *table;
    int line;                           /* where it is read */
    int lines[2][ASSAY__REQUIRE_COUNT]; /* where each was given; 0: not yet */
    int other_lines[4];
    struct assay_error *error;
};

enum { NAME, CHIP, BATCH, UNITS, OTHERS };
static const char *const others[OTHERS] = {"name", "chip", "batch", "backbone_units"};

static int bad(const struct reading *r, const char *format, ...) ASSAY_PRINTF(2, 3);

static int bad(const struct reading *r, const char *format, ...)
{
    char detail[360];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    if (r->line < 1)
        return assay_error_set(r->error, ASSAY_EINVAL, "requirement table '%s': %s", r->what,
                               detail);
    return assay_error_set(r->error, ASSAY_EINVAL, "requirement table '%s', line %d: %s", r->what,
                           r->line, detail);
}

/* --- values ----------------------------------------------------------------------------------- */

static bool has_unit(const char *word)
{
    size_t length = strlen(word);
    return length && !strchr("0123456789.", word[length - 1]);
}

/* Each may be given once. */
static int claim(const struct reading *r, int *line, const char *what)
{
    if (*line) return bad(r, "%s was already given in line %d", what, *line);
    *line = r->line > 0 ? r->line : 1;
    return 0;
}

/* `word` in the base unit of the kind, as its minimum or target. */
static int set_value(struct reading *r, bool target, enum assay__require_kind kind,
                     const char *word)
{
    const struct assay__require_info *info = assay__require_info(kind);
    double *value = target ? &r->table->target[kind] : &r->table->minimum[kind];
    char what[64];
    uint64_t bytes;
    bool wrong;
    snprintf(what, sizeof what, "the %s of %s", target ? "target" : "minimum", info->key);
    int code = claim(r, &r->lines[target][kind], what);
    if (code || strcmp(word, "-") == 0) return code;
    if (kind == ASSAY__REQUIRE_P50 || kind == ASSAY__REQUIRE_P99) {
        if (!has_unit(word) && assay__text_double(word, value) == 0)
            return bad(r, "%s: '%s' needs its unit, such as %sms", info->key, word, word);
        wrong = assay__text_duration_s(word, value) != 0;
    } else if (kind == ASSAY__REQUIRE_MEMORY && has_unit(word)) {
        wrong = assay__text_bytes(word, &bytes) != 0;
        if (!wrong) *value = (double)bytes;
    } else {
        wrong = assay__text_double(word, value) != 0;
        *value *= info->scale;
    }
    if (wrong)
        return bad(r, "%s: '%.60s' is not a number%s%s%s", info->key, word,
                   info->plain[0] ? " of " : " with a unit of time, such as 20ms", info->plain,
                   kind == ASSAY__REQUIRE_MEMORY ? ", or a size such as 512MiB" : "");
    if (!isfinite(*value) || !(*value > 0))
        return bad(r, "%s: '%.60s' must be above 0; write '-' for no requirement", info->key, word);
    return 0;
}

static int set_other(struct reading *r, int which, const char *word)
{
    size_t length = strlen(word), size;
    int64_t *count = which == BATCH ? &r->table->batch : &r->table->backbone_units;
    int code = claim(r, &r->other_lines[which], others[which]);
    if (code) return code;
    if (which == NAME) {
        if (length == 0 || length > ASSAY__REQUIRE_NAME_BYTES)
            return bad(r, "a name has 1 to %d bytes", ASSAY__REQUIRE_NAME_BYTES);
        for (size_t i = 0; i < length; i += size) {
            uint32_t character = assay__utf8_decode(word + i, length - i, &size);
            if (character == ASSAY__UTF8_INVALID || character < 0x20 || character == 0x7f ||
                strchr(";#", word[i]))
                return bad(r, "a name is UTF-8 without control characters, ';' and '#'");
        }
        r->table->name = assay__arena_strdup(r->arena, word);
        return r->table->name ? 0 : assay__no_memory(r->error);
    }
    if (which == CHIP) {
        r->table->chip = assay__chip_find(word, NULL);
        if (r->table->chip) return 0;
        const char *list = "";
        for (size_t i = 0; assay__chip_at(i); i++)
            list = assay__arena_text(r->arena, "%s%s%s", list, i ? ", " : "",
                                     assay__chip_at(i)->name);
        return bad(r, "unknown chip '%.24s'; known: %s", word, list);
    }
    if (assay__text_int64(word, count) || *count < 1 || *count > 1000000000)
        return bad(r, "%s: '%.60s' is not a whole number from 1 to 1,000,000,000", others[which],
                   word);
    return 0;
}

static const char *key_at(int index)
{
    return index < ASSAY__REQUIRE_COUNT ? infos[index].key : others[index - ASSAY__REQUIRE_COUNT];
}

/* A requirement, or ASSAY__REQUIRE_COUNT + the index of one of the others; -1: neither. */
static int find_key(const char *key)
{
    for (int i = 0; i < ASSAY__REQUIRE_COUNT + OTHERS; i++)
        if (strcmp(key_at(i), key) == 0) return i;
    return -1;
}

static int unknown_key(const struct reading *r, const char *key)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (int i = 0; i < ASSAY__REQUIRE_COUNT + OTHERS; i++) {
        size_t distance = assay__text_distance(key, key_at(i));
        if (distance < least) least = distance, best = key_at(i);
    }
    if (strlen(key) <= 40 && assay__text_near(key, least))
        return bad(r, "there is no requirement '%s'; did you mean '%s'?", key, best);
    return bad(r,
               "there is no requirement '%.40s'; there are tflops, bandwidth, throughput, p50, "
               "p99, memory, power",
               key);
}

/* --- text ------------------------------------------------------------------------------------- */

/* The next word of the line, NULL if there is none; the line is modified. */
static char *next_word(char **at)
{
    char *begin = *at + strspn(*at, " \t\r");
    if (!*begin) return NULL;
    char *end = begin + strcspn(begin, " \t\r");
    *at = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

static int read_line(struct reading *r, char *line)
{
    line[strcspn(line, "#")] = '\0';
    char *key = next_word(&line);
    if (!key) return 0;
    size_t length = strlen(key);
    if (length > 1 && strchr(":=", key[length - 1])) key[length - 1] = '\0';
    int found = find_key(key), other = found - ASSAY__REQUIRE_COUNT;
    if (other == NAME || other == CHIP) { /* the rest, without surrounding blanks */
        line += strspn(line, " \t\r");
        for (length = strlen(line); length && strchr(" \t\r", line[length - 1]);)
            line[--length] = '\0';
        return set_other(r, other, line);
    }
    char *minimum = next_word(&line), *target = next_word(&line), *more = next_word(&line);
    if (found < 0) return unknown_key(r, key);
    if (!minimum) return bad(r, "%s has no value", key);
    if (other >= 0 && target) return bad(r, "%s takes one value; unexpected '%.60s'", key, target);
    if (other >= 0) return set_other(r, other, minimum);
    if (more) return bad(r, "%s takes a minimum and a target; unexpected '%.60s'", key, more);
    int code = set_value(r, false, (enum assay__require_kind)found, minimum);
    if (code == 0 && target) code = set_value(r, true, (enum assay__require_kind)found, target);
    return code;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static int line_at(const struct reading *r, const char *at)
{
    int line = 1;
    for (const char *c = r->text; c < at; c++)
        line += *c == '\n';
    return line;
}

/* The JSON reader counts bytes; messages name the line. */
static int next(struct reading *r, struct assay__json_reader *reader,
                struct assay__json_token *token)
{
    int code = assay__json_next(reader, token, NULL);
    if (code == ASSAY_ENOMEM) return assay__no_memory(r->error);
    if (code) {
        size_t at = 0;
        const char *what = assay__json_reader_fault(reader, &at);
        r->line = line_at(r, r->text + at);
        return bad(r, "not JSON: %s", what);
    }
    if (token->text && (token->kind == ASSAY__JSON_KEY || token->kind == ASSAY__JSON_STRING ||
                        token->kind == ASSAY__JSON_NUMBER))
        r->line = line_at(r, token->text);
    return 0;
}

/* A number or a text as the word it would be in a text file. */
static int read_word(struct reading *r, struct assay__json_reader *reader, const char *key,
                     const char **word)
{
    struct assay__json_token token = {0};
    int code = next(r, reader, &token);
    if (code) return code;
    *word = NULL;
    if (token.kind == ASSAY__JSON_NUMBER)
        *word = assay__arena_strndup(r->arena, token.text, token.length);
    else if (token.kind == ASSAY__JSON_STRING)
        *word = assay__json_unescape(r->arena, &token);
    else if (token.kind == ASSAY__JSON_NULL)
        *word = "-";
    else
        return bad(r, "%.40s: expected a number or a string", key);
    return *word ? 0 : assay__no_memory(r->error);
}

static int read_column(struct reading *r, struct assay__json_reader *reader, bool target)
{
    struct assay__json_token token = {0};
    int code = next(r, reader, &token);
    if (code == 0 && token.kind != ASSAY__JSON_OBJECT)
        return bad(r, "%s: expected an object", target ? "target" : "minimum");
    while (code == 0 && (code = next(r, reader, &token)) == 0 && token.kind == ASSAY__JSON_KEY) {
        const char *key = assay__json_unescape(r->arena, &token), *word = NULL;
        if (!key) return assay__no_memory(r->error);
        int kind = find_key(key);
        if (kind < 0 || kind >= ASSAY__REQUIRE_COUNT) return unknown_key(r, key);
        code = read_word(r, reader, key, &word);
        if (code == 0) code = set_value(r, target, (enum assay__require_kind)kind, word);
    }
    return code;
}

static int read_json(struct reading *r, size_t length)
{
    struct assay__json_reader *reader = assay__json_reader_new(r->text, length);
    struct assay__json_token token = {0};
    if (!reader) return assay__no_memory(r->error);
    int code = next(r, reader, &token); /* the object: the caller has read its brace */
    while (code == 0 && (code = next(r, reader, &token)) == 0 && token.kind == ASSAY__JSON_KEY) {
        const char *key = assay__json_unescape(r->arena, &token), *word = NULL;
        bool target = key && strcmp(key, "target") == 0;
        int other = key ? find_key(key) - ASSAY__REQUIRE_COUNT : -1;
        if (!key) {
            code = assay__no_memory(r->error);
        } else if (target || strcmp(key, "minimum") == 0) {
            code = read_column(r, reader, target);
        } else if (other < 0) {
            code = bad(r,
                       "there is no member '%.40s'; there are name, chip, minimum, target, batch, "
                       "backbone_units",
                       key);
        } else {
            code = read_word(r, reader, key, &word);
            if (code == 0) code = set_other(r, other, word);
        }
    }
    if (code == 0) code = next(r, reader, &token); /* nothing after it */
    assay__json_reader_free(reader);
    return code;
}

/* --- a table ---------------------------------------------------------------------------------- */

/* Checks that targets are at least as hard as minimums, and that something can fail. */
static int check(struct reading *r)
{
    size_t minimums = 0;
    for (int i = 0; i < ASSAY__REQUIRE_COUNT; i++) {
        const struct assay__require_info *info = &infos[i];
        double minimum = r->table->minimum[i], target = r->table->target[i];
        minimums += isfinite(minimum);
        r->line = r->lines[1][i];
        if (info->floor ? target < minimum : target > minimum)
            return bad(
                r, "%s: the target is easier than the minimum; for %s the %s number comes first",
                info->key, info->floor ? "a floor" : "a limit", info->floor ? "smaller" : "larger");
    }
    r->line = 0;
    return minimums ? 0 : bad(r, "it has no minimum, so nothing could fail");
}

int assay__require_parse(struct assay__arena *arena, const char *text, size_t length,
                         const char *name, const struct assay__require_table **out,
                         struct assay_error *error)
{
    *out = NULL;
    char *copy = assay__arena_strndup(arena, text, length);
    struct assay__require_table *table = assay__arena_alloc(arena, sizeof *table);
    if (!copy || !table) return assay__no_memory(error);
    struct reading r = {.arena = arena, .what = name, .text = text, .table = table, .error = error};
    *table = (struct assay__require_table){.name = name, .origin = name};
    for (int i = 0; i < ASSAY__REQUIRE_COUNT; i++)
        table->minimum[i] = table->target[i] = NAN;
    if (memchr(text, '\0', length)) {
        r.line = line_at(&r, memchr(text, '\0', length));
        return bad(&r, "a zero byte: this is not a text file");
    }
    if (strncmp(copy, "\xef\xbb\xbf", 3) == 0) copy += 3; /* byte order mark */
    bool json = copy[strspn(copy, " \t\r\n")] == '{';
    int code = json ? read_json(&r, length) : 0;
    if (!json) r.line = 1;
    for (char *at = copy, end = '\n'; !json && end && code == 0;) {
        size_t line_length = strcspn(at, "\n;");
        end = at[line_length];
        at[line_length] = '\0';
        code = read_line(&r, at);
        r.line += end == '\n';
        at += line_length + 1;
    }
    if (code == 0) code = check(&r);
    if (code == 0) *out = table;
    return code;
}

/* "living room" for "tables/living room.txt" */
static const char *base_name(struct assay__arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path;
    const char *dot = strrchr(begin, '.');
    size_t length = dot && dot > begin ? (size_t)(dot - begin) : strlen(begin);
    if (length > ASSAY__REQUIRE_NAME_BYTES) length = ASSAY__REQUIRE_NAME_BYTES;
    char *name = assay__arena_strndup(arena, begin, length);
    for (char *c = name; c && *c; c++) /* it is stored in a line of our own format */
        if (*c == ';' || *c == '#' || (unsigned char)*c < 0x20 || *c == 0x7f) *c = '_';
    return name;
}

static int not_found(const char *name, struct assay_error *error)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; assay__require_preset_at(i); i++) {
        size_t distance = assay__text_distance(name, presets[i].name);
        if (distance < least) least = distance, best = presets[i].name;
    }
    bool near = strlen(name) <= 40 && assay__text_near(name, least);
    return assay_error_set(error, ASSAY_EINVAL,
                           near ? "there is no requirement table '%s'; did you mean '%s'?"
                                : "there is no requirement table '%s': m1, m1-pro, m1-max and "
                                  "m1-ultra are built in; anything else must be a file",
                           name, best);
}

int assay__require_find(struct assay__arena *arena, const char *name,
                        const struct assay__require_table **table, struct assay_error *error)
{
    char *text = NULL;
    size_t length = 0;
    *table = assay__require_preset(name);
    if (*table) return 0;
    int code = assay__file_read(name, ASSAY__REQUIRE_FILE_BYTES + 1, &text, &length, error);
    if (code == ASSAY_ENOTFOUND) return not_found(name, error);
    if (code) return code;
    if (length > ASSAY__REQUIRE_FILE_BYTES)
        code = assay_error_set(error, ASSAY_EINVAL,
                               "requirement table '%s': longer than %d bytes, so it is not a "
                               "requirement table",
                               name, ASSAY__REQUIRE_FILE_BYTES);
    else
        code = assay__require_parse(arena, text, length, name, table, error);
    free(text);
    if (code) return code;
    const char *called = base_name(arena, name);
    struct assay__require_table *own = assay__arena_alloc(arena, sizeof *own);
    if (!own || !called) return assay__no_memory(error);
    *own = **table; /* messages name the path, reports the table */
    own->origin = assay__arena_text(arena, "%s", name);
    if (own->name == name) own->name = called;
    *table = own;
    return assay__arena_failed(arena) ? assay__no_memory(error) : 0;
}

/* --- out -------------------------------------------------------------------------------------- */

/* The shortest text that reads back as the same number. */
static void put_value(struct assay__buf *out, const struct assay__require_info *info, double value)
{
    double plain = info->scale > 0 ? value / info->scale : value, back = NAN;
    char text[40] = "-";
    for (int digits = 6; digits <= 17 && isfinite(value) && back != plain; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, plain);
        if (assay__text_double(text, &back)) back = NAN;
    }
    assay__buf_printf(out, " %s%s", text, isfinite(value) && !(info->scale > 0) ? "s" : "");
}

const char *assay__require_text(struct assay__arena *arena,
                                const struct assay__require_table *table)
{
    struct assay__buf out = {0};
    assay__buf_printf(&out, "name %s", table->name);
    if (table->chip) assay__buf_printf(&out, "; chip %s", table->chip->name);
    for (int i = 0; i < ASSAY__REQUIRE_COUNT; i++) {
        const struct assay__require_info *info = assay__require_info((enum assay__require_kind)i);
        if (!isfinite(table->minimum[i]) && !isfinite(table->target[i])) continue;
        assay__buf_printf(&out, "; %s", info->key);
        put_value(&out, info, table->minimum[i]);
        if (isfinite(table->target[i])) put_value(&out, info, table->target[i]);
    }
    if (table->batch) assay__buf_printf(&out, "; batch %" PRId64, table->batch);
    if (table->backbone_units)
        assay__buf_printf(&out, "; backbone_units %" PRId64, table->backbone_units);
    return assay__buf_keep(&out, arena);
}
