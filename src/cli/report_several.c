/* report_several.c - `assay report` with several profiles. Each is opened as untrusted input; one
 * that cannot be read ends the command with a line that names it. */
#include "cli/report_several.h"

#include "cli/render_options.h"

#include "judge/diff.h"
#include "base/file.h"
#include "report/report_diff.h"
#include "run/arm/recover.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *trial_of(const struct assay__option_list *trials, size_t index)
{
    return trials->count == 0 ? NULL : trials->items[trials->count == 1 ? 0 : index];
}

static int check(const struct assay__invocation *invocation,
                 const struct assay__render_options *render,
                 const struct assay__option_list *trials)
{
    size_t count = invocation->argument_count;
    if (count > ASSAY__DIFF_MOST) {
        assay__say("report: at most %d profiles stand side by side, not %zu", ASSAY__DIFF_MOST,
                   count);
        return ASSAY__EXIT_USAGE;
    }
    const char *format = render->json ? "json" : render->format ? render->format : "text";
    const struct assay__format *row = assay__format_find(format);
    if ((!row->walk && strcmp(format, "json") != 0) || render->detail) {
        assay__say("report: --detail and the formats junit and model-explorer are for one profile");
        return ASSAY__EXIT_USAGE;
    }
    if (trials->count > 1 && trials->count != count) {
        assay__say(
            "report: --trial is given %zu times for %zu profiles; give it once, or once for each",
            trials->count, count);
        return ASSAY__EXIT_USAGE;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            const char *one = trial_of(trials, k), *two = trial_of(trials, i);
            bool same_trial = (!one && !two) || (one && two && strcmp(one, two) == 0);
            if (!same_trial || !same_file(invocation->arguments[k], invocation->arguments[i]))
                continue;
            assay__say(
                "report: '%s' is given twice: a profile does not differ from itself (--trial "
                "once for each compares its trials)",
                invocation->arguments[i]);
            return ASSAY__EXIT_USAGE;
        }
    return 0;
}

static int open_all(const struct assay__invocation *invocation, struct assay_profile **profiles,
                    struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < invocation->argument_count && !code; i++) {
        code = assay_profile_open(invocation->arguments[i], &profiles[i], error);
        if (!code && assay__profile_recover(profiles[i]))
            code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    }
    return code;
}

static int make(const struct assay__invocation *invocation, struct assay_profile **profiles,
                const struct assay__option_list *trials, const struct assay_report_options *options,
                struct assay__buf *out, struct assay_error *error)
{
    struct assay__diff_input inputs[ASSAY__DIFF_MOST] = {{0}};
    struct assay__arena *arena = assay__arena_new();
    struct assay__diff diff;
    size_t count = invocation->argument_count;
    int code = arena ? 0 : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        inputs[i] = (struct assay__diff_input){profiles[i], invocation->arguments[i],
                                               trial_of(trials, i)};
    if (!code) code = assay__diff(inputs, count, arena, &diff, error);
    if (!code) code = assay__diff_report(&diff, options, out, error);
    assay__arena_free(arena);
    return code;
}

int assay__report_diff(const struct assay__invocation *invocation,
                       const struct assay__render_options *render,
                       const struct assay__option_list *trials, const char *output)
{
    struct assay_profile *profiles[ASSAY__DIFF_MOST] = {0};
    struct assay_report_options options = assay__report_options_of(render, output != NULL);
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int status = check(invocation, render, trials);
    if (status) return status;
    int code = open_all(invocation, profiles, &error);
    if (!code) code = make(invocation, profiles, trials, &options, &out, &error);
    if (!code && output) code = assay__file_write(output, out.data, out.length, &error);
    if (code) {
        assay__fail(code, &error);
        status = ASSAY__EXIT_FAILED;
    } else if (!output) {
        status = assay__write_stdout(out.data, out.length);
    }
    assay__buf_free(&out);
    for (size_t i = 0; i < ASSAY__DIFF_MOST; i++)
        assay_profile_close(profiles[i]);
    return status;
}
