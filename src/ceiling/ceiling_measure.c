/* ceiling_measure.c - one measurement of all ceilings: teams, time, rows, and what disturbed it.
 * Each kernel on each team gets the same share of the time; what does not fit is unavailable and
 * says so. */
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/vec.h"
#include "ceiling/ceiling_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define BUDGET_S 17.0
#define BUSY 3 /* this many times, if other work slows it down: better late than partial */
#define SLOT_MOST_NS 200000000u
#define SLOT_LEAST_NS 20000000u

/* --- rows ------------------------------------------------------------------------------------- */

const char *assay__ceiling_unit(enum assay__ceiling_kind kind, const char *type)
{
    if (kind == ASSAY__CEILING_LATENCY) return "s";
    if (kind == ASSAY__CEILING_BANDWIDTH) return "B/s";
    return type && strcmp(type, "int8") == 0 ? "OP/s" : "FLOP/s";
}

struct assay__ceiling *assay__ceiling_row(struct assay__ceiling_rows *rows,
                                          const struct assay__ceiling_options *options,
                                          const struct assay__ceiling *what, int *code)
{
    *code = ASSAY_ENOMEM;
    if (!what->name) return NULL;
    *code = 0;
    if (options && options->only && strncmp(what->name, options->only, strlen(options->only)) != 0)
        return NULL;
    *code = assay__vec_grow((void **)&rows->items, &rows->capacity, rows->count + 1,
                            sizeof *rows->items);
    const struct assay__ceiling *had = assay__ceilings_find(options ? options->earlier : NULL,
                                                            what->name);
    if (!*code && had && had->state != ASSAY_UNAVAILABLE) {
        rows->items[rows->count++] = *had;
        return NULL;
    }
    if (!*code && options && options->progress && options->progress(options->context, what->name))
        *code = ASSAY_EINTERRUPTED;
    if (*code) return NULL;
    struct assay__ceiling *row = &rows->items[rows->count++];
    *row = *what;
    row->unit = assay__ceiling_unit(what->kind, what->type);
    row->state = ASSAY_UNAVAILABLE;
    row->source = "none";
    row->note = row->simd = row->variant = "";
    row->type = what->type ? what->type : "";
    row->level = what->level ? what->level : "";
    row->pattern = what->pattern ? what->pattern : "";
    row->value = row->low = row->median = row->high = NAN;
    row->clock_before_hz = row->clock_after_hz = NAN;
    return row;
}

int assay__ceilings_take(struct assay__arena *arena, struct assay__ceiling_rows *rows, bool stopped,
                         struct assay__ceilings *set)
{
    set->measured_at = assay__arena_strdup(arena, assay__utc_now().text);
    set->rows = assay__arena_array(arena, rows->count + 1, sizeof *set->rows);
    if (!set->rows || !set->measured_at) return ASSAY_ENOMEM;
    if (rows->count) memcpy(set->rows, rows->items, rows->count * sizeof *set->rows);
    set->count = rows->count;
    for (size_t i = 0; i < set->count && stopped; i++) /* the last one may have been started */
        if (set->rows[i].state == ASSAY_UNAVAILABLE && !set->rows[i].note[0])
            set->rows[i].note = "interrupted";
    return 0;
}

bool assay__survey_late(struct assay__survey *survey, struct assay__ceiling *row)
{
    if (assay__now_ns() <= survey->deadline_ns) return false;
    survey->late = true;
    if (row->state == ASSAY_UNAVAILABLE)
        row->note = "not reached: the time for the measurement ran out";
    return true;
}

void assay__survey_measured(struct assay__ceiling *row, const struct assay__rate *rate,
                            double per_step)
{
    row->low = rate->low * per_step;
    row->median = rate->median * per_step;
    row->high = rate->high * per_step;
    row->value = row->high;
    row->repeats = rate->repeats;
    row->clock_before_hz = rate->clock_before_hz;
    row->clock_after_hz = rate->clock_after_hz;
    row->state = ASSAY_MEASURED;
    row->source = "clock";
}

double assay__ceiling_spread(const struct assay__ceiling *row)
{
    if (row->state == ASSAY_UNAVAILABLE || !(row->value > 0)) return NAN;
    return (row->high - row->low) / row->value;
}

const struct assay__ceiling *assay__ceilings_find(const struct assay__ceilings *set,
                                                  const char *name)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (strcmp(set->rows[i].name, name) == 0) return &set->rows[i];
    return NULL;
}

/* --- what disturbed it ------------------------------------------------------------------------ */

