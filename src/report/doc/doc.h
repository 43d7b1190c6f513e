/* doc.h - a document: what is shown, not how. Subjects (report/subject) build it, walkers
 * (report/walk) turn it into text, HTML, Markdown or CSV.
 *
 * It is a flat list of blocks in reading order; sections and folds are blocks that begin and end.
 * Numbers are values with a unit and a state, so that every walker marks them the same way; an
 * unknown number has a reason. Strings may come from untrusted files: walkers escape them, each in
 * its own way.
 *
 *   assay__doc_section(doc, "memory", "Memory", "where it goes", ASSAY__TAB_MEMORY);
 *   assay__doc_sentence(doc, ASSAY__TONE_LEAD, "The run takes %s of memory.", …);
 *   assay__doc_fact(doc, "model");
 *   assay__doc_item(doc, "weights", assay__datum_metric(metric));
 *   struct assay__table *t = assay__doc_table(doc, "peak", "Tensors", columns);
 *   assay__table_row_of(t, 0, "conv1_out", "float32");
 *   assay__table_numbers(t, ASSAY_MEASURED, 12.5, 3);
 *   assay__doc_end(doc);
 *
 * Errors stick: after one failed allocation `failed` is set and later calls do nothing. */
#ifndef ASSAY_REPORT_DOC_DOC_H
#define ASSAY_REPORT_DOC_DOC_H

#include "base/arena.h"
#include "judge/study.h"
#include "report/doc/datum.h"

struct assay__figure;

/** A picture: an existing figure, or one of a profile's figures (figure/figures.c), created when it
 * is drawn, because figures are large and most formats draw few. */
struct assay__picture {
    const struct assay__figure *figure; /* NULL: made */
    const char *name;                   /* name of the profile's figure; all its parts */
    struct assay__study *study;
    const struct assay__trial *trial;
    unsigned flags; /* enum assay__picture_flag */
};

enum assay__picture_flag {
    ASSAY__PICTURE_DETAIL = 1, /* left out of the terminal unless everything is requested */
    ASSAY__PICTURE_SAY = 2,    /* if it cannot be drawn, print the reason */
    ASSAY__PICTURE_KEYED = 4,  /* a table next to it explains its letters and has its note */
    ASSAY__PICTURE_WIDE = 8,   /* on a page, nothing is next to it */
    ASSAY__PICTURE_PAGE = 16,  /* only on a page: the terminal has it elsewhere */
};

/** The role of a sentence. */
enum assay__tone {
    ASSAY__TONE_PLAIN,
    ASSAY__TONE_LEAD, /* the answer */
    ASSAY__TONE_NOTE, /* an aside: method, definition, limit */
    ASSAY__TONE_WARN,
    ASSAY__TONE_ALERT, /* something failed */
};

enum assay__block_kind {
    ASSAY__BLOCK_SECTION,
    ASSAY__BLOCK_FOLD, /* detail for some readers */
    ASSAY__BLOCK_END,  /* of the last section or fold */
    ASSAY__BLOCK_SENTENCE,
    ASSAY__BLOCK_FACT,
    ASSAY__BLOCK_LIST,
    ASSAY__BLOCK_TABLE,
    ASSAY__BLOCK_FIGURE,
    ASSAY__BLOCK_CODE,
};

/** The tabs of a page, in order: a top-level section is in one of them, together with its contents.
 * A tab without sections is left out. Other formats ignore them. */
enum assay__tab {
    ASSAY__TAB_NONE, /* the same as the enclosing section; at the top level, the overview */
    ASSAY__TAB_OVERVIEW,
    ASSAY__TAB_GRAPH,
    ASSAY__TAB_ROOFLINE,
    ASSAY__TAB_LATENCY,
    ASSAY__TAB_MEMORY,
    ASSAY__TAB_GENERATE,
    ASSAY__TAB_POWER,
    ASSAY__TAB_EVIDENCE, /* how it was measured, every metric, what is unavailable */
    ASSAY__TAB_COUNT
};

