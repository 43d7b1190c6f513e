/* subject.h - one part of the report of a profile: layers, a comparison, power. A subject is one
 * file with one `struct assay__subject` and one row in subjects.h. It builds a document from the
 * analysis and knows no format; it adds nothing where the profile holds nothing of it. */
#ifndef ASSAY_REPORT_SUBJECT_SUBJECT_H
#define ASSAY_REPORT_SUBJECT_SUBJECT_H

#include "judge/study.h"
#include "report/doc/doc.h"

#include <assay/report.h>

enum assay__subject_scope {
    ASSAY__OF_PROFILE, /* once; trial is the main one, or NULL */
    ASSAY__OF_TRIAL,   /* of the main trial, and folded away of each other */
};

/** A table that CSV can show: known by its name also where a profile has none. */
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

/** What a trial ran on, every option it was given, and its inputs, as facts. */
void assay__add_options(struct assay__doc *doc, const struct assay__trial *trial);

/** The whole document of a profile; assay__doc_free it. The study must outlive it. 0 or
 *  ASSAY_ENOMEM. */
int assay__report_document(struct assay__study *study, const struct assay_report_options *options,
                           struct assay__doc **doc, struct assay_error *error);

#endif
