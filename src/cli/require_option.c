/* require_option.c - reads --require, finds its table and checks a profile against it. */
#include "cli/require_option.h"

#include "base/text.h"

#include <math.h>

int assay__require_option(const char *command, const char *name, struct assay__arena **arena,
                          const struct assay__require_table **table)
{
    struct assay_error error = {0};
    *arena = assay__arena_new();
    int code = *arena ? assay__require_find(*arena, name, table, &error) : ASSAY_ENOMEM;
    if (code == 0) return 0;
    assay__say("%s: --require: %s", command,
               error.message[0] ? error.message : assay_error_text(code));
    assay__arena_free(*arena);
    *arena = NULL;
    return code == ASSAY_ENOMEM ? ASSAY__EXIT_FAILED : ASSAY__EXIT_USAGE;
}

int assay__require_conclude(void *context, struct assay_profile *profile, size_t trial)
{
    return assay__require_apply(profile, &profile->trials[trial], context);
}

static int trial_status(const struct assay_profile *profile, const struct assay__trial *trial,
                        struct assay__arena *arena)
{
    const struct assay__require_table *table = NULL;
    struct assay__judgement judgement;
    struct assay__buf rows = {0};
    int code = assay__require_of(trial, arena, &table);
    if (code == 0 && table) code = assay__require_judge(profile, trial, table, arena, &judgement);
    if (code) return assay__fail(ASSAY_ENOMEM, NULL);
    bool no = table && judgement.minimum == ASSAY__REQUIRE_NOT_MET;
    bool unknown = table && judgement.minimum == ASSAY__REQUIRE_UNKNOWN;
    if (!no && !unknown) return ASSAY__EXIT_DONE;
    /* "compute 21.0 GFLOP/s, at least 8.00 TFLOP/s"; only the name if it is unknown */
    for (size_t i = 0; i < judgement.count; i++) {
        const struct assay__requirement *row = &judgement.rows[i];
        if (row->minimum_state != judgement.minimum) continue;
        assay__buf_printf(&rows, "%s%s", rows.length ? "; " : "", row->info->label);
        if (no)
            assay__buf_printf(&rows, " %s, %s %s", assay__scaled(row->value, row->info->unit).text,
                              row->info->floor ? "at least" : "at most",
                              assay__scaled(row->minimum, row->info->unit).text);
    }
    assay__say(no ? "the minimum of '%s' is not met: %s"
                  : "the minimum of '%s' cannot be judged, the report says why: %s",
               table->name, assay__buf_text(&rows));
    assay__buf_free(&rows);
    return no ? ASSAY__EXIT_NO : ASSAY__EXIT_NO_VERDICT;
}

int assay__require_status(const struct assay_profile *profile)
{
    int worst = ASSAY__EXIT_DONE;
    struct assay__arena *arena = assay__arena_new();
    if (!arena) return assay__fail(ASSAY_ENOMEM, NULL);
    for (size_t i = 0; i < profile->trial_count; i++) {
        int status = trial_status(profile, &profile->trials[i], arena);
        /* in this order: out of memory, "no", "no verdict" */
        if (status == ASSAY__EXIT_FAILED || worst == ASSAY__EXIT_DONE ||
            (worst == ASSAY__EXIT_NO_VERDICT && status == ASSAY__EXIT_NO))
            worst = status == ASSAY__EXIT_DONE ? worst : status;
    }
    assay__arena_free(arena);
    return worst;
}
