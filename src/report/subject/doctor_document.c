/* doctor_document.c - whether this machine is fit to measure: every check with its finding and what
 * would change it, every probe with what a read costs, and what each of its channels reads. */
#include "report/report_machine.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *assay__health_name(enum assay__health health)
{
    static const char *const names[] = {"good", "warning", "missing", "unknown"};
    return names[health];
}

/* --- checks ----------------------------------------------------------------------------------- */

static const struct assay__column check_columns[] = {
    {"id", "check", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {"verdict", "verdict", NULL, 0, 0, 0, 0},
    {"finding", "finding", NULL, 0, 0, ASSAY__COLUMN_PROSE, 0},
    {"advice", "fix", NULL, 0, 0, ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER, 0},
};

static const char *text_of(const struct assay__buf *text)
{
    return text->data ? text->data : "";
}

static void put_check(struct assay__table *t, const struct assay__diagnosis *d)
{
    static const enum assay__badge badges[] = {ASSAY__BADGE_PASS, ASSAY__BADGE_WARN,
                                               ASSAY__BADGE_FAIL, ASSAY__BADGE_NONE};
    bool bad = d->health == ASSAY__HEALTH_WARNING || d->health == ASSAY__HEALTH_MISSING;
    assay__table_row(t, bad ? ASSAY__ROW_FAULT : 0, NULL);
    assay__table_text(t, d->id);
    assay__table_cell(t, assay__datum_badge(assay__health_name(d->health), badges[d->health]));
    assay__table_text(t, text_of(&d->says));
    assay__table_text(t, text_of(&d->advice));
}

/* "2 missing, 3 warning, 8 unknown, 6 good." */
static void add_counts(struct assay__doc *doc, const struct assay__checkup *checkup)
{
    static const enum assay__health order[] = {ASSAY__HEALTH_MISSING, ASSAY__HEALTH_WARNING,
                                               ASSAY__HEALTH_UNKNOWN, ASSAY__HEALTH_GOOD};
    struct assay__buf text = {0};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        size_t count = 0;
        for (size_t i = 0; i < checkup->check_count; i++)
            count += checkup->checks[i].health == order[k];
        if (count)
            assay__buf_printf(&text, "%s%zu %s", text.length ? ", " : "", count,
                              assay__health_name(order[k]));
    }
    assay__doc_sentence(doc, ASSAY__TONE_LEAD, "%zu checks: %s.", checkup->check_count,
                        assay__doc_take(doc, &text));
}

static void add_checks(struct assay__doc *doc, const struct assay__checkup *checkup)
{
    assay__doc_section(doc,
                       &(struct assay__heading){.id = "checks", .title = "Checks", .quiet = true});
    add_counts(doc, checkup);
    struct assay__table *t = assay__doc_table(
        doc, &(struct assay__table){.name = "checks", .caption = "Checks", .limit = SIZE_MAX},
        check_columns, sizeof check_columns / sizeof check_columns[0]);
    for (size_t i = 0; i < checkup->check_count; i++)
        put_check(t, &checkup->checks[i]);
    assay__doc_end(doc);
}

/* --- probes ----------------------------------------------------------------------------------- */

