/* subject_counters.c - the processor's and the kernel's counters: per inference and per second,
 * what follows from them, and per class of layers. Counters that could not be read are listed with
 * the unavailable metrics. */
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *metric, *label;
} counters[] = {
    {"hardware.elapsed", "time while counted"},
    {"hardware.task_clock", "CPU time"},
    {"hardware.cycles", "cycles"},
    {"hardware.instructions", "instructions"},
    {"hardware.cache_references", "cache references"},
    {"hardware.cache_misses", "cache misses"},
    {"hardware.llc_loads", "last-level loads"},
    {"hardware.llc_load_misses", "last-level load misses"},
    {"hardware.branches", "branches"},
    {"hardware.branch_misses", "branch misses"},
    {"hardware.stalled_frontend", "front-end stalls"},
    {"hardware.stalled_backend", "back-end stalls"},
    {"hardware.page_faults", "page faults"},
    {"hardware.context_switches", "context switches"},
    {"hardware.migrations", "CPU migrations"},
};

static const struct assay__column columns[] = {
    {.title = "counter", .flags = ASSAY__COLUMN_NAME},
    {.title = "per inference", .unit = ASSAY__UNIT_COUNT},
    {.title = "per second", .unit = "1/s"},
    {.title = "source", .priority = 1},
    {.title = "note", .flags = ASSAY__COLUMN_PROSE},
};

/* Inferences per second while it was counted; NaN unknown. */
static double counted_rate(const struct assay__trial *trial)
{
    const struct assay_metric *elapsed = assay__trial_metric(trial, "hardware.elapsed");
    if (elapsed && elapsed->value > 0) return 1 / elapsed->value;
    const struct assay_metric *clock = assay__trial_metric(trial, "hardware.task_clock"),
                              *cpus = assay__trial_metric(trial, "hardware.cpus_busy"),
                              *rate = assay__trial_metric(trial, "throughput.inferences");
    if (clock && cpus && clock->value > 0) return cpus->value / clock->value;
    return rate ? rate->value : (double)NAN;
}

/* For CPU time it is the number of busy CPUs; wall time passes at one second per second. */
static struct assay__datum per_second(struct assay__doc *doc, const struct assay_metric *m,
                                      double rate)
{
    struct assay__datum value = assay__derived(m->value * rate, NULL);
    if (strcmp(m->name, "hardware.elapsed") == 0) return assay__datum_none();
    if (strcmp(m->unit, "s") == 0 && isfinite(value.number))
        value.text = assay__doc_printf(doc, "%s%.2f CPUs", assay__state_mark(ASSAY_DERIVED),
                                       value.number);
    return value;
}

static const struct assay__metric_fact facts[] = {
    {"together", "hardware.cpus_busy", "CPUs busy", NULL},
    {"together", "hardware.ipc", "instructions per cycle", NULL},
    {"together", "cache.hit_rate", "cache hit rate", NULL},
    {"together", "hardware.branch_miss_rate", "branch misses", NULL},
    {"together", "hardware.frequency", "clock", NULL},
    {"together", "memory.bandwidth.llc", "from memory at least", NULL},
    {"together", "memory.bandwidth.controller", "memory controllers", NULL},
    {"together", "hardware.memory_controller", "of their ceiling", NULL},
    {"cost", "overhead.counters", "latency with counters on", NULL},
};

static const struct assay__column data_columns[] = {
    {.key = "trial"},   {.key = "op"},    {.key = "layers"}, {.key = "time_us"},
    {.key = "counter"}, {.key = "value"}, {.key = "note"},
};
#define DATA_COLUMNS (sizeof data_columns / sizeof data_columns[0])

static struct assay__datum layers_of(const struct assay__class_counters *class)
{
    if (class->layers < 0) return assay__datum_unknown(NULL);
    return assay__measured((double)class->layers, NULL);
}

/* One row for each counter of each class; if there is none, one row with the reason. */
static void add_data(struct assay__doc *doc, const struct assay__trial *trial)
{
    const char *note = trial->class_counter_note;
    size_t rows = trial->class_counter_count * trial->counter_count;
    if (!rows && !(note && *note)) return;
    struct assay__table *t = assay__doc_table(doc, "counters", NULL, data_columns);
    for (size_t i = 0; i < rows; i++) {
        const struct assay__class_counters *class =
            &trial->class_counters[i / trial->counter_count];
        size_t k = i % trial->counter_count;
        assay__table_row(t, 0, NULL);
        assay__table_number(t, trial->id, ASSAY_MEASURED);
        assay__table_text(t, class->op);
        assay__table_cell(t, layers_of(class));
        assay__table_number(t, class->time_ns / 1e3, ASSAY_MEASURED);
        assay__table_text(t, trial->counter_names[k]);
        assay__table_number(t, class->values ? class->values[k] : (double)NAN, ASSAY_MEASURED);
        assay__table_text(t, i ? "" : note);
    }
    if (rows) return;
    assay__table_row(t, 0, NULL);
    assay__table_number(t, trial->id, ASSAY_MEASURED);
    assay__table_skip(t, DATA_COLUMNS - 2);
    assay__table_text(t, note);
}

/* The name of a counter for people, and the priority of its column. */
static const struct {
    const char *name, *title;
    unsigned priority;
} titles[] = {
    {"elapsed", "counted", 1},
    {"task-clock", "CPU time", 6},
    {"cycles", "cycles", 7},
    {"instructions", "instructions", 3},
    {"cache-misses", "cache misses", 5},
    {"page-faults", "page faults", 8},
    {"context-switches", "switches", 9},
};