static double own_cpu_s(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return NAN;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void note_disturbance(struct assay__arena *arena, struct assay__ceilings *set,
                             const struct assay__disturbance *before,
                             const struct assay__disturbance *after, double own_s)
{
    set->steal_share = set->other_share = NAN;
    double busy = after->cpu_busy_s - before->cpu_busy_s;
    double steal = after->cpu_steal_s - before->cpu_steal_s;
    double whole = busy + after->cpu_idle_s - before->cpu_idle_s;
    bool steal_known = before->steal_known && after->steal_known;
    if (steal_known) whole += steal;
    if (!before->cpu_known || !after->cpu_known || !(whole > 0)) return;
    if (steal_known) set->steal_share = steal / whole;
    if (own_s >= 0) set->other_share = busy > own_s ? (busy - own_s) / whole : 0;
    const char *note = NULL;
    if (set->other_share > 0.02 || set->steal_share > 0.02)
        note = assay__arena_printf(arena,
                                   "other work took %.0f %% of the machine's CPU time%s: the best "
                                   "repeats are kept, all-core values may still be too low",
                                   100 * ((set->other_share > 0 ? set->other_share : 0) +
                                          (set->steal_share > 0 ? set->steal_share : 0)),
                                   set->steal_share > 0.02 ? " (the hypervisor's share included)"
                                                           : "");
    if (before->cgroup_known && after->cgroup_known &&
        after->cgroup_throttled_ns > before->cgroup_throttled_ns)
        note = assay__arena_printf(
            arena, "%s%sthe container's CPU limit stopped this process for %.2f s",
            note ? note : "", note ? "; " : "",
            (double)(after->cgroup_throttled_ns - before->cgroup_throttled_ns) / 1e9);
    if (note) set->note = note;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int make_teams(struct assay__survey *survey)
{
    struct assay__cpu_place *places = calloc(ASSAY__CPU_PLACES, sizeof *places);
    if (!places) return assay__no_memory(survey->error);
    size_t count = assay__cpu_places(places, ASSAY__CPU_PLACES, &survey->l3_count);
    survey->teams[0].name = "one-core";
    survey->teams[1].name = "all-cores";
    int code = assay__thread_team_new(places, 1, &survey->teams[0].team, survey->error);
    if (!code) code = assay__thread_team_new(places, count, &survey->teams[1].team, survey->error);
    free(places);
    return code;
}

static void plan_time(struct assay__survey *survey, uint64_t begin)
{
    bool given = survey->options && survey->options->budget_s > 0;
    double budget_s = given ? survey->options->budget_s : BUDGET_S;
    size_t slots = assay__survey_compute_slots(survey) + assay__survey_memory_slots(survey);
    /* a quarter is reserved for touching memory, building chains, reading clocks and finding step
     * counts */
    double slot = 0.75 * budget_s * 1e9 / (double)(slots ? slots : 1);
    survey->slot_ns = slot > SLOT_MOST_NS    ? SLOT_MOST_NS
                      : slot < SLOT_LEAST_NS ? SLOT_LEAST_NS
                                             : (uint64_t)slot;
    survey->deadline_ns = begin + (uint64_t)((given ? 1 : BUSY) * budget_s * 1e9);
}

int assay__ceilings_possible(struct assay_error *error)
{
    const char *root = getenv("ASSAY_FSROOT");
    if (!root || !root[0]) return 0;
    return assay_error_set(error, ASSAY_EUNSUPPORTED,
                           "ASSAY_FSROOT describes another machine, which cannot be measured");
}

int assay__ceilings_measure(struct assay__arena *arena, const struct assay__machine *machine,
                            const struct assay__ceiling_options *options,
                            struct assay__ceilings **out, struct assay_error *error)
{
    struct assay__survey survey = {
        .arena = arena, .machine = machine, .options = options, .error = error};
    struct assay__ceilings *set = assay__arena_alloc(arena, sizeof *set);
    struct assay__disturbance before, after;
    uint64_t begin = assay__now_ns();
    double own_s = own_cpu_s();
    *out = NULL;
    int code = assay__ceilings_possible(error);
    if (code) return code;
    if (!set) return assay__no_memory(error);
    set->note = set->device = set->hardware = "";
    survey.features = assay__cpu_features();
    assay__disturbance_read(&before);
    code = make_teams(&survey);
    if (code) goto out;
    plan_time(&survey, begin);
    code = assay__survey_compute(&survey);
    if (!code) code = assay__survey_levels(&survey);
    bool stopped = code == ASSAY_EINTERRUPTED;
    if (stopped) assay_error_set(error, code, "interrupted while measuring ceilings");
    set->key = assay__ceilings_key(arena, machine);
    set->pinned = assay__thread_team_pinned(survey.teams[0].team) &&
                  assay__thread_team_pinned(survey.teams[1].team);
    set->complete = !survey.late && !stopped;
    if ((code && !stopped) || !set->key ||
        assay__ceilings_take(arena, &survey.rows, stopped, set)) {
        code = assay__no_memory(error);
        goto out;
    }
    assay__disturbance_read(&after);
    note_disturbance(arena, set, &before, &after, own_cpu_s() - own_s);
    if (!set->note[0] && code) set->note = "interrupted: only what was measured until then";
    set->duration_s = (double)(assay__now_ns() - begin) / 1e9;
    *out = set;
out:
    assay__thread_team_free(survey.teams[0].team);
    assay__thread_team_free(survey.teams[1].team);
    free(survey.rows.items);
    return code;
}
