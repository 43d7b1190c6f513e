/* formats_document.c - the formats of a report and the figures of a profile. */
#include "report/formats.h"

#include "report/figure/figure.h"

#include <stdint.h>

static const struct assay__column columns[] = {
    {"kind", NULL, NULL, 0, 0, 0, 0},
    {"name", "name", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {"extensions", "file ends in", NULL, 0, 0, 0, 0},
    {"summary", "what it is", NULL, 0, 0, ASSAY__COLUMN_PROSE, 0},
};

/* CSV has both lists as one table. */
static struct assay__table *begin(struct assay__doc *doc, const struct assay__heading *heading)
{
    assay__doc_section(doc, heading);
    return assay__doc_table(
        doc,
        &(struct assay__table){.name = "formats", .caption = heading->title, .limit = SIZE_MAX},
        columns, sizeof columns / sizeof columns[0]);
}

static void put_row(struct assay__table *t, const char *kind, const char *name,
                    const char *extensions, const char *summary)
{
    const char *const cells[] = {kind, name, extensions, summary};
    assay__table_row(t, 0, NULL);
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        assay__table_text(t, cells[i]);
}

int assay__formats_document(struct assay__doc **made)
{
    const struct assay__format *format;
    const struct assay__figure_row *figure;
    int code = assay__doc_new(made);
    struct assay__doc *doc = *made;
    if (code) return code;
    assay__doc_name(doc, "report", "Formats and figures");
    struct assay__table *t = begin(doc, &(struct assay__heading){.id = "formats",
                                                                 .title = "Formats",
                                                                 .remark = "--format, or -o FILE"});
    for (size_t i = 0; (format = assay__format_at(i)); i++)
        put_row(t, "format", format->name, format->extensions, format->summary);
    assay__doc_end(doc);
    t = begin(doc, &(struct assay__heading){
                       .id = "figures", .title = "Figures", .remark = "--svg NAME, --chart NAME"});
    for (size_t i = 0; (figure = assay__figure_row_at(i)); i++)
        put_row(t, "figure", figure->name, NULL, figure->summary);
    assay__doc_end(doc);
    return 0;
}
