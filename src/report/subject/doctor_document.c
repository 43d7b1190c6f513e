/* doctor_document.c - whether this machine is fit to measure: every check with its finding and what
 * would change it, every probe with what a read costs, and what each of its channels reads. */
#include "report/report_machine.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

const char *assay__health_name(enum assay__health health)
{
    static const char *const names[] = {"good", "warning", "missing", "unknown"};
    return names[health];
}

static const struct assay__column check_columns[] = {
    {"id", "check", .flags = ASSAY__COLUMN_NAME},
    {"verdict", .title = "verdict"},
    {"finding", "finding", .flags = ASSAY__COLUMN_PROSE},
    {"advice", "fix", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER},
};

static const struct assay__column probe_columns[] = {
    {"name", "probe", .flags = ASSAY__COLUMN_NAME},
    {.key = "available"},
    {"readable", "readable", ASSAY__UNIT_COUNT, .flags = ASSAY__COLUMN_KEEP},
    {"channels", "channels", ASSAY__UNIT_COUNT, .priority = 1},
    {"read_us", "one read", "s", .factor = 1e-6, .flags = ASSAY__COLUMN_KEEP},
    {"slowest_us", "slowest", "s", .factor = 1e-6, .priority = 2},
    {.key = "reads"},
    {"summary", "reads", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER},
    {.key = "reason"},
};

static void put_probe(struct assay__table *t, const struct assay__examined *e)
{
    bool available = e->available_count > 0;
    const char *reason = *e->reason ? e->reason : "no reason was given";
    struct assay__datum none = assay__datum_unknown(reason);
    struct assay__datum slow = assay__datum_unknown("a read takes more than 0.2 s");
    assay__table_row_of(t, 0, e->ops->name, available ? "yes" : "no");
    assay__table_cell(t, available ? assay__datum_count((double)e->available_count) : none);
    assay__table_cell(t, available ? assay__datum_count((double)e->channel_count)
                                   : assay__datum_none());
    assay__table_cell(t, !available          ? assay__datum_none()
                         : isnan(e->read_ns) ? slow
                                             : assay__measured(e->read_ns / 1e3, NULL));
    assay__table_cell(t, isnan(e->slowest_ns) ? assay__datum_none()
                                              : assay__measured(e->slowest_ns / 1e3, NULL));
    assay__table_number(t, e->reads, ASSAY_MEASURED);
    assay__table_texts(t, e->ops->summary, e->reason);
}

static const struct assay__column channel_columns[] = {
    {"probe", .title = "probe"},
    {"channel", "channel", .flags = ASSAY__COLUMN_NAME},
    {"value", "value", ASSAY__UNIT_PLAIN, .flags = ASSAY__COLUMN_KEEP},
    {.key = "unit"},
    {.key = "available"},
    {"source", "source", .priority = 1, .flags = ASSAY__COLUMN_CODE},
    {.key = "reason"},
};

/* A state by its name, a plain number as a count. */
static struct assay__datum reading(const struct assay__channel *c, double value, const char *reason)
{
    if (!isfinite(value)) return assay__datum_unknown(reason);
    bool plain = strcmp(c->unit, "1") == 0;
    struct assay__datum shown = assay__measured(value, plain ? ASSAY__UNIT_COUNT : c->unit);
    for (size_t i = 0; c->states && c->states[i]; i++)
        if ((double)i == value) shown.text = c->states[i];
    return shown;
}

static void add_probes(struct assay__doc *doc, const struct assay__checkup *checkup)
{
    size_t channels = 0;
    assay__doc_section(doc, "probes", "Probes",
                       "one read of all channels: median and slowest of 20", 0);
    struct assay__table *t = assay__doc_table(doc, "probes", "Probes", probe_columns);
    for (size_t i = 0; i < checkup->probe_count; i++) {
        put_probe(t, &checkup->probes[i]);
        channels += checkup->probes[i].channel_count;
    }
    const char *remark = assay__doc_printf(doc, "%zu, with their readings", channels);
    assay__doc_fold(doc, "channels", "Channels", remark);
    t = assay__doc_table(doc, "channels", "Channels", channel_columns);
    for (size_t i = 0; i < checkup->probe_count; i++)
        for (size_t k = 0; k < checkup->probes[i].channel_count; k++) {
            const struct assay__examined *e = &checkup->probes[i];
            const struct assay__channel *c = &e->channels[k];
            const char *reason = c->available ? e->readings[k].reason : c->reason;
            assay__table_row_of(t, 0, e->ops->name, c->name);
            assay__table_cell(
                t, reading(c, c->available ? e->readings[k].value : (double)NAN, reason));
            assay__table_texts(t, c->unit, c->available ? "yes" : "no", c->source, reason);
        }
    assay__doc_end(doc);
    assay__doc_end(doc);
}

