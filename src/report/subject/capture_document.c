/* capture_document.c - what `assay doctor --capture` copied of this machine, and what it could not
 * copy. */
#include "report/report_machine.h"

#include "base/text.h"

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
