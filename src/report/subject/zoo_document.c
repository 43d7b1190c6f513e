/* zoo_document.c - the models of the zoo with their parameters. */
#include "report/report_make.h"

#include "zoo/zoo.h"

static const struct assay__column columns[] = {
    {"name", "model", .flags = ASSAY__COLUMN_NAME},
    {"summary", "what it is", .flags = ASSAY__COLUMN_PROSE},
    {.key = "parameters"},
    {.title = "parameters", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER},
};

/* "batch=1, classes=1000": lines may break after a comma. */
static const char *spaced(struct assay__doc *doc, const char *parameters)
{
    struct assay__buf out = {0};
    for (const char *c = parameters; *c; c++) {
        assay__buf_putc(&out, *c);
        if (*c == ',') assay__buf_putc(&out, ' ');
    }
    return assay__doc_take(doc, &out);
}

int assay__zoo_document(struct assay__doc **made)
{
    const struct assay__zoo_entry *entry;
    struct assay__doc *doc = assay__doc_open(made, "make", "Models of the zoo");
    if (!doc) return ASSAY_ENOMEM;
    struct assay__table *t = assay__doc_table(doc, "zoo", "Models", columns);
    for (size_t i = 0; (entry = assay__zoo_at(i)); i++) {
        struct assay__buf line = {0};
        assay__zoo_params_line(&line, entry);
        const char *parameters = assay__doc_take(doc, &line);
        assay__table_row_of(t, 0, entry->name, entry->summary, parameters, spaced(doc, parameters));
    }
    return 0;
}