/** Besides an enum assay__tab. */
enum assay__section_flag {
    ASSAY__TABS = 15,           /* the bits of the tab */
    ASSAY__SECTION_DETAIL = 16, /* left out of the terminal unless everything is requested */
    ASSAY__SECTION_QUIET = 32,  /* its place explains it: the title is for navigation only */
    ASSAY__SECTION_FIRST = 64,  /* on a page, before the tab's other sections */
    ASSAY__SECTION_CARD = 128,  /* on a page, one of several similar ones, in a frame */
    ASSAY__SECTION_OPEN = 256,  /* a fold: of a page it is open */
    /* of a page: what is in it may stand side by side, as the pictures and sections in it ask for
     */
    ASSAY__SECTION_DECK = 512,
    ASSAY__SECTION_HALF = 1024,  /* in a deck: two beside each other, … */
    ASSAY__SECTION_THIRD = 2048, /* … three */
    ASSAY__SECTION_PAIR = 4096,  /* of a page: its pictures stand beside the rest */
};

struct assay__heading {
    const char *id; /* unique within the document, [a-z0-9-]; NULL: none */
    const char *title;
    const char *remark; /* next to the title, in a few words; NULL: none */
    unsigned flags;     /* enum assay__tab | enum assay__section_flag */
};

/** A label and its values, each with an optional name. */
struct assay__item {
    const char *name; /* "peak worker"; NULL: none */
    struct assay__datum value;
    const char *after; /* text after the value; NULL: none */
};
struct assay__fact {
    const char *label;
    struct assay__item *items;
    size_t count, capacity;
};

/** How far the numbers can be trusted, in a few words, and why. */
struct assay__quality {
    enum assay__badge badge; /* NONE: nothing is said */
    const char *text;        /* "stable ±1 %" */
    const char *const *reasons;
    size_t reason_count;
};

struct assay__list {
    const char **items;
    size_t count, capacity;
};

struct assay__code {
    const char *language; /* "c", "python", "json", "sh" */
    const char *title;    /* NULL: none */
    const char *text;
};

/* --- tables ----------------------------------------------------------------------------------- */

enum assay__column_flag {
    ASSAY__COLUMN_NAME = 1,   /* the row's name: shortened to fit */
    ASSAY__COLUMN_PROSE = 2,  /* may be long: wrapped */
    ASSAY__COLUMN_SUM = 4,    /* rows left out are summed up in this column */
    ASSAY__COLUMN_BAR = 8,    /* a share from 0 to 1 as a bar; not in Markdown */
    ASSAY__COLUMN_KEEP = 16,  /* shown even when no row has a value */
    ASSAY__COLUMN_CODE = 32,  /* an identifier: not translated and not broken */
    ASSAY__COLUMN_AFTER = 64, /* prose that is read after the row: the first to be moved below it */
    ASSAY__COLUMN_PAGE = 128, /* only on a page: other formats have it elsewhere */
    ASSAY__COLUMN_ASIDE = 256, /* a page shows it next to the table, for the selected row */
};

struct assay__column {
    const char *key;   /* CSV column; NULL: for people only */
    const char *title; /* heading; NULL: for programs only */
    const char *unit;  /* unit of its numbers (a base unit or one of datum.h); NULL: text */
    double factor;     /* a cell times this is in `unit`; for "time_us" in s it is 1e-6; 0: 1 */
    unsigned priority; /* 0: always shown; on a narrow page the highest is dropped first */
    unsigned flags;    /* enum assay__column_flag */
    unsigned part;     /* part of the table that has it; 0: every part */
};

enum assay__row_flag {
    ASSAY__ROW_PEOPLE = 1, /* not in CSV: a total, a remark */
    ASSAY__ROW_DATA = 2,   /* in CSV only */
    ASSAY__ROW_BEST = 4,   /* the row to look at */
    ASSAY__ROW_FAULT = 8,
    ASSAY__ROW_TOTAL = 16, /* after the others, even when some are left out */
    ASSAY__ROW_TIED = 32,  /* looks the same as the row before it */
};

struct assay__row {
    const char *id; /* where a link leads; NULL: none */
    unsigned flags;
    int layer; /* index of the layer it is about; -1: none */
};

