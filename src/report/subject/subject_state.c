/* subject_state.c - what one inference passes on to the next, and how fast that is for a stream:
 * the outputs that are fed back and why, whether the states stayed finite, the real-time factor, or
 * what to specify to get it. */
#include "report/subject/subject.h"

#include <inttypes.h>
#include <math.h>

static const char *reason_of(const struct assay__feedback *feedback)
{
    return feedback->found == ASSAY__FEEDBACK_NAME    ? "found by name"
           : feedback->found == ASSAY__FEEDBACK_GIVEN ? "as requested"
           : feedback->found == ASSAY__FEEDBACK_GRAPH ? "found in the graph"
           : feedback->found == ASSAY__FEEDBACK_SHAPE ? "found by shape"
                                                      : "";
}

/* "512 samples at 16 kHz: --seconds-per-inference 0.032 gives the real-time factor" */
static void add_sound(struct assay__doc *doc, const struct assay__real_time *time)
{
    const char *hint = doc->hint ? doc->hint("realtime.") : NULL;
    if (!hint || isfinite(time->seconds) || time->sound_samples < 1 || !(time->sound_rate > 0))
        return;
    assay__doc_fact(doc, "real time");
    assay__doc_item_text(doc, "%" PRId64 " samples at %g kHz: %s %.6g gives the real-time factor",
                         time->sound_samples, time->sound_rate / 1000, hint,
                         (double)time->sound_samples / time->sound_rate);
}

static void warn_nonfinite(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_metric *broken = assay__trial_metric(trial, "state.nonfinite");
    const char *hint = doc->hint ? doc->hint("state.") : NULL;
    if (broken && broken->value > 0)
        assay__doc_warn(doc,
                        "The state does not stay finite: %.0f of its numbers are infinite or NaN "
                        "after measuring. Times may differ with real inputs%s%s%s.",
                        broken->value, hint ? "; " : "", hint ? hint : "",
                        hint ? " feeds nothing back" : "");
}

void assay__warn_outputs(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_metric *broken = assay__trial_metric(trial, "outputs.nonfinite");
    const char *hint = doc->hint ? doc->hint("inputs") : NULL;
    if (broken && broken->value > 0)
        assay__doc_warn(doc, "%.0f output value%s infinite or NaN with these inputs%s%s%s.",
                        broken->value, broken->value == 1 ? " is" : "s are", hint ? "; " : "",
                        hint ? hint : "", hint ? " gives others" : "");
}

void assay__add_state(struct assay__doc *doc, const struct assay__trial *trial)
{
    enum { SHOWN = 6 };
    assay__doc_fact(doc, "state");
    for (size_t i = 0; i < trial->feedback_count && i < SHOWN; i++) {
        const char *why = reason_of(&trial->feedback[i]);
        assay__doc_item_text(doc, "%s → %s%s%s%s", trial->feedback[i].output,
                             trial->feedback[i].input, *why ? " (" : "", why, *why ? ")" : "");
    }
    if (trial->feedback_count > SHOWN)
        assay__doc_item_text(doc, "and %zu more", trial->feedback_count - SHOWN);
    add_sound(doc, &trial->real_time);
    warn_nonfinite(doc, trial);
}

static const struct assay__column columns[] = {
    {.key = "trial"},
    {"output", "output", .flags = ASSAY__COLUMN_NAME},
    {"input", "is the next", .flags = ASSAY__COLUMN_NAME},
    {.key = "found", .title = "found by"},
};

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    if (!trial->feedback_count) return;
    assay__doc_section(doc, "state", "State", "what one inference passes on to the next",
                       ASSAY__TAB_EVIDENCE | ASSAY__SECTION_DETAIL);
    struct assay__table *t = assay__doc_table(doc, "state", "Outputs that are fed back", columns);
    for (size_t i = 0; i < trial->feedback_count; i++) {
        const struct assay__feedback *feedback = &trial->feedback[i];
        assay__table_row(t, 0, NULL);
        assay__table_number(t, trial->id, ASSAY_MEASURED);
        assay__table_texts(t, feedback->output, feedback->input,
                           assay__enum_name(&assay__feedback_names, feedback->found));
    }
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_state = {
    "state", ASSAY__OF_TRIAL, build, {{"state", ASSAY__ARRAY(columns)}}};
