/* subject_unavailable.c - the metrics that are not known, by reason: each reason once, and reasons
 * that differ only in their numbers as one ("needs 64 to 662 samples"). A report about one subject
 * lists what belongs to it and counts the rest. */
#include "report/subject/subject.h"

#include "report/figure/graph_tree.h"

#include <string.h>

enum { REASONS_MOST = 100 }; /* an untrusted profile may have any number */

struct group {
    const char *reason, *last_reason; /* the first, and the last similar one */
    struct assay__buf names;          /* "latency.transfer_in, .execute" */
    const char *last;                 /* the name that was added last */
};

/* What a report about one subject lists: names with these prefixes. */
static const struct {
    const char *command, *prefixes[8];
} subjects[] = {
    {"power",
     {"power.", "energy.", "efficiency.", "hardware.", "sensor.", "score.", "overhead.sensors"}},
    {"memory", {"memory.", "cache.", "overhead.allocations"}},
    {"counters", {"hardware.", "cache.", "memory.bandwidth", "overhead.counters"}},
};

static bool belongs(const char *command, const char *name)
{
    bool alone = false;
    for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
        if (strcmp(subjects[s].command, command) != 0) continue;
        alone = true;
        for (size_t i = 0; i < 8 && subjects[s].prefixes[i]; i++)
            if (strncmp(name, subjects[s].prefixes[i], strlen(subjects[s].prefixes[i])) == 0)
                return true;
    }
    return !alone;
}

/* Names with the same first part are abbreviated: "latency.transfer_in, .execute". */
static void add_name(struct group *group, const char *name)
{
    const char *dot = strchr(name, '.');
    size_t family = dot ? (size_t)(dot - name) : strlen(name);
    const char *last = group->last;
    bool same = last && dot && strncmp(last, name, family) == 0 && last[family] == '.';
    if (last) assay__buf_puts(&group->names, ", ");
    assay__buf_puts(&group->names, same ? dot : name);
    group->last = name;
}

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* The same words; numbers may differ. */
static bool is_alike(const char *a, const char *b)
{
    while (*a && *b) {
        size_t in_a = digits_at(a), in_b = digits_at(b);
        if (!in_a != !in_b || (!in_a && *a != *b)) return false;
        a += in_a ? in_a : 1;
        b += in_b ? in_b : 1;
    }
    return !*a && !*b;
}

/* Merges both: a number that differs becomes a range. */
static const char *joined(struct assay__doc *doc, const char *a, const char *b)
{
    struct assay__buf text = {0};
    while (*a && *b) {
        size_t in_a = digits_at(a), in_b = digits_at(b);
        assay__buf_add(&text, a, in_a ? in_a : 1);
        if (in_a && (in_a != in_b || strncmp(a, b, in_a) != 0))
            assay__buf_printf(&text, " to %.*s", (int)in_b, b);
        a += in_a ? in_a : 1;
        b += in_b ? in_b : 1;
    }
    return assay__doc_take(doc, &text);
}

const char *assay__reason_above(struct assay__doc *doc, const struct assay__trial *trial,
                                const struct assay_metric *metric)
{
    enum { LONG = 80 }; /* characters; shorter ones are repeated */
    const struct assay_profile *profile = doc->study->profile;
    if (doc->of_trial == doc->trial || strlen(metric->note) < LONG) return NULL;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *shown = &profile->trials[i];
        if (shown == trial || shown->id != doc->trial) continue;
        const struct assay_metric *same = assay_metrics_get(shown->metrics, metric->name);
        if (same && same->state == ASSAY_UNAVAILABLE && strcmp(same->note, metric->note) == 0)
            return *shown->label ? assay__doc_printf(doc, "as for %s", shown->label)
                                 : assay__doc_printf(doc, "as for trial %d", shown->id);
    }
    return NULL;
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct group groups[REASONS_MOST + 1] = {0};
    size_t count = 0, others = 0, missing = 0;
    if (!assay__trial_metric(trial, "latency.p50")) return;
    for (size_t i = 0; i < assay_metrics_count(trial->metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(trial->metrics, i);
        size_t g = 0;
        if (m->state != ASSAY_UNAVAILABLE) continue;
        if (!belongs(doc->study->profile->command, m->name)) {
            others++;
            continue;
        }
        const char *reason = assay__reason_above(doc, trial, m);
        if (!reason) reason = assay__doc_reason(doc, m->name, m->note);
        if (!*reason) reason = "no reason was recorded";
        while (g < count && g < REASONS_MOST && !is_alike(groups[g].reason, reason))
            g++;
        if (g == REASONS_MOST) reason = "other reasons (see JSON or CSV)";
        if (g == count) groups[count++].reason = reason;
        groups[g].last_reason = reason;
        add_name(&groups[g], m->name);
        missing++;
    }
    assay__doc_section(
        doc, "unavailable", "Not available",
        assay__doc_printf(doc, "%zu metric%s", missing, assay__plural((double)missing)),
        ASSAY__TAB_EVIDENCE | ASSAY__SECTION_DETAIL);
    /* A long list, unless the report is about one subject. */
    bool folded = belongs(doc->study->profile->command, "");
    if (folded) assay__doc_fold(doc, "not-available", "Each metric, and why", NULL);
    for (size_t i = 0; i < count; i++)
        assay__doc_point(doc, "%s: %s", assay__doc_take(doc, &groups[i].names),
                         joined(doc, groups[i].reason, groups[i].last_reason));
    if (trial->layers.count && assay__graph_missing(trial))
        assay__doc_point(doc, "graph of the network: %s", assay__graph_missing(trial));
    if (folded) assay__doc_end(doc);
    if (others)
        assay__doc_note(doc, "%zu more metrics of other subjects are not available.", others);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_unavailable = {
    "unavailable", ASSAY__OF_TRIAL, build, {{0}}};
