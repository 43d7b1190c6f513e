/* memory_track.c - runs the launch that has the allocation tracker loaded and reads what it
 * recorded. */
#include "run/watch/memory_track.h"

#include "base/file.h"
#include "base/no_memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libassay-track.so"
#define ITERATIONS_MOST 1000.0
#define PRERUN_MOST 2000.0 /* pools and caches that an engine fills slowly are not growth */
#define PRERUN_LEAST 20.0
#define PRERUN_NS 5e8 /* at the pace of the plain run */
#define ITERATIONS_LEAST 3.0
#define ITERATIONS_GROWTH 12.0 /* needed to judge growth, unless an inference is longer than … */
#define GROWTH_NS 2.5e8
#define SPENT_NS 1e9   /* at the pace of the plain run; the tracker makes it longer */
#define SLOW_NS 5e7    /* an inference this long needs no pre-run */
#define CONFIRM_NS 6e9 /* time for a second check of apparent growth */
#define CONFIRM_MOST 6000.0
#define LIST_MOST 4096u

#ifndef ASSAY_SANITIZED
#define ASSAY_SANITIZED 0
#endif

/* --- what it recorded ------------------------------------------------------------------------- */

static int bad(struct assay_error *error)
{
    return assay_error_set(error, ASSAY_EFORMAT, "worker sent impossible values for allocations");
}

static bool is_count(double value)
{
    return value >= 0 && value <= 1e18;
}

/* Reads a list into the array that `items` points to. */
static int read_list(const struct assay__json *list, const struct assay__field_table *table,
                     struct assay__arena *arena, void *items, size_t *count,
                     struct assay_error *error)
{
    size_t at = 0;
    *count = list ? list->count : 0;
    if (*count > LIST_MOST) return bad(error);
    char *elements = assay__arena_array(arena, *count, table->size);
    int code = elements ? 0 : ASSAY_ENOMEM;
    for (const struct assay__json *item = list ? list->first : NULL; item && !code;
         item = item->next)
        code = assay__fields_receive(item, table, arena, elements + at++ * table->size);
    memcpy(items, &elements, sizeof elements);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}

/* Whether every number can be. */
static bool is_sound(const struct assay__allocations *seen)
{
    bool sound = !(seen->growth_low > seen->growth_high) &&
                 !(seen->heap_used_bytes > seen->heap_bytes);
    for (size_t i = 0; i < seen->phase_count; i++) {
        const struct assay__allocation_phase *phase = &seen->phases[i];
        sound = sound && phase->name[0] && phase->inferences >= 0 && is_count(phase->count) &&
                is_count(phase->bytes) && is_count(phase->freed_count) &&
                is_count(phase->freed_bytes);
    }
    for (size_t i = 0; i < seen->class_count; i++) {
        const struct assay__allocation_class *class = &seen->classes[i];
        sound = sound && is_count(class->count) && is_count(class->bytes) &&
                class->low_bytes < class->high_bytes;
    }
    for (size_t i = 0; i < seen->site_count; i++)
        sound = sound && is_count(seen->sites[i].count) && is_count(seen->sites[i].bytes);
    return sound;
}

int assay__tracked_read(const struct assay__json *json, struct assay__arena *arena,
                        struct assay__tracked **tracked, struct assay_error *error)
{
    struct assay__tracked *out = assay__arena_alloc(arena, sizeof *out);
    if (!out) return assay__no_memory(error);
    if (assay__fields_receive(json, &assay__message_tracked, arena, out))
        return assay__no_memory(error);
    struct assay__allocations *seen = &out->seen;
    int code = read_list(assay__json_get(json, "phases"), &assay__stored_phase, arena,
                         &seen->phases, &seen->phase_count, error);
    if (!code)
        code = read_list(assay__json_get(json, "classes"), &assay__stored_class, arena,
                         &seen->classes, &seen->class_count, error);
    if (!code)
        code = read_list(assay__json_get(json, "sites"), &assay__stored_site, arena, &seen->sites,
                         &seen->site_count, error);
    if (!code && !is_sound(seen)) code = bad(error);
    if (!code) *tracked = out;
    return code;
}

/* --- the launch ------------------------------------------------------------------------------- */

static int find_library(const char *worker, char *out, size_t out_size, struct assay_error *error)
{
    char folder[PATH_MAX];
    const char *given = getenv("ASSAY_TRACK_LIBRARY");
    if (given && given[0]) {
        if (!assay__file_exists(given) || strlen(given) >= out_size)
            return assay_error_set(error, ASSAY_ENOTFOUND, "ASSAY_TRACK_LIBRARY=%s is not a file",
                                   given);
        memcpy(out, given, strlen(given) + 1);
        return 0;
    }
    if (assay__path_folder(worker, folder, sizeof folder) ||
        assay__path_join(folder, LIBRARY, out, out_size))
        return assay_error_set(error, ASSAY_ELIMIT, "the worker's path is too long");
    if (assay__file_exists(out)) return 0;
    return assay_error_set(
        error, ASSAY_ENOTFOUND,
        "the allocation tracker " LIBRARY
        " is not next to the worker (%s): install it there or set ASSAY_TRACK_LIBRARY",
        folder);
}

