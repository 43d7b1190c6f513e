/* import_xctrace.c - what `xctrace export --xpath …` of Apple's Instruments writes: one table or
 * several, as XML.
 *
 *   <trace-query-result> <node xpath="…"> <schema name="metal-gpu-intervals"> <col><mnemonic>start
 *   </mnemonic><engineering-type>start-time</engineering-type></col> … </schema>
 *   <row> one cell for each column </row> … </node> … </trace-query-result>
 *
 * Columns are known by their mnemonics. A node without a schema continues the table before it. A
 * row with another number of cells is not read. Times count from the start of the recording. */
#include "base/vec.h"
#include "import/importers.h"
#include "import/xctrace_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 256
#define HEAD_BYTES 4096 /* the first element is within them */

struct column {
    enum assay__xctrace_field field;
    enum assay__xctrace_role role;
    uint16_t type; /* of its cells; 0: not given */
};

struct reader {
    struct assay__events *events;
    struct assay__trace_source *source;
    struct assay__xml xml;
    struct assay__xctrace_values values;
    const struct assay__xctrace_table *table; /* NULL: not read */
    char schema[96];
    struct column columns[MOST_COLUMNS];
    size_t column_count;
    uint64_t rows, skipped;
    char complaint[160];
    bool is_contents, has_table;
};

static void skip_row(struct reader *reader, const char *format, const char *detail)
{
    reader->skipped++;
    if (!reader->complaint[0])
        snprintf(reader->complaint, sizeof reader->complaint, format, detail);
}

/* --- the schema ------------------------------------------------------------------------------- */

/* The text of the element that just began, to its end; cut at `size`. */
static struct assay__xml_text read_text(struct assay__xml *xml, char *out, size_t size)
{
    size_t outside = xml->depth - 1, length = 0;
    while (xml->depth > outside) {
        enum assay__xml_kind kind = assay__xml_next(xml);
        if (kind == ASSAY__XML_NOTHING) break;
        if (kind != ASSAY__XML_TEXT || length) continue;
        length = xml->text.length < size ? xml->text.length : size;
        memcpy(out, xml->text.at, length);
    }
    while (length && (unsigned char)out[length - 1] <= ' ')
        length--;
    return (struct assay__xml_text){out, length};
}

static void read_column(struct reader *reader)
{
    char mnemonic_text[64], type_text[48];
    struct assay__xml *xml = &reader->xml;
    struct assay__xml_text mnemonic = {"", 0}, type = {"", 0};
    size_t outside = xml->depth - 1;
    while (xml->depth > outside) {
        enum assay__xml_kind kind = assay__xml_next(xml);
        if (kind == ASSAY__XML_NOTHING) return;
        if (kind != ASSAY__XML_BEGIN) continue;
        if (assay__xml_is(xml->name, "mnemonic"))
            mnemonic = read_text(xml, mnemonic_text, sizeof mnemonic_text);
        else if (assay__xml_is(xml->name, "engineering-type"))
            type = read_text(xml, type_text, sizeof type_text);
        else
            assay__xml_skip(xml);
    }
    if (reader->column_count == MOST_COLUMNS) return;
    struct column *column = &reader->columns[reader->column_count++];
    column->field = assay__xctrace_field_of(mnemonic, type, &column->role);
    column->type = type.length ? assay__xctrace_type(&reader->values, type, 0) : 0;
}