struct assay__table {
    const char *name;    /* of `--table`; NULL: not in CSV */
    const char *id;      /* of the page; NULL: none */
    const char *caption; /* what the table is, in a few words */
    const char *more;    /* people see the first rows, then "… 9 more layers"; NULL: all rows */
    size_t limit;        /* how many of them, unless all are requested; 0: the report's limit */
    /* A table with many columns is read in parts, each with the columns of its number (and those of
     * 0) under its heading; NULL: it is read as one. CSV has all columns in one. */
    const struct assay__heading *parts;
    size_t part_count;
    bool data;     /* in CSV only: single samples */
    bool scripted; /* the page's script creates the rows that are left out (and needs trial) */
    int trial;     /* the trial it belongs to; 0: none */
    const struct assay__column *columns;
    size_t column_count;
    const size_t *order; /* order in which people see the rows; NULL: as added. CSV ignores it */
    const size_t *page_order; /* the same in a page; NULL: `order` */
    size_t page_limit;        /* rows on a page whose table of layers has the others; 0: many */
    const char *page_by;      /* what the first rows of that order are: "that lose the most time" */
    /** Creates a row on demand, if there are too many to store: cells has column_count empty cells.
     * NULL: rows are kept. */
    void (*fill)(const struct assay__table *table, size_t row, struct assay__datum *cells);
    const void *context;
    size_t row_count; /* kept, or made by fill */
    /* kept rows */
    const char *prefix; /* of the ids of rows, and of links */
    struct assay__row *rows;
    struct assay__datum *cells;
    size_t row_capacity, cell_count, cell_capacity;
    struct assay__doc *doc;
};

/* --- the document ----------------------------------------------------------------------------- */

struct assay__block {
    enum assay__block_kind kind;
    enum assay__tone tone;
    struct assay__heading heading; /* SECTION, FOLD */
    const char *text;              /* SENTENCE */
    struct assay__fact *fact;
    struct assay__list *list;
    struct assay__table *table;
    const struct assay__picture *picture;
    const struct assay__code *code;
    bool headed; /* the page's header shows it */
};

/** Data attached to the document for formats that can contain it (for the page's script). */
struct assay__attachment {
    const char *id;
    struct assay__buf json;
    bool pieces; /* the script reads it piece by piece: a page has it as it is, not deflated */
};
#define ASSAY__ATTACHMENTS 5

struct assay__doc {
    struct assay__arena *arena;
    const char *title;  /* what it is about: the model's name */
    const char *kicker; /* the command: "assay run" */
    /* title of a page, if the normal one would repeat the line after it; "": the title */
    const char *heading;
    const char *subtitle; /* "cpu · threads 2"; "" none */
    /* What a page shows above its tabs. In other formats the verdict and the numbers are blocks
     * where they were added, and the quality is where a subject adds it. */
    const char *verdict; /* the answer in a sentence; "" none */
    struct assay__quality quality;
    const struct assay__fact *kpis; /* the key numbers; NULL: none */
    const char *version;            /* of the program that measured; "" none */
    const char *footer;             /* "" none */
    bool marks;                     /* explain the marks of states */
    bool shortened;                 /* the whole report has more */
    int trial;                      /* the trial shown first; 0: none */
    const char *table;              /* the default table for CSV; "" the first */
    /** Tables that other documents of this kind have, for a header without rows: the columns of
     * that table, or NULL. NULL: this document has all tables. */
    const struct assay__column *(*known_table)(const char *name, size_t *count);
    const char *known_tables; /* their names: "metrics|layers|…" */
    struct assay__block *blocks;
    size_t count, capacity;
    struct assay__attachment attachments[ASSAY__ATTACHMENTS];
    size_t attachment_count;
    struct assay__study *study; /* what it is about; NULL: no profile */
    /** What would provide a metric; NULL: no hints. */
    const char *(*hint)(const char *metric);
    /* for what is built next */
    bool detail;        /* top-level sections are details */
    bool data;          /* only tables for programs: everything else is left out */
    bool headed;        /* the page's header shows it, or something better */
    bool open;          /* folds are open in a page */
    bool unfolded;      /* folds are sections: the reader asked for the details */
    const char *prefix; /* prefix of ids if a subject appears several times: "t2-"; "" none */
    int of_trial;       /* trial of the tables; 0: none */
    int depth;
    bool failed;
    struct assay__table nobody; /* returned when a table could not be allocated */
};

/** Never NULL when 0 is returned; free with assay__doc_free. */
int assay__doc_new(struct assay__doc **doc);
void assay__doc_free(struct assay__doc *doc); /* NULL legal */
/** Its title, "assay COMMAND", and the version of assay that took the measurements. */
void assay__doc_name(struct assay__doc *doc, const char *command, const char *title,
                     const char *version);
/** A new document with that name and this program's version, also in *doc; NULL: out of memory. */
struct assay__doc *assay__doc_open(struct assay__doc **doc, const char *command, const char *title);