int assay__track_preload(const char *worker, struct assay__arena *arena, const char **preload,
                         struct assay_error *error)
{
    /* They replace malloc themselves: two of them would hide allocations from each other. */
    static const char *const tools[] = {"vgpreload",         "valgrind",  "asan",  "tsan",
                                        "libtcmalloc_debug", "heaptrack", "memray"};
    char library[PATH_MAX];
    const char *variable = assay__preload_variable();
    if (!variable)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "the allocation tracker needs a system that can load a library in "
                               "front of the C library (Linux)");
    if (ASSAY_SANITIZED)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "this build of assay uses sanitizers, which replace malloc: use a "
                               "plain build to count allocations");
    const char *already = getenv(variable);
    for (size_t i = 0; already && i < sizeof tools / sizeof tools[0]; i++)
        if (strstr(already, tools[i]))
            return assay_error_set(error, ASSAY_EUNSUPPORTED,
                                   "another tool replaces malloc (%s=%.120s): run without it",
                                   variable, already);
    int code = find_library(worker, library, sizeof library, error);
    if (code) return code;
    if (strpbrk(library, " :"))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s does not support a library path with spaces or colons (%s)",
                               variable, library);
    *preload = assay__arena_printf(arena, "%s=%s%s%s", variable, library,
                                   already && already[0] ? ":" : "", already ? already : "");
    return *preload ? 0 : assay__no_memory(error);
}

static void shorten(struct assay__request *request, double p50_ns)
{
    double iterations = fmax(fmin(floor(SPENT_NS / p50_ns), ITERATIONS_MOST), ITERATIONS_LEAST);
    double prerun = fmin(floor(PRERUN_NS / p50_ns), PRERUN_MOST);
    if (prerun < PRERUN_LEAST) prerun = p50_ns >= SLOW_NS ? 1 : PRERUN_LEAST;
    if (iterations < ITERATIONS_GROWTH && p50_ns <= GROWTH_NS) iterations = ITERATIONS_GROWTH;
    request->goal.iterations = (int64_t)iterations;
    request->goal.time_s = 0;
    if (request->job.warmup < 0) request->job.warmup = (int64_t)prerun;
    request->job.allocations = true;
    /* other requests in flight would affect every mark */
    request->job.streams = request->goal.streams = 1;
    request->job.counters = false;
    request->job.layers = ASSAY_LAYERS_OFF;
    request->job.outputs = NULL;
    request->watch = NULL;
    request->store = NULL;
}

/* Over a short time a pool that fills looks like a leak. So apparent growth is checked in a second
 * launch with a longer pre-run and more inferences. If that launch fails, the first answer
 * remains. */
static void confirm(struct assay__request *own, struct assay__tracked **tracked, double *latency_ns)
{
    struct assay__outcome outcome;
    const struct assay__tracked *first = *tracked;
    double most = fmin(floor(CONFIRM_NS / *latency_ns), CONFIRM_MOST);
    double had = (double)own->goal.iterations + (double)own->job.warmup;
    if (!(first->seen.growth_low > 0 || first->seen.growth_high < 0) || !(most > 1.5 * had)) return;
    own->job.warmup = (int64_t)(most * 2 / 3);
    own->goal.iterations = (int64_t)(most / 3);
    if (assay__launch_run(own, &outcome) == 0 && outcome.tracked) {
        *tracked = outcome.tracked;
        *latency_ns = outcome.summary.p50;
    }
    assay__outcome_free(&outcome);
}

int assay__track_launch(const struct assay__request *request, double p50_ns,
                        struct assay__tracked **tracked, double *latency_ns, const char **reason)
{
    struct assay__request own = *request;
    struct assay_error error = {0};
    struct assay__outcome outcome;
    *tracked = NULL;
    *latency_ns = NAN;
    *reason = "";
    if (!(p50_ns > 0)) {
        *reason = "no measured launch succeeded";
        return 0;
    }
    int code = assay__track_preload(request->worker, request->arena, &own.preload, &error);
    if (code) {
        *reason = assay__arena_strdup(request->arena, error.message);
        return *reason ? 0 : ASSAY_ENOMEM;
    }
    shorten(&own, p50_ns);
    code = assay__launch_run(&own, &outcome);
    if (code == 0 && outcome.tracked) {
        *tracked = outcome.tracked;
        *latency_ns = outcome.summary.p50;
        confirm(&own, tracked, latency_ns);
    } else {
        *reason = assay__arena_printf(
            request->arena, "the launch with the allocation tracker failed: %s",
            outcome.reason[0] ? outcome.reason : "the worker sent no allocations");
    }
    assay__outcome_free(&outcome);
    return *reason ? 0 : ASSAY_ENOMEM;
}
