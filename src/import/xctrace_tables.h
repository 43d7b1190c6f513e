/* xctrace_tables.h - the tables of an xctrace export that are read, and what their rows become.
 * Private to the importer. */
#ifndef ASSAY_IMPORT_XCTRACE_TABLES_H
#define ASSAY_IMPORT_XCTRACE_TABLES_H

#include "import/xctrace_values.h"

/** What a column holds, whatever the table. */
enum assay__xctrace_field {
    ASSAY__XCTRACE_START,
    ASSAY__XCTRACE_DURATION,
    ASSAY__XCTRACE_WEIGHT,
    ASSAY__XCTRACE_CHANNEL,
    ASSAY__XCTRACE_LABEL,
    ASSAY__XCTRACE_STATE,
    ASSAY__XCTRACE_PROCESS,
    ASSAY__XCTRACE_THREAD,
    ASSAY__XCTRACE_GPU,
    ASSAY__XCTRACE_BYTES,
    ASSAY__XCTRACE_COMMAND_BUFFER,
    ASSAY__XCTRACE_LATENCY,
    ASSAY__XCTRACE_BACKTRACE,
    ASSAY__XCTRACE_NAME,
    ASSAY__XCTRACE_SUBSYSTEM,
    ASSAY__XCTRACE_EVENT_TYPE,
    ASSAY__XCTRACE_MODEL,
    ASSAY__XCTRACE_FIELDS /* and: a column that is not wanted */
};

struct assay__xctrace_row {
    struct assay__xctrace_value cells[ASSAY__XCTRACE_FIELDS];
};

struct assay__xctrace_table {
    const char *schema; /* its name; "*" at the end matches any ending */
    /** False: the row has no time, and was not placed. */
    bool (*add)(struct assay__xctrace_values *values, const struct assay__xctrace_row *row);
};

/** NULL: a table that is not read. */
const struct assay__xctrace_table *assay__xctrace_table_find(const char *schema);
/** The field of a column, by its mnemonic, else by its type; *role is what its cells are. */
enum assay__xctrace_field assay__xctrace_field_of(struct assay__xml_text mnemonic,
                                                  struct assay__xml_text type,
                                                  enum assay__xctrace_role *role);
/** A row of the list of allocations, whose values are attributes: <row address= category= live=
 *  size= timestamp=><backtrace/></row>. Reads it to its end. False: it is not one. */
bool assay__xctrace_allocation(struct assay__xctrace_values *values, struct assay__xml *xml);

#endif
