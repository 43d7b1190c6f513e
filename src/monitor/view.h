/* view.h - what a monitor shows at one moment, as data: rows in their order, the processes, what
 * the marks say, what the monitor itself costs. The monitor fills it (one builder); plain lines,
 * JSON, a terminal, a page or Prometheus walk it (one walker per format, view_*.c). */
#ifndef ASSAY_MONITOR_VIEW_H
#define ASSAY_MONITOR_VIEW_H

#include "base/buf.h"
#include "judge/require.h"
#include "monitor/shown_rows.h"
#include "monitor/tree.h"

#include <assay/metric.h>

/** A row now. */
struct assay__shown {
    const struct assay__row *row;
    double value; /* NaN: unavailable */
    enum assay_state state;
    char note[256]; /* why there is no value, or how it was derived; "" */
    /* since the monitor began; NaN: never a value */
    double least, mean, greatest;
    uint64_t count;  /* ticks with a value */
    double energy_j; /* growth of its energy counter, in energy_s; NaN: none */
    double energy_s;
};

/** Durations between assay_mark_begin and _end, in the last interval. */
struct assay__shown_marks {
    bool any; /* there ever was one */
    double per_second;
    double p50_s, p99_s; /* NaN: too few */
    uint64_t count, lost;
};

/** A model that runs while it is watched; its numbers are rows. */
struct assay__shown_model {
    const char *name, *device;     /* name NULL: none */
    const char *state;             /* "loading", "running", "stopped" */
    char reason[192];              /* why it stopped; "" */
    uint64_t inferences, restarts; /* since the beginning */
};

/** A row of a requirement table against the value now. */
struct assay__shown_requirement {
    const struct assay__require_info *info;
    double value, minimum; /* NaN: unknown */
    enum assay__require_state state;
    const char *reason; /* why it cannot be judged; "" */
};

/** What the monitor itself takes. */
struct assay__shown_cost {
    double share;         /* of one core, this process in the last interval; NaN unknown */
    double sensors_share; /* of one core, reading sensors, since the beginning; NaN unknown */
    uint64_t late;        /* ticks that were skipped */
    size_t history_bytes;
};

struct assay__view {
    char time[32]; /* when it was looked at: UTC with milliseconds; "" unknown */
    uint64_t now_ns, began_ns;
    double interval_s; /* measured, since the tick before; NaN: the first */
    uint64_t ticks;
    struct assay__shown *rows; /* by section, in the order shown */
    size_t row_count, row_capacity;
    bool has_tree;
    struct assay__process *processes;
    size_t process_count, process_capacity;
    double tree_share, tree_other, tree_total; /* of all CPUs; NaN unknown */
    const char *tree_reason;
    struct assay__shown_marks marks;
    struct assay__shown_model model; /* set by who runs one; untouched by the monitor */
    /* set by assay__view_require */
    struct assay__shown_requirement requirements[ASSAY__REQUIRE_COUNT];
    size_t requirement_count;
    struct assay__shown_cost cost;
};

void assay__view_free(struct assay__view *view); /* what it holds, not itself */

/** The row of that name; NULL: none. */
const struct assay__shown *assay__view_find(const struct assay__view *view, const char *name);

/** Holds the view against the minimums of the table. A row that the view does not have cannot be
 * judged; power_row: that of what runs the model, NULL: not known. */
void assay__view_require(struct assay__view *view, const struct assay__require_table *table,
                         const char *power_row);

/* --- the walkers ------------------------------------------------------------------------------ */

/** One line: the time and the rows that matter, `name value` separated by two blanks. */
void assay__view_plain(const struct assay__view *view, struct assay__buf *out);
/** Several lines for the end: min, mean, max of each row, what was never available and why, the
 * cost. */
void assay__view_plain_summary(const struct assay__view *view, struct assay__buf *out);
/** One JSON object on one line (doc/watch.md); the summary is another, with "summary". */
void assay__view_json(const struct assay__view *view, struct assay__buf *out);
void assay__view_json_summary(const struct assay__view *view, struct assay__buf *out);

#endif