/** Begins a section. id, remark: NULL (or "") none. flags: enum assay__tab | enum
 * assay__section_flag. */
void assay__doc_section(struct assay__doc *doc, const char *id, const char *title,
                        const char *remark, unsigned flags);
void assay__doc_fold(struct assay__doc *doc, const char *id, const char *title, const char *remark);
/** Ends the last section or fold. If it has nothing but empty tables it is dropped; these remain
 * for CSV. */
void assay__doc_end(struct assay__doc *doc);

/** Empty text is skipped. */
void assay__doc_sentence(struct assay__doc *doc, enum assay__tone tone, const char *format, ...)
    ASSAY_PRINTF(3, 4);
/** "Assumed: x 1x3x224x224 (…)": sizes that neither the file nor the options specify. Empty text is
 * skipped. */
void assay__doc_assumed(struct assay__doc *doc, const char *assumed);
#define assay__doc_plain(doc, ...) assay__doc_sentence(doc, ASSAY__TONE_PLAIN, __VA_ARGS__)
#define assay__doc_lead(doc, ...) assay__doc_sentence(doc, ASSAY__TONE_LEAD, __VA_ARGS__)
#define assay__doc_note(doc, ...) assay__doc_sentence(doc, ASSAY__TONE_NOTE, __VA_ARGS__)
#define assay__doc_warn(doc, ...) assay__doc_sentence(doc, ASSAY__TONE_WARN, __VA_ARGS__)
#define assay__doc_alert(doc, ...) assay__doc_sentence(doc, ASSAY__TONE_ALERT, __VA_ARGS__)
/** A sentence that needs no formatting; NULL or "": nothing. */
void assay__doc_say(struct assay__doc *doc, enum assay__tone tone, const char *text);
/** Begins a fact; items go to the last one. A fact without items is dropped. */
void assay__doc_fact(struct assay__doc *doc, const char *label);
void assay__doc_item(struct assay__doc *doc, const char *name, struct assay__datum value);
/** The same with text after it. */
void assay__doc_item_after(struct assay__doc *doc, const char *name, struct assay__datum value,
                           const char *after);
void assay__doc_item_text(struct assay__doc *doc, const char *format, ...) ASSAY_PRINTF(2, 3);
/** "4 cores", "1 core". */
void assay__doc_item_count(struct assay__doc *doc, double count, const char *noun);
/** The answer: a page has it in its header, other formats as a lead sentence. If there are several,
 * the page shows the first. Empty text is skipped. */
void assay__doc_verdict(struct assay__doc *doc, const char *text);
/** Begins the fact with the key numbers, which a page shows in its header. Once per document. */
void assay__doc_kpis(struct assay__doc *doc, const char *label);
/** The mark of quality in a page's header. The strings are borrowed. */
void assay__doc_quality(struct assay__doc *doc, struct assay__quality quality);
/** A fact with one text; nothing if it is NULL or "". */
void assay__doc_fact_text(struct assay__doc *doc, const char *label, const char *text);
/** A fact with one number; nothing if it is unknown. */
void assay__doc_fact_number(struct assay__doc *doc, const char *label, double value,
                            const char *unit);
/** A fact with one unknown value and the reason. */
void assay__doc_fact_unknown(struct assay__doc *doc, const char *label, const char *why);
/** An item of the fact; nothing if the trial's metric is unknown. */
void assay__doc_metric(struct assay__doc *doc, const struct assay__trial *trial, const char *metric,
                       const char *name, const char *after);
/** Facts with metrics: consecutive rows with the same label are one fact. If none of them is known,
 * the fact is left out or (reasons) says why the first is unknown. */
struct assay__metric_fact {
    const char *label, *metric, *name, *after; /* name, after: NULL none */
};
void assay__doc_metrics(struct assay__doc *doc, const struct assay__trial *trial, bool reasons,
                        const struct assay__metric_fact *rows, size_t count);
/** A fold that explains columns: rows of {title, meaning}. */
void assay__doc_legend(struct assay__doc *doc, const char *const (*rows)[2], size_t count);
/** A sentence of a list; sentences in a row are one list. */
void assay__doc_point(struct assay__doc *doc, const char *format, ...) ASSAY_PRINTF(2, 3);
void assay__doc_points(struct assay__doc *doc, const char *const *items, size_t count);
void assay__doc_code(struct assay__doc *doc, const char *language, const char *title,
                     const char *text);
