/* ceiling_file.c - saved ceilings: one JSON file per machine and user, named by a fingerprint of
 * everything that must be the same for the numbers to be valid, which is also in the file. The file
 * is untrusted: a value that no measurement could have written makes the whole file invalid, and
 * the caller measures again.
 *
 *   {"assay_ceilings": 1, "key": "…", "measured_at", "note", "device", "hardware", "duration_s",
 *     "steal_share", "other_share", "pinned", "complete",
 *    "rows": [{"name", "kind", "value", "unit", "state", "source", "note", "low", "median", "high",
 *      "repeats",
 *              "threads", "type", "level", "pattern", "simd", "variant", "working_set_bytes",
 *                "clock_before_hz",
 *              "clock_after_hz"}]}
 *
 * An unknown number is null. */
#include "base/file.h"
#include "base/enum_names.h"
#include "base/json.h"
#include "base/metric_value.h"
#include "base/no_memory.h"
#include "ceiling/ceiling_survey.h"
#include "model/cache_file.h"
#include "platform/posix_cpu.h"
#include "profile/fields.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FORMAT 1
/* incremented when a kernel or a definition changes: older files become invalid */
#define KERNELS 1
#define FILE_MOST ((size_t)1 << 20)
#define ROWS_MOST 1024
#define OTHER_SHARE 0.05 /* above this a ceiling may be too low */

/* --- key and path ----------------------------------------------------------------------------- */

const char *assay__ceilings_key(struct assay__arena *arena, const struct assay__machine *machine)
{
    struct assay__buf buf = {0};
    char cpus[512], microcode[64];
    assay__cpus_allowed(cpus, sizeof cpus);
    assay__cpu_microcode(microcode, sizeof microcode);
    assay__buf_printf(&buf, "kernels %d\ncpu %s\narchitecture %s\n", KERNELS, machine->cpu_model,
                      machine->architecture);
    assay__buf_printf(&buf, "packages %d cores %d threads %d\nallowed %s\n", machine->packages,
                      machine->cores, machine->threads, cpus);
    assay__buf_printf(&buf, "caches %llu %llu %llu\nsimd %s\nmeasured with",
                      (unsigned long long)machine->l1d_bytes, (unsigned long long)machine->l2_bytes,
                      (unsigned long long)machine->l3_bytes, machine->simd);
    unsigned features = assay__cpu_features();
    for (unsigned bit = 0; bit < 32; bit++)
        if (features >> bit & 1u)
            assay__buf_printf(&buf, " %s", assay__cpu_feature_name(1u << bit));
    assay__buf_printf(&buf, "\nkernel %s\nmicrocode %s\nvirtualized %s\ncontainer %s\n",
                      machine->kernel, microcode, machine->virtualized, machine->container);
    return assay__buf_keep(&buf, arena);
}

