/* datum.h - a number or a word in a document, and how numbers are printed for people. A number's
 * state is marked: nothing for measured, "=" derived, "~" estimated, "(published)", "—" unknown. */
#ifndef ASSAY_REPORT_DOC_DATUM_H
#define ASSAY_REPORT_DOC_DATUM_H

#include "base/text.h"
#include "judge/judged.h"

/* Units besides the base units of design.md section 3, for numbers that are not metrics. */
#define ASSAY__UNIT_COUNT "count"           /* 1,234,567 */
#define ASSAY__UNIT_FACTOR "factor"         /* 1.70 × */
#define ASSAY__UNIT_TIMES "times"           /* 2.67 ×: three digits, without trailing zeros */
#define ASSAY__UNIT_PLAIN "plain"           /* three significant digits, no unit */
#define ASSAY__UNIT_SHORT "short"           /* 25.6 M: the column names the unit */
#define ASSAY__UNIT_HUNDREDTHS "hundredths" /* 2.50: a ratio that is not a share */

enum assay__datum_kind {
    ASSAY__DATUM_NONE, /* nothing to say: an empty cell */
    ASSAY__DATUM_TEXT,
    ASSAY__DATUM_NUMBER, /* not finite, or unavailable: unknown, and `note` says why */
};

enum assay__badge { ASSAY__BADGE_NONE, ASSAY__BADGE_PASS, ASSAY__BADGE_WARN, ASSAY__BADGE_FAIL };

struct assay__datum {
    enum assay__datum_kind kind;
    enum assay_state state; /* of a number */
    enum assay__badge badge;
    bool strong;
    double tone; /* a ratio that a page colours, less to one side and more to the other; 0: none */
    double number;
    const char *unit;          /* of a number; NULL: its column's */
    const char *text;          /* the text; for a number, what is shown instead of it */
    const char *name;          /* of the metric it is; NULL: none */
    const char *source, *note; /* where a number comes from, its formula, or why it is not known */
    const char *link;          /* id of the row or section it leads to; NULL: none */
};

struct assay__datum assay__datum_none(void);
struct assay__datum assay__datum_text(const char *text); /* NULL: none */
struct assay__datum assay__datum_number(double number, const char *unit, enum assay_state state);
struct assay__datum assay__measured(double number, const char *unit);
struct assay__datum assay__derived(double number, const char *unit);
/** A count of things: measured. */
struct assay__datum assay__datum_count(double count);
/** NULL: not known. */
struct assay__datum assay__datum_metric(const struct assay_metric *metric);
/** The number with its metric's name, state, source and note; in the unit of its column. */
struct assay__datum assay__datum_judged(const struct assay__number *number);
/** Not known, with the reason. */
struct assay__datum assay__datum_unknown(const char *why);
/** A verdict: pass, warn or fail. */
struct assay__datum assay__datum_badge(const char *text, enum assay__badge badge);

bool assay__datum_is_known(const struct assay__datum *value); /* text that is not "", or a number */
/** The value for people, with its mark; nothing for NONE. unit, factor: the column's, used when the
 * value has no unit. Unescaped. */
void assay__datum_print(struct assay__buf *out, const struct assay__datum *value, const char *unit,
                        double factor);

/* --- numbers as people read them -----------------------------------------------------------------
 */

/** "layer%s": "" of one, else "s". */
const char *assay__plural(double count);
/** "cfc", "cfc and lora", "cfc and 3 more models", "standard benchmarks". Unescaped. */
void assay__print_model_names(struct assay__buf *out, const struct assay_profile *profile);
/** The shortest decimal form that reads back as the same number; nothing for a non-finite one. */
void assay__print_number(struct assay__buf *out, double value);
/** "1,234,567" */
void assay__print_count(struct assay__buf *out, int64_t value);
/** "25.6 M", three digits; exact below 10,000. */
void assay__print_short_count(struct assay__buf *out, int64_t value);
/** The mark before a number of that state: "", "=", "~". */
const char *assay__state_mark(enum assay_state state);
/** "1x3x224x224", symbols by name, "?" where unknown, "scalar" for rank 0, "unknown shape". */
void assay__print_shape(struct assay__buf *out, const struct assay__tensor_info *tensor);
/** A metric as it appears in a sentence: "39.1 ms", "=210 GFLOP/s", "—". */
struct assay__digits assay__shown(const struct assay_metric *metric);

/** The counts of a launch: inferences before measuring began (not kept; NaN unknown), samples kept,
 * how many of these were found to be warm-up, and the rest, which the statistics are based on. */
struct assay__launch_counts {
    double prerun;
    size_t kept, found, counted;
};
struct assay__launch_counts assay__launch_counts(const struct assay__launch *launch);

#endif