static const struct assay__column probe_columns[] = {
    {"name", "probe", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {"available", NULL, NULL, 0, 0, 0, 0},
    {"readable", "readable", ASSAY__UNIT_COUNT, 0, 0, ASSAY__COLUMN_KEEP, 0},
    {"channels", "channels", ASSAY__UNIT_COUNT, 0, 1, 0, 0},
    {"read_us", "one read", "s", 1e-6, 0, ASSAY__COLUMN_KEEP, 0},
    {"slowest_us", "slowest", "s", 1e-6, 2, 0, 0},
    {"reads", NULL, NULL, 0, 0, 0, 0},
    {"summary", "reads", NULL, 0, 0, ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER, 0},
    {"reason", NULL, NULL, 0, 0, 0, 0},
};

static void put_probe(struct assay__table *t, const struct assay__examined *e)
{
    bool available = e->available_count > 0;
    const char *reason = *e->reason ? e->reason : "no reason was given";
    struct assay__datum none = assay__datum_unknown(reason);
    struct assay__datum slow = assay__datum_unknown("a read takes more than 0.2 s");
    assay__table_row(t, 0, NULL);
    assay__table_text(t, e->ops->name);
    assay__table_text(t, available ? "yes" : "no");
    assay__table_cell(t, available ? assay__datum_count((double)e->available_count) : none);
    assay__table_cell(t, available ? assay__datum_count((double)e->channel_count)
                                   : assay__datum_none());
    assay__table_cell(t, !available ? assay__datum_none()
                         : isnan(e->read_ns)
                             ? slow
                             : assay__datum_number(e->read_ns / 1e3, NULL, ASSAY_MEASURED));
    assay__table_cell(t, isnan(e->slowest_ns)
                             ? assay__datum_none()
                             : assay__datum_number(e->slowest_ns / 1e3, NULL, ASSAY_MEASURED));
    assay__table_number(t, e->reads, ASSAY_MEASURED);
    assay__table_text(t, e->ops->summary);
    assay__table_text(t, e->reason);
}

static const struct assay__column channel_columns[] = {
    {"probe", "probe", NULL, 0, 0, 0, 0},
    {"channel", "channel", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {"value", "value", ASSAY__UNIT_PLAIN, 0, 0, ASSAY__COLUMN_KEEP, 0},
    {"unit", NULL, NULL, 0, 0, 0, 0},
    {"available", NULL, NULL, 0, 0, 0, 0},
    {"source", "source", NULL, 0, 1, ASSAY__COLUMN_CODE, 0},
    {"reason", NULL, NULL, 0, 0, 0, 0},
};

/* A state by its name, a plain number as a count. */
static struct assay__datum reading(const struct assay__channel *c, double value, const char *reason)
{
    if (!isfinite(value)) return assay__datum_unknown(reason);
    bool plain = strcmp(c->unit, "1") == 0;
    struct assay__datum shown = assay__datum_number(value, plain ? ASSAY__UNIT_COUNT : c->unit,
                                                    ASSAY_MEASURED);
    for (size_t i = 0; c->states && c->states[i]; i++)
        if ((double)i == value) shown.text = c->states[i];
    return shown;
}

static void put_channel(struct assay__table *t, const struct assay__examined *e, size_t i)
{
    const struct assay__channel *c = &e->channels[i];
    const char *reason = c->available ? e->readings[i].reason : c->reason;
    assay__table_row(t, 0, NULL);
    assay__table_text(t, e->ops->name);
    assay__table_text(t, c->name);
    assay__table_cell(t, reading(c, c->available ? e->readings[i].value : (double)NAN, reason));
    assay__table_text(t, c->unit);
    assay__table_text(t, c->available ? "yes" : "no");
    assay__table_text(t, c->source);
    assay__table_text(t, reason);
}

static void add_probes(struct assay__doc *doc, const struct assay__checkup *checkup)
{
    size_t channels = 0;
    assay__doc_section(doc, &(struct assay__heading){.id = "probes",
                                                     .title = "Probes",
                                                     .remark = "one read of all channels: median "
                                                               "and slowest of 20"});
    struct assay__table *t = assay__doc_table(
        doc, &(struct assay__table){.name = "probes", .caption = "Probes", .limit = SIZE_MAX},
        probe_columns, sizeof probe_columns / sizeof probe_columns[0]);
    for (size_t i = 0; i < checkup->probe_count; i++) {
        put_probe(t, &checkup->probes[i]);
        channels += checkup->probes[i].channel_count;
    }
    const char *remark = assay__doc_printf(doc, "%zu, with what each read", channels);
    assay__doc_fold(
        doc, &(struct assay__heading){.id = "channels", .title = "Channels", .remark = remark});
    t = assay__doc_table(
        doc, &(struct assay__table){.name = "channels", .caption = "Channels", .limit = SIZE_MAX},
        channel_columns, sizeof channel_columns / sizeof channel_columns[0]);
    for (size_t i = 0; i < checkup->probe_count; i++)
        for (size_t k = 0; k < checkup->probes[i].channel_count; k++)
            put_channel(t, &checkup->probes[i], k);
    assay__doc_end(doc);
    assay__doc_end(doc);
}

int assay__doctor_document(const struct assay__checkup *checkup, struct assay__doc **made)
{
    int code = assay__doc_new(made);
    if (code) return code;
    assay__doc_name(*made, "doctor", "Measuring on this machine");
    add_checks(*made, checkup);
    add_probes(*made, checkup);
    return 0;
}
