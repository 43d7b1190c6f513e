/* junit.h - a JUnit XML document of one suite, as continuous-integration servers read it: cases
 * that passed, failed, could not be judged (error) or were left out (skipped). The counts precede
 * the cases in the file, so cases are collected and the document is written by assay__junit_end.
 * Every text is escaped, and what XML 1.0 cannot represent is replaced. A failed allocation sets
 * out->failed.
 *
 * struct assay__junit junit; assay__junit_begin(&junit, out, "assay check");
 * assay__junit_case(&junit, "ane", "rank", NAN); assay__junit_failure(&junit, "rank", "rank 6 is
 * above 5", "node /x/Reshape"); assay__junit_end(&junit); */
#ifndef ASSAY_REPORT_JUNIT_H
#define ASSAY_REPORT_JUNIT_H

#include "base/buf.h"

struct assay__junit {
    struct assay__buf *out;
    struct assay__buf name, properties, cases;
    size_t tests, failures, errors, skipped;
    double time_s; /* sum of the cases' known times; NaN: none is known */
    bool open;     /* a case is open */
    int verdict;   /* verdict of the open case, so that it counts once */
};

void assay__junit_begin(struct assay__junit *junit, struct assay__buf *out, const char *suite);
/** A property of the whole suite: ("model", "resnet50"). At any time before the end. */
void assay__junit_property(struct assay__junit *junit, const char *name, const char *value);
/** The next case; it has passed unless one of the calls below follows. time_s: NaN unknown. */
void assay__junit_case(struct assay__junit *junit, const char *classname, const char *name,
                       double time_s);
/** The case failed. `message` is one line; `detail` (may be NULL) is the text below it. Only the
 *  first of these three calls counts for a case. */
void assay__junit_failure(struct assay__junit *junit, const char *type, const char *message,
                          const char *detail);
/** The case could not be judged. */
void assay__junit_error(struct assay__junit *junit, const char *type, const char *message,
                        const char *detail);
/** The case was skipped, or its failure is allowed. */
void assay__junit_skipped(struct assay__junit *junit, const char *message);
/** Notes on a case; after its verdict. */
void assay__junit_output(struct assay__junit *junit, const char *text);
/** Writes the document and frees what was collected. */
void assay__junit_end(struct assay__junit *junit);

#endif
