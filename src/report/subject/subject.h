/* subject.h - one part of the report of a profile: layers, a comparison, power. A subject is one
 * file with one `struct assay__subject` and one row in subjects.h. It builds a document from the
 * analysis and knows no format; it adds nothing if the profile has nothing about it. */
#ifndef ASSAY_REPORT_SUBJECT_SUBJECT_H
#define ASSAY_REPORT_SUBJECT_SUBJECT_H

#include "judge/study.h"
#include "judge/sweep.h"
#include "report/doc/doc.h"

#include <assay/report.h>

enum assay__subject_scope {
    ASSAY__OF_PROFILE, /* once; trial is the main one, or NULL */
    ASSAY__OF_TRIAL,   /* for the main trial, and folded for each of the others */
};

/** A table that CSV can show; its name is known even if a profile has none. */
struct assay__subject_table {
    const char *name;
    const struct assay__column *columns;
    size_t count;
};
#define ASSAY__SUBJECT_TABLES 4

struct assay__subject {
    const char *id; /* of its section */
    enum assay__subject_scope scope;
    void (*build)(struct assay__doc *doc, const struct assay__trial *trial); /* of doc->study */
    struct assay__subject_table tables[ASSAY__SUBJECT_TABLES];               /* name NULL: none */
};

/** Only "" | "basic" | "detailed" are known. */
bool assay__detail_is_known(const char *detail);

/** Builds the subject of that id. */
void assay__add_subject(struct assay__doc *doc, const char *id, const struct assay__trial *trial);

/** What a trial ran on, every option it was given, and its inputs, as facts. */
void assay__add_options(struct assay__doc *doc, const struct assay__trial *trial);

/** "as for LABEL" if the trial shown in full lacks the metric for the same long reason, so that
 * people read it once; else NULL (subject_unavailable.c). */
const char *assay__reason_above(struct assay__doc *doc, const struct assay__trial *trial,
                                const struct assay_metric *metric);

/* --- the short form of a run's report (brief_page.c), and what it shares with the summary ----- */

/** What went wrong, where the time goes, and the key numbers. trial may be NULL. */
void assay__add_headline(struct assay__doc *doc, const struct assay__trial *trial);
/** The mark of how far a trial's numbers can be trusted (quality_mark.c). */
enum assay__badge assay__trust_badge(enum assay__trust trust);
/** … in the page's header, with the reasons; of a comparison or a sweep that of all its trials. */
void assay__add_quality(struct assay__doc *doc, const struct assay__trial *trial);
/** The headline of several trials; a comparison's also says how many of its runs were noisy. */
const char *assay__claim(struct assay__doc *doc, const char *claim);
struct assay__diff;
/** Verdict and mark of profiles side by side. */
void assay__add_diff_verdict(struct assay__doc *doc, const struct assay__diff *diff,
                             const char *claim);
/** The same with the first reason and the number of samples, as a fact; items may follow. */
void assay__add_trust(struct assay__doc *doc, const struct assay__trial *trial);
/** The finding that gained the most, or could, in a sentence. */
void assay__add_first_finding(struct assay__doc *doc, const struct assay_profile *profile);
/** Engine, device and chosen options; batch and inputs: two facts. */
void assay__add_target(struct assay__doc *doc, const struct assay__trial *trial);
/** What is fed back and why, what would provide the real-time factor, and states that did not stay
 * finite (subject_state.c). */
void assay__add_state(struct assay__doc *doc, const struct assay__trial *trial);
/** A line if the outputs did not stay finite: the inputs may have been unsuitable. */
void assay__warn_outputs(struct assay__doc *doc, const struct assay__trial *trial);
/** One screen of a run: headline, percentiles, quality, operators, the longest layers. top: rows of
 *  the layers; 0: few. */
void assay__add_brief(struct assay__doc *doc, const struct assay__trial *trial, int top);

/** The whole document of a profile; assay__doc_free it. The study must outlive it. 0 or
 *  ASSAY_ENOMEM. */
int assay__report_document(struct assay__study *study, const struct assay_report_options *options,
                           struct assay__doc **doc, struct assay_error *error);

/* --- findings: of a saved profile and of `assay advise` (finding_list.c) ---------------------- */

#define ASSAY__FINDING_COLUMNS 23
extern const struct assay__column assay__finding_columns[ASSAY__FINDING_COLUMNS];

/** One row per finding, for programs. */
void assay__add_finding_table(struct assay__doc *doc, const struct assay_profile *profile);
/** "about " before a potential that rests on an assumed cost; "". */
const char *assay__finding_about(const struct assay__finding *finding);
/** What came of it, or could: "verified: 1.25 × as fast, …", "not tried; at most …". */
const char *assay__finding_outcome(struct assay__doc *doc, const struct assay__finding *finding);
/** What was found, what to change, and what it gained or could gain: an item of a list. */
void assay__add_finding_point(struct assay__doc *doc, const struct assay__finding *finding);
/** Evidence, change, potential, and, if it was tried, what was measured. */
void assay__add_finding(struct assay__doc *doc, const struct assay__trial *trial,
                        const struct assay__finding *finding);
/** "open", "verified" or "withdrawn"; anything else counts as open. */
const char *assay__finding_state(const struct assay__finding *finding);

/* --- the rows of a sweep and of a tuning (point_list.c) --------------------------------------- */

/** The columns, with one column per axis inserted after columns[label], which names the row in CSV.
 *  An axis with the same value in every trial is hidden from people … */
const struct assay__column *assay__point_columns(struct assay__doc *doc,
                                                 const struct assay__column *columns, size_t *count,
                                                 size_t label, const struct assay__axes *axes);
/** … and stated once, as a fact. */
void assay__point_common(struct assay__doc *doc, const struct assay__axes *axes);

struct assay__fault {
    const char *kind; /* "not run"; NULL: the row is fine */
    const char *label, *reason;
};
/** A fact for each reason why rows did not run or are not recommended, with the rows that have it.
 */
void assay__point_faults(struct assay__doc *doc, const struct assay__fault *faults, size_t count);

/* --- the judgement of a trial (review_page.c) ------------------------------------------------- */

#define ASSAY__REQUIREMENT_COLUMNS 15
extern const struct assay__column assay__requirement_columns[ASSAY__REQUIREMENT_COLUMNS];

/** The verdict, the table of requirements and notes on them. */
void assay__add_requirements(struct assay__doc *doc, const struct assay__trial *trial,
                             const struct assay__judgement *judgement);
void assay__add_score(struct assay__doc *doc, const struct assay__score *score);
/** Sentences under a heading: at most `most`; "none found" if there are none. */
void assay__add_sentences(struct assay__doc *doc, const char *title, const char *remark,
                          const struct assay__sentence_list *list, size_t most);
/** The basic or the detailed report of a trial, which shows this instead of the whole. */
void assay__add_review(struct assay__doc *doc, const struct assay__trial *trial, bool detailed);

/** What was allocated, of a trial of which nothing else need be known: also a process of a traced
 *  program (subject_allocations.c). */
void assay__add_allocations(struct assay__doc *doc, const struct assay__trial *trial);

#endif