int assay__ceilings_path(const char *key, char *out, size_t out_size, struct assay_error *error)
{
    return assay__cache_path("ceilings", key, out, out_size, error);
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char *const kinds[] = {"compute", "bandwidth", "latency"};
static const struct assay__enum_names kind_names = {kinds, sizeof kinds / sizeof kinds[0]};

#define TEXT(member) ROW(member, .empty = ASSAY__EMPTY_NULL)
#define COUNT(member, limit) ROW(member, .least = 0, .most = limit, .unknown = -1)
#define ROW(member, ...) ASSAY__FIELD(assay__ceiling, member, #member, .json = #member, __VA_ARGS__)

static const struct assay__field row_fields[] = {
    TEXT(name),
    ROW(kind, .names = &kind_names, .unknown = -1),
    ROW(value, .range = ASSAY__ANY_NUMBER),
    TEXT(unit),
    ROW(state, .names = &assay__state_names, .unknown = -1),
    TEXT(source),
    TEXT(note),
    ROW(low, .range = ASSAY__ANY_NUMBER),
    ROW(median, .range = ASSAY__ANY_NUMBER),
    ROW(high, .range = ASSAY__ANY_NUMBER),
    COUNT(repeats, 1000000),
    COUNT(threads, 1000000),
    TEXT(type),
    TEXT(level),
    TEXT(pattern),
    TEXT(simd),
    TEXT(variant),
    COUNT(working_set_bytes, INT64_MAX),
    ROW(clock_before_hz, .range = ASSAY__ANY_NUMBER),
    ROW(clock_after_hz, .range = ASSAY__ANY_NUMBER),
};
static const struct assay__field_table row_table = {
    .fields = row_fields,
    .count = sizeof row_fields / sizeof row_fields[0],
    .size = sizeof(struct assay__ceiling),
};

int assay__ceilings_save(const struct assay__ceilings *set, const char *path,
                         struct assay_error *error)
{
    struct assay__buf buf = {0};
    struct assay__json_writer json, *w = &json;
    assay__json_start(w, &buf, true);
    assay__json_object(w);
    assay__json_put_integer(w, "assay_ceilings", FORMAT);
    assay__json_put_string(w, "key", set->key);
    assay__json_put_string(w, "measured_at", set->measured_at);
    assay__json_put_string(w, "note", set->note);
    assay__json_put_string(w, "device", set->device ? set->device : "");
    assay__json_put_string(w, "hardware", set->hardware ? set->hardware : "");
    assay__json_put_number(w, "duration_s", set->duration_s);
    assay__json_put_number(w, "steal_share", set->steal_share);
    assay__json_put_number(w, "other_share", set->other_share);
    assay__json_put_bool(w, "pinned", set->pinned);
    assay__json_put_bool(w, "complete", set->complete);
    assay__fields_json_list(w, "rows", &row_table, set->rows, set->count);
    assay__json_object_end(w);
    assay__buf_putc(&buf, '\n');
    int code = assay__file_keep(path, &buf, error);
    assay__buf_free(&buf);
    return code;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool positive(double value)
{
    return isfinite(value) && value > 0;
}

static bool share_or_unknown(double value)
{
    return isnan(value) || (value >= 0 && value <= 1);
}

/* Checks that all names are present, what a measured row must contain, and that an unavailable one
 * has no number. */
static bool is_valid(const struct assay__ceiling *row)
{
    double before = row->clock_before_hz, after = row->clock_after_hz;
    if (!row->name || !row->name[0] || (int)row->kind < 0 || !row->unit ||
        strcmp(row->unit, assay__ceiling_unit(row->kind, row->type)) != 0 || !row->source ||
        !row->note || !row->type || !row->level || !row->pattern || !row->simd || !row->variant)
        return false;
    if (row->repeats < 0 || row->threads < 0 || row->working_set_bytes < 0 ||
        (!isnan(before) && !positive(before)) || (!isnan(after) && !positive(after)))
        return false;
    if (row->state == ASSAY_UNAVAILABLE)
        return isnan(row->value) && isnan(row->low) && isnan(row->median) && isnan(row->high) &&
               row->repeats == 0 && row->note[0];
    double best = row->kind == ASSAY__CEILING_LATENCY ? row->low : row->high;
    return row->state == ASSAY_MEASURED && positive(row->value) && positive(row->low) &&
           positive(row->median) && positive(row->high) && row->low <= row->median &&
           row->median <= row->high && row->value == best && row->repeats > 0;
}

static bool read_rows(struct assay__arena *arena, const struct assay__json *json,
                      struct assay__ceilings *set)
{
    if (!json || json->kind != ASSAY__JSON_ARRAY || json->count == 0 || json->count > ROWS_MOST)
        return false;
    set->rows = assay__arena_array(arena, json->count, sizeof *set->rows);
    if (!set->rows) return false;
    for (const struct assay__json *at = json->first; at; at = at->next) {
        struct assay__ceiling *row = &set->rows[set->count];
        if (assay__fields_receive(at, &row_table, arena, row) || !is_valid(row) ||
            assay__ceilings_find(set, row->name))
            return false;
        set->count++;
    }
    return true;
}

static int read_set(struct assay__arena *arena, const struct assay__json *root, const char *key,
                    struct assay__ceilings *set, struct assay_error *error)
{
    int64_t format = assay__json_get_integer(root, "assay_ceilings", -1);
    if (format < 0) return assay_error_set(error, ASSAY_EFORMAT, "not a ceilings file");
    if (format != FORMAT)
        return assay_error_set(error, ASSAY_ENOTFOUND, "the file has another version (%lld)",
                               (long long)format);
    set->key = assay__json_get_string(root, "key", "");
    if (strcmp(set->key, key) != 0)
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "the file belongs to another machine, or this one has changed");
    set->measured_at = assay__json_get_string(root, "measured_at", "");
    set->note = assay__json_get_string(root, "note", "");
    set->device = assay__json_get_string(root, "device", "");
    set->hardware = assay__json_get_string(root, "hardware", "");
    set->duration_s = assay__json_get_number(root, "duration_s", NAN);
    set->steal_share = assay__json_get_number(root, "steal_share", NAN);
    set->other_share = assay__json_get_number(root, "other_share", NAN);
    set->pinned = assay__json_get_bool(root, "pinned", false);
    set->complete = assay__json_get_bool(root, "complete", true);
    set->from_cache = true;
    if (!positive(set->duration_s) || !share_or_unknown(set->steal_share) ||
        !share_or_unknown(set->other_share))
        return assay_error_set(error, ASSAY_EFORMAT, "the ceilings file has impossible values");
    if (!read_rows(arena, assay__json_get(root, "rows"), set))
        return assay_error_set(error, ASSAY_EFORMAT, "row %zu of the ceilings file is invalid",
                               set->count + 1);
    return 0;
}

int assay__ceilings_load(struct assay__arena *arena, const char *path, const char *key,
                         struct assay__ceilings **out, struct assay_error *error)
{
    char *text = NULL;
    size_t length = 0;
    struct assay__json *root = NULL;
    struct stat status;
    *out = NULL;
    if (stat(path, &status) != 0)
        return assay_error_set(error, errno == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EIO, "'%s': %s",
                               path, strerror(errno));
    if (!S_ISREG(status.st_mode)) /* opening a pipe would block */
        return assay_error_set(error, ASSAY_EFORMAT, "'%s' is not a regular file", path);
    if ((uint64_t)status.st_size >= FILE_MOST)
        return assay_error_set(error, ASSAY_EFORMAT, "'%s' is too large for a ceilings file", path);
    int code = assay__file_read(path, FILE_MOST, &text, &length, error);
    if (code) return code;
    struct assay__ceilings *set = assay__arena_alloc(arena, sizeof *set);
    code = set ? assay__json_parse(arena, text, length, &root, error) : assay__no_memory(error);
    if (!code) code = read_set(arena, root, key, set, error);
    if (!code) *out = set;
    free(text);
    return code;
}

/* --- both ------------------------------------------------------------------------------------- */

void assay__ceilings_note(struct assay__arena *arena, struct assay__ceilings *set, const char *what,
                          const char *why)
{
    const char *note = assay__arena_printf(arena, "%s%s%s%s", set->note, set->note[0] ? "; " : "",
                                           what, why);
    if (note) set->note = note;
}

int assay__ceilings_kept(struct assay__arena *arena, const struct assay__machine *machine,
                         struct assay__ceilings **out, struct assay_error *error)
{
    char path[4096];
    const char *key = assay__ceilings_key(arena, machine);
    *out = NULL;
    if (!key) return assay__no_memory(error);
    int code = assay__ceilings_path(key, path, sizeof path, error);
    return code ? code : assay__ceilings_load(arena, path, key, out, error);
}

/* Writes the file if there is something to save; notes say what is missing and what went wrong. An
 * incomplete set of a device is not saved: which models worked depends on all of them. */
static void keep(struct assay__arena *arena, struct assay__ceilings *set, const char *path,
                 const char *no_path)
{
    static const char not_kept[] = "not saved for next time: ";
    struct assay_error not_saved = {0};
    size_t known = 0;
    for (size_t i = 0; i < set->count; i++)
        known += set->rows[i].state != ASSAY_UNAVAILABLE;
    bool device = set->device[0] != '\0',
         any = set->complete && !device ? set->count > 0 : known > 0;
    if (!set->complete && (device || !any))
        assay__ceilings_note(arena, set, not_kept,
                             "there was not enough time for it on a machine this busy");
    else if (!path)
        assay__ceilings_note(arena, set, not_kept, no_path);
    else if (any && assay__ceilings_save(set, path, &not_saved))
        assay__ceilings_note(arena, set, not_kept, not_saved.message);
    else if (!set->complete)
        assay__ceilings_note(arena, set, "not all could be measured on a machine this busy: ",
                             "these are saved; measuring again adds the others");
}

int assay__ceilings_cached(struct assay__arena *arena, const char *key,
                           const struct assay__ceiling_options *options,
                           assay__ceilings_fn *measure, void *context, struct assay__ceilings **out,
                           struct assay_error *error)
{
    struct assay_error no_path = {0}, not_loaded = {0};
    struct assay__ceilings *earlier = NULL;
    char path[4096];
    *out = NULL;
    if (!key) return assay__no_memory(error);
    bool kept = assay__ceilings_path(key, path, sizeof path, &no_path) == 0;
    int loaded = ASSAY_ENOTFOUND;
    if (kept && !(options && options->remeasure))
        loaded = assay__ceilings_load(arena, path, key, &earlier, &not_loaded);
    if (loaded == 0 && earlier->complete) {
        *out = earlier;
        return 0;
    }
    int code = measure(context, earlier, out, error);
    if (code) return code;
    struct assay__ceilings *set = *out;
    set->key = key;
    if (earlier) { /* its rows were disturbed by what happened then */
        set->other_share = fmax(set->other_share, earlier->other_share);
        if (!set->note[0]) set->note = earlier->note;
    }
    keep(arena, set, kept ? path : NULL, no_path.message);
    if (loaded && loaded != ASSAY_ENOTFOUND)
        assay__ceilings_note(arena, set,
                             "the earlier measurement could not be used: ", not_loaded.message);
    return 0;
}

struct cpu {
    struct assay__arena *arena;
    const struct assay__machine *machine;
    const struct assay__ceiling_options *options;
};

static int measure_cpu(void *context, const struct assay__ceilings *earlier,
                       struct assay__ceilings **out, struct assay_error *error)
{
    const struct cpu *cpu = context;
    struct assay__ceiling_options options = {0};
    if (cpu->options) options = *cpu->options;
    options.earlier = earlier;
    return assay__ceilings_measure(cpu->arena, cpu->machine, &options, out, error);
}

int assay__ceilings_get(struct assay__arena *arena, const struct assay__machine *machine,
                        const struct assay__ceiling_options *options, struct assay__ceilings **out,
                        struct assay_error *error)
{
    struct cpu cpu = {arena, machine, options};
    const char *key = assay__ceilings_key(arena, machine);
    if (key && options && options->only) /* a subset of the rows has a separate file */
        key = assay__arena_printf(arena, "%sonly %s\n", key, options->only);
    return assay__ceilings_cached(arena, key, options, measure_cpu, &cpu, out, error);
}

void assay__ceilings_describe(struct assay__arena *arena, const struct assay__ceilings *set,
                              const char *device, struct assay__ceiling_info *rows)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct assay__ceiling *from = &set->rows[i];
        const char *note = from->note;
        if (set->other_share > OTHER_SHARE && from->state != ASSAY_UNAVAILABLE)
            note = assay__arena_text(
                arena,
                "%s%sother processes used %.0f %% of the CPU time: the ceiling may be too low",
                note, note[0] ? "; " : "", set->other_share * 100);
        rows[i] = (struct assay__ceiling_info){.device = device,
                                               .name = from->name,
                                               .value = from->value,
                                               .unit = from->unit,
                                               .low = from->low,
                                               .high = from->high,
                                               .source = from->source,
                                               .note = note,
                                               .measured_at = set->measured_at};
    }
}
