/* subject_fixture.h - one subject of a profile's report, alone, or another document in a view. */
#ifndef ASSAY_TESTS_SUBJECT_FIXTURE_H
#define ASSAY_TESTS_SUBJECT_FIXTURE_H

#include "report/formats.h"
#include "report/subject/subjects.h"
#include "report/walk/walk.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* The document in a view (options.format NULL: text); it is freed. The caller frees the text. */
static inline char *document_text(struct assay__doc *doc, struct assay_report_options options)
{
    struct assay__buf out = {0};
    options.size = sizeof options;
    CHECK(!doc->failed);
    CHECK_INT(assay__doc_view(doc, &options, &out, NULL), 0);
    assay__doc_free(doc);
    return out.data ? out.data : strdup("");
}

/* "" when it says nothing. The caller frees. */
static inline char *subject_text(const struct assay_profile *profile,
                                 const struct assay__trial *trial,
                                 const struct assay__subject *subject,
                                 struct assay_report_options options)
{
    struct assay__study *study = NULL;
    struct assay__doc *doc = NULL;
    struct assay__buf out = {0};
    options.size = sizeof options;
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK_INT(assay__doc_new(&doc), 0);
    doc->study = study;
    subject->build(doc, trial);
    CHECK(!doc->failed && !study->failed);
    CHECK_INT(assay__walk_text(doc, &options, &out, NULL), 0);
    CHECK(!out.failed);
    assay__doc_free(doc);
    assay__study_free(study);
    return out.data ? out.data : strdup("");
}

#endif