/** The figure is borrowed: it lives in the document's arena, or longer. */
void assay__doc_figure(struct assay__doc *doc, const struct assay__figure *figure, unsigned flags);
/** A figure of the document's profile (figure/figures.c), made when it is drawn. */
void assay__doc_picture(struct assay__doc *doc, const char *name, const struct assay__trial *trial,
                        unsigned flags);
/** An array and its length, as two arguments. */
#define ASSAY__ARRAY(columns) columns, sizeof(columns) / sizeof *(columns)
/** Appends a table with these columns; set its other members, then add rows. name NULL: for people
 * only. caption NULL: for programs only. Never NULL: when out of memory, a table that is
 * ignored. */
#define assay__doc_table(doc, name, caption, columns) \
    assay__doc_add_table(doc, name, caption, ASSAY__ARRAY(columns))
struct assay__table *assay__doc_add_table(struct assay__doc *doc, const char *name,
                                          const char *caption, const struct assay__column *columns,
                                          size_t count);

/** Why the metric is unknown, with a hint if requesting it would have provided it. metric NULL: the
 * note alone. */
const char *assay__doc_reason(struct assay__doc *doc, const char *metric, const char *note);
/** Zeroed, in the document's arena; NULL when out of memory. */
void *assay__doc_array(struct assay__doc *doc, size_t count, size_t size);
/** Columns that differ from table to table: a copy of these with room for `more`; NULL when out of
 * memory. */
struct assay__column *assay__doc_columns(struct assay__doc *doc,
                                         const struct assay__column *columns, size_t count,
                                         size_t more);
/** Printed into the document's arena; "" when out of memory. */
const char *assay__doc_printf(struct assay__doc *doc, const char *format, ...) ASSAY_PRINTF(2, 3);
/** "a; b; c" in the arena. */
const char *assay__doc_join(struct assay__doc *doc, const char *const *items, size_t count);
/** A buffer's text into the arena; the buffer is freed. */
const char *assay__doc_take(struct assay__doc *doc, struct assay__buf *text);

/** Begins a row; cells follow in the order of the columns, missing ones are empty. */
void assay__table_row(struct assay__table *table, unsigned flags, const char *id);
/** The same for a row without an id, with the texts of its first cells. */
#define assay__table_row_of(table, flags, ...) \
    (assay__table_row(table, flags, NULL), assay__table_texts(table, __VA_ARGS__))
/** The row is about the layer with that index: a page selects them together. */
void assay__table_layer(struct assay__table *table, int index);
void assay__table_cell(struct assay__table *table, struct assay__datum value);
void assay__table_text(struct assay__table *table, const char *text);
/** In the column's own unit and factor. */
void assay__table_number(struct assay__table *table, double value, enum assay_state state);
/** The same; an empty cell when it is not finite. */
void assay__table_known(struct assay__table *table, double value, enum assay_state state);
/** Adjacent cells: texts, and numbers with one state. */
#define assay__table_texts(table, ...) \
    assay__table_add_texts(table, ASSAY__ARRAY(((const char *const[]){__VA_ARGS__})))
#define assay__table_numbers(table, state, ...) \
    assay__table_add_numbers(table, state, ASSAY__ARRAY(((const double[]){__VA_ARGS__})))
void assay__table_add_texts(struct assay__table *table, const char *const *texts, size_t count);
void assay__table_add_numbers(struct assay__table *table, enum assay_state state,
                              const double *numbers, size_t count);
/** Cells with the numbers that a trial is judged by; empty for a trial that did not run. */
#define assay__table_judged(table, usable, ...) \
    assay__table_add_judged(table, usable,      \
                            ASSAY__ARRAY(((const struct assay__number *const[]){__VA_ARGS__})))
void assay__table_add_judged(struct assay__table *table, bool usable,
                             const struct assay__number *const *numbers, size_t count);
void assay__table_metric(struct assay__table *table, const struct assay_metric *metric);
/** Its name, value, unit, state, source and note: six cells. */
void assay__table_metric_row(struct assay__table *table, const struct assay_metric *metric);
/** Cells without a value. */
void assay__table_skip(struct assay__table *table, size_t count);

/** The cells of a row: kept, or made in `scratch` (column_count entries). */
const struct assay__datum *assay__table_cells(const struct assay__table *table, size_t row,
                                              struct assay__datum *scratch);
/** Flags of a row. */
unsigned assay__table_flags(const struct assay__table *table, size_t row);

#endif