/* What follows from two counters. */
static const struct {
    const char *title, *name, *over;
    bool rest; /* 1 less the quotient */
    const char *unit;
    unsigned priority;
} quotients[] = {
    {"CPUs", "task-clock", "elapsed", false, ASSAY__UNIT_HUNDREDTHS, 0},
    {"IPC", "instructions", "cycles", false, ASSAY__UNIT_HUNDREDTHS, 2},
    {"cache hits", "cache-misses", "cache-references", true, "ratio", 4},
};
#define QUOTIENTS (sizeof quotients / sizeof quotients[0])
enum { FIRST = 3, LEAST_RANK = 10 }; /* columns before the counters; priority of the others */

static size_t find(const struct assay__trial *trial, const char *name)
{
    size_t i = 0;
    while (i < trial->counter_count && strcmp(trial->counter_names[i], name) != 0)
        i++;
    return i;
}

/* Operator, layers, time; a column for each counter; the quotients. NULL: out of memory. */
static struct assay__column *class_columns(struct assay__doc *doc, const struct assay__trial *trial,
                                           size_t *count)
{
    static const struct assay__column first[FIRST] = {
        {.title = "operator", .flags = ASSAY__COLUMN_NAME},
        {.title = "layers", .unit = ASSAY__UNIT_COUNT},
        {.title = "time", .unit = "s"},
    };
    *count = FIRST + trial->counter_count + QUOTIENTS;
    struct assay__column *made = assay__doc_columns(doc, first, FIRST, *count - FIRST);
    if (!made) return NULL;
    struct assay__column *next = made + FIRST;
    for (size_t i = 0; i < trial->counter_count; i++, next++) {
        const char *counter = trial->counter_names[i];
        bool time = strcmp(counter, "task-clock") == 0 || strcmp(counter, "elapsed") == 0;
        *next = (struct assay__column){
            .title = counter, .unit = time ? "s" : ASSAY__UNIT_COUNT, .priority = LEAST_RANK};
        for (size_t k = 0; k < sizeof titles / sizeof titles[0]; k++)
            if (strcmp(titles[k].name, counter) == 0)
                next->title = titles[k].title, next->priority = titles[k].priority;
    }
    for (size_t i = 0; i < QUOTIENTS; i++, next++)
        *next = (struct assay__column){.title = quotients[i].title,
                                       .unit = quotients[i].unit,
                                       .priority = quotients[i].priority};
    return made;
}

static struct assay__datum quotient(const struct assay__trial *trial,
                                    const struct assay__class_counters *class, size_t i)
{
    size_t name = find(trial, quotients[i].name), over = find(trial, quotients[i].over);
    if (!class->values || name == trial->counter_count || over == trial->counter_count)
        return assay__datum_none();
    double value = class->values[name] / class->values[over];
    return assay__derived(quotients[i].rest ? 1 - value : value, NULL);
}

static void add_class_table(struct assay__doc *doc, const struct assay__trial *trial)
{
    size_t count;
    const struct assay__column *made = class_columns(doc, trial, &count);
    if (!made) return;
    struct assay__table *t = assay__doc_add_table(
        doc, NULL, "Counters of one inference by kind of layer", made, count);
    t->more = "kinds of layers";
    for (size_t i = 0; i < trial->class_counter_count; i++) {
        const struct assay__class_counters *class = &trial->class_counters[i];
        assay__table_row_of(t, 0, class->op);
        assay__table_cell(t, layers_of(class));
        assay__table_number(t, class->time_ns / 1e9, ASSAY_MEASURED);
        for (size_t k = 0; k < trial->counter_count; k++)
            assay__table_number(t, class->values ? class->values[k] : (double)NAN, ASSAY_MEASURED);
        for (size_t k = 0; k < QUOTIENTS; k++)
            assay__table_cell(t, quotient(trial, class, k));
    }
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const char *note = trial->class_counter_note;
    /* only there if counters were requested */
    bool asked = trial->metrics && assay_metrics_get(trial->metrics, "hardware.task_clock");
    if (asked || trial->class_counter_count || (note && *note)) {
        assay__doc_section(doc, "counters", "Counters",
                           "all threads of the worker; latency is measured without counters",
                           ASSAY__TAB_EVIDENCE);
        if (asked) {
            double rate = counted_rate(trial);
            struct assay__table *t = assay__doc_table(doc, NULL, "Counters of one inference",
                                                      columns);
            for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
                const struct assay_metric *m = assay__trial_metric(trial, counters[i].metric);
                if (!m) continue;
                assay__table_row_of(t, 0, counters[i].label);
                assay__table_metric(t, m);
                assay__table_cell(t, per_second(doc, m, rate));
                assay__table_texts(t, m->source, m->state == ASSAY_DERIVED ? m->note : NULL);
            }
        }
        if (asked) assay__doc_metrics(doc, trial, false, ASSAY__ARRAY(facts));
        assay__doc_section(doc, NULL, "Counters by kind of layer", "per inference", 0);
        if (trial->class_counter_count) add_class_table(doc, trial);
        if (trial->class_counter_count && find(trial, "elapsed") < trial->counter_count)
            assay__doc_note(
                doc, "Time is from the timed runs; the other numbers are from the runs whose "
                     "counters were read, \"counted\" being their time (CPUs: CPU time / "
                     "counted).");
        assay__doc_say(doc, ASSAY__TONE_NOTE, note);
        assay__doc_end(doc);
        assay__doc_end(doc);
    }
    add_data(doc, trial);
}

const struct assay__subject assay__subject_counters = {
    "counters", ASSAY__OF_TRIAL, build, {{"counters", ASSAY__ARRAY(data_columns)}}};
