/* subject_ceilings.c - the measured peaks of the devices, as stored in the profile: what the
 * rooflines compare with. */
#include "report/subject/subject.h"

#include <math.h>

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

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    (void)trial;
    if (!profile->ceiling_count) return;
    assay__doc_section(doc, "ceilings", "Ceilings", "the best of several repeats",
                       ASSAY__TAB_EVIDENCE | ASSAY__SECTION_DETAIL);
    struct assay__table *t = assay__doc_table(doc, "ceilings", "Measured limits of the devices",
                                              columns);
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
