/* hardware_list.c - the GPUs and NPUs that the operating system lists, usable or not: each with its
 * problem and the command that fixes it. */
#include "report/report_machine.h"

#include <string.h>

static const struct assay__column columns[] = {
    {"class", .title = "class"},
    {.key = "name"},
    {.title = "name", .flags = ASSAY__COLUMN_NAME},
    {.key = "vendor"},
    {"memory_bytes", "memory", "B", .priority = 1},
    {"driver", "driver", .priority = 2},
    {"driver_version", "version", .priority = 3},
    {"pci", "PCI", .priority = 5, .flags = ASSAY__COLUMN_CODE},
    {.key = "uuid"},
    {"source", "source", .priority = 6, .flags = ASSAY__COLUMN_CODE},
    {"reached_by", "reached by", .flags = ASSAY__COLUMN_KEEP},
    {"note", "note", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER},
    {"help", "fix", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER},
};

/* "Intel 0x8086:0xe2ff": the vendor is not repeated. */
static const char *title_of(struct assay__doc *doc, const struct assay__hardware *item)
{
    bool named = *item->vendor && strncmp(item->name, item->vendor, strlen(item->vendor)) == 0;
    if (!*item->name)
        return assay__doc_printf(doc, "%s%smodel not reported", item->vendor,
                                 *item->vendor ? ", " : "");
    if (named || !*item->vendor) return item->name;
    return assay__doc_printf(doc, "%s %s", item->vendor, item->name);
}

static void put_row(struct assay__table *t, const struct assay__hardware *item,
                    const struct assay__datum *reached)
{
    assay__table_row_of(t, 0, item->kind, item->name, title_of(t->doc, item), item->vendor);
    if (item->memory_bytes)
        assay__table_number(t, (double)item->memory_bytes, ASSAY_MEASURED);
    else
        assay__table_skip(t, 1);
    assay__table_texts(t, item->driver, item->driver_version, item->pci, item->uuid, item->source);
    assay__table_cell(t, reached ? *reached : assay__datum_none());
    assay__table_texts(t, item->note, item->help);
}

void assay__add_hardware(struct assay__doc *doc, const struct assay__hardware *items, size_t count,
                         const struct assay__datum *reached)
{
    assay__doc_section(doc, "hardware", "GPUs and NPUs", "as the operating system lists them", 0);
    struct assay__table *t = assay__doc_table(doc, "hardware", "GPUs and NPUs", columns);
    for (size_t i = 0; i < count; i++)
        put_row(t, &items[i], reached ? &reached[i] : NULL);
    if (!count) assay__doc_plain(doc, "None.");
    assay__doc_end(doc);
}
