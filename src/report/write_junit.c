/* write_junit.c - trials and requirements as JUnit, for CI servers: a minimum that is not met is a
 * failure, one that cannot be judged an error; targets are not gates: a target that is not met is a
 * skipped case with the numbers. */
#include "report/formats.h"
#include "report/junit.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

static void put_case(struct assay__junit *junit, const char *classname,
                     const struct assay__requirement *row, bool target)
{
    enum assay__require_state state = target ? row->target_state : row->minimum_state;
    double required = target ? row->target : row->minimum;
    double ratio = target ? row->target_ratio : row->minimum_ratio;
    char name[64], message[300];
    if (state == ASSAY__REQUIRE_NONE) return;
    snprintf(name, sizeof name, "%s %s", row->info->label, target ? "target" : "minimum");
    snprintf(message, sizeof message, "%s is %s, %s %s: %s", row->info->label,
             assay__scaled(row->value, row->info->unit).text,
             row->info->floor ? "at least" : "at most",
             assay__scaled(required, row->info->unit).text, assay__scaled(ratio, "ratio").text);
    assay__junit_case(junit, classname, name, NAN);
    if (state == ASSAY__REQUIRE_UNKNOWN && target)
        assay__junit_skipped(junit, row->reason);
    else if (state == ASSAY__REQUIRE_UNKNOWN)
        assay__junit_error(junit, "unavailable", row->reason, NULL);
    else if (state == ASSAY__REQUIRE_NOT_MET && target) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "target not met (not a failure): %s%s%s", message,
                          row->unreachable[0] ? "; " : "", row->unreachable);
        assay__junit_skipped(junit, text.data ? text.data : message);
        assay__buf_free(&text);
    } else if (state == ASSAY__REQUIRE_NOT_MET)
        assay__junit_failure(junit, "requirement", message, row->advice);
    else
        assay__junit_output(junit, message);
    if (row->note[0] && state != ASSAY__REQUIRE_UNKNOWN) assay__junit_output(junit, row->note);
}

/* The run itself is a case too, so that a failed trial is visible even without a table. */
static int put_trial(struct assay__junit *junit, const struct assay_profile *profile,
                     const struct assay__trial *trial)
{
    struct assay__arena *arena = assay__arena_new();
    const struct assay__require_table *table = NULL;
    struct assay__judgement judgement = {.count = 0};
    const char *label = trial->label;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    if (!label[0]) label = trial->target.device;
    int code = arena ? assay__require_of(trial, arena, &table) : ASSAY_ENOMEM;
    assay__junit_case(junit, label, "run", p50 ? p50->value : (double)NAN);
    if (trial->state != ASSAY__TRIAL_OK)
        assay__junit_failure(
            junit, assay__trial_state_name(trial->state),
            trial->reason && trial->reason[0] ? trial->reason : "the run did not finish", NULL);
    if (code == 0 && table && trial->metrics)
        code = assay__require_judge(profile, trial, table, arena, &judgement);
    for (size_t i = 0; code == 0 && table && trial->metrics && i < 2 * judgement.count; i++)
        put_case(junit, label, &judgement.rows[i / 2], i % 2 == 1);
    assay__arena_free(arena);
    return code;
}

int assay__write_junit(struct assay__study *study, const struct assay_report_options *options,
                       struct assay__buf *out, struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    (void)options;
    struct assay__junit junit;
    char suite[200];
    int code = 0;
    snprintf(suite, sizeof suite, "assay %.40s %.120s", profile->command, profile->models[0]->name);
    assay__junit_begin(&junit, out, suite);
    assay__junit_property(&junit, "assay", profile->assay_version);
    assay__junit_property(&junit, "model", profile->models[0]->name);
    assay__junit_property(&junit, "created", profile->created);
    for (size_t i = 0; i < profile->trial_count && code == 0; i++)
        code = put_trial(&junit, profile, &profile->trials[i]);
    assay__junit_end(&junit);
    return code ? assay_error_set(error, code, "out of memory while writing the report") : 0;
}
