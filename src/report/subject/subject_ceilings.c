/* subject_ceilings.c - the measured peaks of the devices, as stored in the profile: what the
 * rooflines compare with. */
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

static const struct assay__column columns[] = {
    {"device", .title = "device"},
    {"name", "ceiling", .flags = ASSAY__COLUMN_NAME},
    {"value", "value", ASSAY__UNIT_PLAIN, .flags = ASSAY__COLUMN_KEEP},
    {.key = "unit"},
    {"low", "repeats from", ASSAY__UNIT_PLAIN, .priority = 2},
    {"high", "to", ASSAY__UNIT_PLAIN, .priority = 2},
    {.key = "state"},
    {"source", "source", .priority = 4},
    {"note", "note", .flags = ASSAY__COLUMN_PROSE},
    {"measured_at", "measured", .priority = 1},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* The columns; what is the same in every row is said once, above the table. */
static const struct assay__column *columns_of(struct assay__doc *doc, const char **said)
{
    const struct assay_profile *profile = doc->study->profile;
    const struct assay__ceiling_info *first = &profile->ceilings[0];
    struct assay__column *own = assay__doc_columns(doc, columns, COLUMN_COUNT, 0);
    bool one_device = first->device && *first->device,
         one_time = first->measured_at && *first->measured_at;
    for (size_t i = 1; i < profile->ceiling_count; i++) {
        one_device &= same(first->device, profile->ceilings[i].device);
        one_time &= same(first->measured_at, profile->ceilings[i].measured_at);
    }
    for (size_t c = 0; own && c < COLUMN_COUNT; c++)
        if ((one_device && strcmp(own[c].key, "device") == 0) ||
            (one_time && strcmp(own[c].key, "measured_at") == 0))
            own[c].title = NULL;
    *said = assay__doc_printf(doc, "%s%sthe best of several repeats%s%s",
                              one_device ? first->device : "", one_device ? ", " : "",
                              one_time ? ", measured " : "", one_time ? first->measured_at : "");
    return own ? own : columns;
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    (void)trial;
    if (!profile->ceiling_count) return;
    const char *said;
    const struct assay__column *own = columns_of(doc, &said);
    assay__doc_section(doc, "ceilings", "Ceilings", said,
                       ASSAY__TAB_EVIDENCE | ASSAY__SECTION_DETAIL);
    struct assay__table *t = assay__doc_add_table(doc, "ceilings", "Measured limits of the devices",
                                                  own, COLUMN_COUNT);
    for (size_t i = 0; i < profile->ceiling_count; i++) {
        const struct assay__ceiling_info *c = &profile->ceilings[i];
        bool known = isfinite(c->value);
        assay__table_row_of(t, 0, c->device, c->name);
        assay__table_cell(t, assay__measured(c->value, c->unit));
        assay__table_text(t, c->unit);
        assay__table_cell(t, assay__measured(c->low, c->unit));
        assay__table_cell(t, assay__measured(c->high, c->unit));
        assay__table_texts(t, assay_state_name(known ? ASSAY_MEASURED : ASSAY_UNAVAILABLE),
                           c->source, c->note, c->measured_at);
    }
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_ceilings = {
    "ceilings", ASSAY__OF_PROFILE, build, {{"ceilings", ASSAY__ARRAY(columns)}}};
