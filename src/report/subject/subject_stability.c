/* subject_stability.c - how far the latency can be trusted, and what was assumed about the
 * workload. */
#include "report/subject/subject.h"

#include <string.h>

static const struct {
    const char *verdict, *text;
    enum assay__badge badge;
} words[] = {{"stable", "stable", ASSAY__BADGE_PASS},
             {"unstable", "UNSTABLE", ASSAY__BADGE_FAIL},
             {"too-few", "TOO FEW samples for a verdict", ASSAY__BADGE_WARN}};

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__stability *s = &trial->stability;
    assay__doc_section(doc, "stability", "Stability", NULL, ASSAY__TAB_EVIDENCE);
    if (s->verdict && *s->verdict) {
        assay__doc_fact(doc, "verdict");
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strcmp(s->verdict, words[i].verdict) == 0)
                assay__doc_item(doc, NULL, assay__datum_badge(words[i].text, words[i].badge));
        if (s->more_iterations > 0)
            assay__doc_item_after(doc, "about", assay__datum_count((double)s->more_iterations),
                                  s->more_iterations == 1
                                      ? "more iteration would have met the goal"
                                      : "more iterations would have met the goal");
        assay__doc_points(doc, s->reasons, s->reason_count);
    } else if (assay__trial_metric(trial, "latency.p50")) {
        assay__doc_note(doc, "No verdict: the run did not finish, or there are no samples.");
    }
    assay__doc_end(doc);
    assay__doc_section(doc, "workload", "Workload", "assumptions", ASSAY__TAB_EVIDENCE);
    assay__doc_points(doc, trial->notes, trial->note_count);
    const char *hint = doc->hint && trial->note_count ? doc->hint("workload") : NULL;
    if (hint) assay__doc_note(doc, "To change it: %s.", hint);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_stability = {"stability", ASSAY__OF_TRIAL, build, {{0}}};
