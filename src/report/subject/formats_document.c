/* formats_document.c - the formats of a report and the figures of a profile. */
#include "report/formats.h"

#include "report/figure/figure.h"

static const struct assay__column columns[] = {
    {.key = "kind"},
    {"name", "name", .flags = ASSAY__COLUMN_NAME},
    {"extensions", .title = "extension"},
    {"summary", "what it is", .flags = ASSAY__COLUMN_PROSE},
};

/* CSV has both lists as one table. */
static struct assay__table *begin(struct assay__doc *doc, const char *id, const char *title,
                                  const char *remark)
{
    assay__doc_section(doc, id, title, remark, 0);
    return assay__doc_table(doc, "formats", title, columns);
}

int assay__formats_document(struct assay__doc **made)
{
    const struct assay__format *format;
    const struct assay__figure_row *figure;
    struct assay__doc *doc = assay__doc_open(made, "report", "Formats and figures");
    if (!doc) return ASSAY_ENOMEM;
    struct assay__table *t = begin(doc, "formats", "Formats",
                                   "chosen by name, or by file extension");
    for (size_t i = 0; (format = assay__format_at(i)); i++) {
        assay__table_row_of(t, 0, "format", format->name, format->extensions, format->summary);
    }
    assay__doc_end(doc);
    t = begin(doc, "figures", "Figures", "as SVG, or drawn in the terminal");
    for (size_t i = 0; (figure = assay__figure_row_at(i)); i++) {
        assay__table_row_of(t, 0, "figure", figure->name, NULL, figure->summary);
    }
    assay__doc_end(doc);
    return 0;
}