int assay__doctor_document(const struct assay__checkup *checkup, struct assay__doc **made)
{
    struct assay__doc *doc = assay__doc_open(made, "doctor", "Measuring on this machine");
    if (!doc) return ASSAY_ENOMEM;
    assay__doc_section(doc, "checks", "Checks", NULL, ASSAY__SECTION_QUIET);
    /* "2 missing, 3 warnings, 8 unknown, 6 good." */
    static const enum assay__health order[] = {ASSAY__HEALTH_MISSING, ASSAY__HEALTH_WARNING,
                                               ASSAY__HEALTH_UNKNOWN, ASSAY__HEALTH_GOOD};
    struct assay__buf text = {0};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        size_t count = 0;
        for (size_t i = 0; i < checkup->check_count; i++)
            count += checkup->checks[i].health == order[k];
        if (count)
            assay__buf_printf(&text, "%s%zu %s%s", text.length ? ", " : "", count,
                              assay__health_name(order[k]),
                              order[k] == ASSAY__HEALTH_WARNING ? assay__plural(count) : "");
    }
    assay__doc_lead(doc, "%zu checks: %s.", checkup->check_count, assay__doc_take(doc, &text));
    struct assay__table *t = assay__doc_table(doc, "checks", "Checks", check_columns);
    for (size_t i = 0; i < checkup->check_count; i++) {
        const struct assay__diagnosis *d = &checkup->checks[i];
        static const enum assay__badge badges[] = {ASSAY__BADGE_PASS, ASSAY__BADGE_WARN,
                                                   ASSAY__BADGE_FAIL, ASSAY__BADGE_NONE};
        bool bad = d->health == ASSAY__HEALTH_WARNING || d->health == ASSAY__HEALTH_MISSING;
        assay__table_row_of(t, bad ? ASSAY__ROW_FAULT : 0, d->id);
        assay__table_cell(t, assay__datum_badge(assay__health_name(d->health), badges[d->health]));
        assay__table_texts(t, assay__buf_text(&d->says), assay__buf_text(&d->advice));
    }
    assay__doc_end(doc);
    add_probes(doc, checkup);
    return 0;
}

/* What `assay doctor --capture` copied of this machine, and what it could not copy. */
static const struct assay__column written_columns[] = {
    {"folder", "copied", .flags = ASSAY__COLUMN_NAME},
    {"files", "files", .unit = ASSAY__UNIT_COUNT},
};

static const struct assay__column fault_columns[] = {
    {"path", "not copied, or only partly", .flags = ASSAY__COLUMN_NAME},
    {"reason", "why", .flags = ASSAY__COLUMN_PROSE},
};

int assay__capture_document(const struct assay__capture *capture, const char *folder,
                            struct assay__doc **made)
{
    struct assay__doc *doc = assay__doc_open(made, "doctor", "This machine as a folder");
    if (!doc) return ASSAY_ENOMEM;
    assay__doc_section(doc, "capture", "Capture", NULL, ASSAY__SECTION_QUIET);
    assay__doc_lead(doc, "%zu file%s, %s, in %s.", capture->files,
                    assay__plural((double)capture->files),
                    assay__scaled((double)capture->bytes, "B").text, folder);
    assay__doc_note(doc,
                    "The host name was replaced. Review the folder before you share it. With "
                    "ASSAY_FSROOT=%s assay reads it in place of a machine.",
                    folder);
    struct assay__table *t = assay__doc_table(doc, "written", "Copied", written_columns);
    for (size_t i = 0; i < capture->group_count; i++) {
        assay__table_row_of(t, 0, capture->groups[i].what);
        assay__table_number(t, (double)capture->groups[i].files, ASSAY_MEASURED);
    }
    t = assay__doc_table(doc, "not-written", "Not copied", fault_columns);
    for (size_t i = 0; i < capture->fault_count; i++)
        assay__table_row_of(t, 0, capture->faults[i].path, capture->faults[i].reason);
    if (capture->faults_left_out)
        assay__doc_note(doc, "And %zu more that were not copied.", capture->faults_left_out);
    assay__doc_end(doc);
    return 0;
}