static void read_schema(struct reader *reader)
{
    struct assay__xml *xml = &reader->xml;
    struct assay__xml_text name = assay__xml_attribute(xml, "name");
    size_t outside = xml->depth - 1;
    snprintf(reader->schema, sizeof reader->schema, "%.*s", (int)(name.length & 0xff),
             name.at ? name.at : "");
    reader->table = assay__xctrace_table_find(reader->schema);
    reader->column_count = 0;
    reader->has_table = true;
    while (xml->depth > outside) {
        enum assay__xml_kind kind = assay__xml_next(xml);
        if (kind == ASSAY__XML_NOTHING) return;
        if (kind != ASSAY__XML_BEGIN) continue;
        if (assay__xml_is(xml->name, "col"))
            read_column(reader);
        else
            assay__xml_skip(xml);
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The next cell, whose element just began. */
static void read_cell(struct reader *reader, struct assay__xctrace_row *row, size_t index)
{
    static const struct column unwanted = {ASSAY__XCTRACE_FIELDS, ASSAY__XCTRACE_ANY, 0};
    const struct column *column = index < reader->column_count ? &reader->columns[index]
                                                               : &unwanted;
    if (assay__xml_is(reader->xml.name, "sentinel")) {
        assay__xml_skip(&reader->xml);
        return;
    }
    struct assay__xctrace_value cell = assay__xctrace_read(&reader->values, &reader->xml,
                                                           column->role);
    if (column->type && cell.type != column->type) {
        reader->values.faults++;
        if (!reader->values.complaint)
            reader->values.complaint = "a cell whose type is not its column's";
        return;
    }
    if (column->field == ASSAY__XCTRACE_FIELDS) return;
    /* of two columns for one field (event-label, encoder-label) the first that is known counts */
    if (!row->cells[column->field].kind) row->cells[column->field] = cell;
}

static void read_row(struct reader *reader)
{
    struct assay__xml *xml = &reader->xml;
    struct assay__xctrace_row row = {0};
    size_t cells = 0, outside = xml->depth - 1;
    reader->rows++;
    if (assay__xml_attribute(xml, "address").at) {
        if (!assay__xctrace_allocation(&reader->values, xml))
            skip_row(reader, "%s", "an allocation without time or size");
        return;
    }
    while (xml->depth > outside) {
        enum assay__xml_kind kind = assay__xml_next(xml);
        if (kind == ASSAY__XML_NOTHING) {
            skip_row(reader, "%s", "the text ends within a row");
            return;
        }
        if (kind == ASSAY__XML_BEGIN) read_cell(reader, &row, cells++);
    }
    if (!reader->table)
        skip_row(reader, "rows of the table \"%s\", which is not read", reader->schema);
    else if (cells != reader->column_count)
        skip_row(reader, "a row of \"%s\" whose cells do not match its columns", reader->schema);
    else if (!reader->table->add(&reader->values, &row))
        skip_row(reader, "a row of \"%s\" without a time", reader->schema);
    assay__xctrace_forget(&reader->values);
}

static void read_document(struct reader *reader)
{
    struct assay__xml *xml = &reader->xml;
    enum assay__xml_kind kind;
    while (!reader->values.failed && (kind = assay__xml_next(xml)) != ASSAY__XML_NOTHING) {
        if (kind != ASSAY__XML_BEGIN) continue;
        if (assay__xml_is(xml->name, "trace-query-result")) {
            assay__xctrace_values_reset(&reader->values); /* ids are the document's */
        } else if (assay__xml_is(xml->name, "schema")) {
            read_schema(reader);
        } else if (assay__xml_is(xml->name, "row")) {
            read_row(reader);
        } else if (!assay__xml_is(xml->name, "node")) {
            reader->is_contents |= assay__xml_is(xml->name, "trace-toc");
            assay__xml_skip(xml);
        }
    }
}

/* --- the importer ----------------------------------------------------------------------------- */

static enum assay__import_match match(const char *head, size_t size)
{
    if (size > HEAD_BYTES) size = HEAD_BYTES;
    bool is_export = memmem(head, size, "<trace-query-result", 19) ||
                     memmem(head, size, "<trace-toc", 10);
    return is_export ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO;
}

static void fill_source(struct reader *reader)
{
    struct assay__trace_source *source = reader->source;
    const char *complaint = reader->complaint;
    char counted[160];
    if (reader->xml.complaint) complaint = reader->xml.complaint;
    if (!complaint[0] && reader->values.faults) {
        snprintf(counted, sizeof counted, "%s; this makes %llu values unknown",
                 reader->values.complaint, (unsigned long long)reader->values.faults);
        complaint = counted;
    }
    if (!complaint[0] && !reader->rows) complaint = "no rows";
    source->producer = "xctrace";
    source->clock = "time since the recording began";
    source->skipped += reader->skipped;
    source->truncated = reader->xml.truncated;
    if (complaint[0]) source->complaint = assay__events_keep(reader->events, complaint);
}

static int read_export(struct assay__import_stream *stream, struct assay__events *events,
                       struct assay__trace_source *source, struct assay_error *error)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    reader->events = reader->values.events = events;
    reader->source = source;
    reader->xml.window = assay__import_window_over(stream, error);
    read_document(reader);
    int code = reader->xml.window.code;
    if (!code && reader->values.failed)
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    fill_source(reader);
    if (!code && reader->is_contents)
        code = assay_error_set(
            error, ASSAY_EFORMAT,
            "%s: a table of contents; export its tables (xctrace export --xpath)", source->path);
    else if (!code && !reader->has_table && !reader->rows)
        code = assay_error_set(error, ASSAY_EFORMAT, "%s: no table could be read: %s", source->path,
                               source->complaint);
    assay__import_window_free(&reader->xml.window);
    assay__xctrace_values_free(&reader->values);
    free(reader);
    return code;
}

const struct assay__importer assay__importer_xctrace = {
    .name = "xctrace",
    .title = "Instruments (xctrace export), XML",
    .caveat = "tested only on real exports of metal-gpu-intervals and time-sample",
    .match = match,
    .read = read_export,
};
