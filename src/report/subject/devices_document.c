/* devices_document.c - the machine, how its processors are laid out, its GPUs and NPUs, what every
 * build of an engine offers on them, and the measured peaks of the devices. */
#include "report/report_machine.h"

#include <math.h>
#include <string.h>

const char *assay__found_hardware(const struct assay__found *found,
                                  const struct assay__device *device)
{
    bool processor = strcmp(device->kind, "cpu") == 0 && device->available;
    return *device->hardware || !processor ? device->hardware : found->machine.cpu_model;
}

static double or_nan(double value)
{
    return value > 0 ? value : (double)NAN;
}

static void add_machine(struct assay__doc *doc, const struct assay__found *found)
{
    const struct assay__machine *m = &found->machine;
    assay__doc_section(doc, "machine", "Machine", NULL, ASSAY__SECTION_QUIET);
    if (found->interrupted) assay__doc_warn(doc, "Interrupted: the list is incomplete.");
    assay__doc_fact(doc, "processor");
    if (*m->cpu_model)
        assay__doc_item_text(doc, "%s", m->cpu_model);
    else
        assay__doc_item(doc, NULL, assay__datum_unknown("not reported by the system"));
    assay__doc_item_text(doc, "%s", m->architecture);
    assay__doc_fact(doc, "cores");
    if (m->cores > 0) assay__doc_item_after(doc, NULL, assay__datum_count(m->cores), "cores");
    if (m->threads > 0)
        assay__doc_item_after(doc, NULL, assay__datum_count(m->threads), "hardware threads");
    assay__doc_fact_number(doc, "max clock", or_nan(m->cpu_max_hz), "Hz");
    assay__doc_fact_text(doc, "governor", m->governor);
    assay__doc_fact_text(doc, "vector units", m->simd);
    assay__doc_fact_number(doc, "memory", or_nan((double)m->memory_bytes), "B");
    assay__doc_fact_text(doc, "virtualised", m->virtualized);
    assay__doc_fact_text(doc, "container", m->container);
    assay__doc_end(doc);
}

/* The GPUs and NPUs that the operating system lists, usable or not: each with its problem and the
 * command that fixes it. */
static const struct assay__column hardware_columns[] = {
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
static const char *hardware_title(struct assay__doc *doc, const struct assay__hardware *item)
{
    bool named = *item->vendor && strncmp(item->name, item->vendor, strlen(item->vendor)) == 0;
    if (!*item->name)
        return assay__doc_printf(doc, "%s%smodel not reported", item->vendor,
                                 *item->vendor ? ", " : "");
    if (named || !*item->vendor) return item->name;
    return assay__doc_printf(doc, "%s %s", item->vendor, item->name);
}

void assay__add_hardware(struct assay__doc *doc, const struct assay__hardware *items, size_t count,
                         const struct assay__datum *reached)
{
    assay__doc_section(doc, "hardware", "GPUs and NPUs", "as the operating system lists them", 0);
    struct assay__table *t = assay__doc_table(doc, "hardware", "GPUs and NPUs", hardware_columns);
    for (size_t i = 0; i < count; i++) {
        const struct assay__hardware *item = &items[i];
        assay__table_row_of(t, 0, item->kind, item->name, hardware_title(doc, item), item->vendor);
        assay__table_known(t, or_nan((double)item->memory_bytes), ASSAY_MEASURED);
        assay__table_texts(t, item->driver, item->driver_version, item->pci, item->uuid,
                           item->source);
        assay__table_cell(t, reached ? reached[i] : assay__datum_none());
        assay__table_texts(t, item->note, item->help);
    }
    if (!count) assay__doc_plain(doc, "None.");
    assay__doc_end(doc);
}

/* The provider of ONNX Runtime that is made for a processor; "" none is known. */
static const char *provider_for(const struct assay__hardware *hardware)
{
    static const struct {
        const char *vendor, *kind, *provider;
    } rows[] = {{"NVIDIA", "gpu", "cuda"},    {"AMD", "gpu", "migraphx"},
                {"AMD", "npu", "vitisai"},    {"Intel", "gpu", "openvino"},
                {"Intel", "npu", "openvino"}, {"Qualcomm", "npu", "qnn"},
                {"Apple", "gpu", "coreml"},   {"Apple", "npu", "coreml"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].vendor, hardware->vendor) == 0 &&
            strcmp(rows[i].kind, hardware->kind) == 0)
            return rows[i].provider;
    return "";
}

/* The usable devices whose driver reports the same name; else what could use it. */
static struct assay__datum reached_by(struct assay__doc *doc, const struct assay__found *found,
                                      const struct assay__hardware *hardware)
{
    struct assay__buf names = {0};
    const char *provider = provider_for(hardware);
    for (size_t i = 0; i < found->count && *hardware->name; i++) {
        const struct assay__device *d = &found->items[i].device;
        if (d->available && strcmp(d->hardware, hardware->name) == 0)
            assay__buf_join(&names, found->items[i].name);
    }
    const char *all = assay__doc_take(doc, &names);
    if (*all) return assay__datum_text(all);
    if (!*provider) return assay__datum_none();
    return assay__datum_unknown(
        assay__doc_printf(doc, "no device uses it; a build with the %s provider could", provider));
}

static const struct assay__column columns[] = {
    {"name", "device", .flags = ASSAY__COLUMN_NAME},
    {"class", .title = "class"},
    {.key = "engine"},
    {.key = "build"},
    {"available", .title = "usable"},
    {"reason", "why not", .flags = ASSAY__COLUMN_PROSE},
    {"hardware", "hardware", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_KEEP},
    {.key = "software"},
    {.key = "note"},
    {.title = "note", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_AFTER},
    {.key = "library"},
    {.key = "version"},
    {.key = "offered"},
};

static const char *yes_or_no(bool is)
{
    return is ? "yes" : "no";
}

/* "cuda, tensorrt, coreml": names up to the colon, each once. */
static void add_missing(struct assay__doc *doc, const struct assay__found *found,
                        const struct assay__found_build *build)
{
    struct assay__buf names = {0};
    for (size_t i = 0; i < build->count; i++) {
        const struct assay__device *d = &found->items[build->first + i].device;
        size_t length = strcspn(d->name, ":");
        bool again = false;
        if (d->offered) continue;
        for (size_t k = 0; k < i; k++) {
            const struct assay__device *other = &found->items[build->first + k].device;
            again |= !other->offered && strcspn(other->name, ":") == length &&
                     strncmp(other->name, d->name, length) == 0;
        }
        if (!again)
            assay__buf_printf(&names, "%s%.*s", names.length ? ", " : "", (int)length, d->name);
    }
    const char *all = assay__doc_take(doc, &names);
    if (*all) assay__doc_note(doc, "Not in this build: %s.", all);
}

static void add_build(struct assay__doc *doc, const struct assay__found *found,
                      const struct assay__found_build *build)
{
    const char *id = assay__doc_printf(doc, "build-%zu", (size_t)(build - found->builds) + 1);
    const struct assay__engine_ops *engine = assay__engine_find(build->engine);
    bool ort = engine && strcmp(build->engine, "ort") == 0;
    assay__doc_section(doc, id,
                       assay__doc_printf(doc, "%s%s%s%s%s", ort ? engine->summary : build->engine,
                                         *build->version ? " " : "", build->version,
                                         *build->name ? ", build " : "", build->name),
                       *build->version ? NULL : "version unknown", 0);
    assay__doc_fact_text(doc, "library", build->path);
    struct assay__table *t = assay__doc_table(doc, "devices", "Devices", columns);
    for (size_t i = 0; i < build->count; i++) {
        const struct assay__found_device *item = &found->items[build->first + i];
        const struct assay__device *d = &item->device;
        const char *hardware = assay__found_hardware(found, d), *note = d->note;
        if (d->software)
            note = assay__doc_printf(doc, "software: it runs on the CPU%s%s%s",
                                     *d->note ? " (" : "", d->note, *d->note ? ")" : "");
        bool shown = d->offered || build->count == 1, unnamed = !*hardware && d->available;
        assay__table_row_of(t, shown ? 0 : ASSAY__ROW_DATA, item->name, d->kind, d->engine,
                            build->name, yes_or_no(d->available), d->reason);
        assay__table_cell(t, unnamed ? assay__datum_unknown("not named")
                                     : assay__datum_text(hardware));
        assay__table_texts(t, yes_or_no(d->software), d->note, note, d->library, d->version,
                           yes_or_no(d->offered));
    }
    if (build->count > 1) add_missing(doc, found, build);
    bool said = build->count == 1 &&
                strcmp(found->items[build->first].device.reason, build->reason) == 0;
    if (!said) assay__doc_say(doc, ASSAY__TONE_WARN, build->reason);
    assay__doc_end(doc);
}

/* A usable device other than the CPU was measured too, or would have been. */
static bool was_asked(const struct assay__found *found, const struct assay__found_device *item)
{
    return found->asked && item->device.available && strcmp(item->device.kind, "cpu") != 0;
}

int assay__devices_document(const struct assay__found *found, struct assay__doc **made)
{
    struct assay__doc *doc = assay__doc_open(made, "devices", "Devices");
    if (!doc) return ASSAY_ENOMEM;
    doc->table = "devices";
    add_machine(doc, found);
    assay__add_topology(doc, &found->topology, found->machine.memory_bytes);
    struct assay__datum *reached = assay__doc_array(doc, found->hardware_count + 1,
                                                    sizeof *reached);
    for (size_t i = 0; reached && i < found->hardware_count; i++)
        reached[i] = reached_by(doc, found, &found->hardware[i]);
    assay__add_hardware(doc, found->hardware, found->hardware_count, reached);
    for (size_t i = 0; i < found->build_count; i++)
        add_build(doc, found, &found->builds[i]);
    bool others = false;
    for (size_t i = 0; i < found->count; i++)
        others |= was_asked(found, &found->items[i]);
    assay__doc_section(doc, "ceilings", "Ceilings", "measured limits of the devices", 0);
    if (!found->cpu && (found->cpu_asked || !others))
        assay__doc_fact_unknown(doc, others ? "CPU" : "measured", found->why);
    for (size_t i = 0; i < found->count; i++)
        if (was_asked(found, &found->items[i]) && !found->items[i].ceilings)
            assay__doc_fact_unknown(doc, found->items[i].name, found->items[i].why);
    if (found->cpu) assay__add_ceilings(doc, found->cpu, NULL);
    for (size_t i = 0; i < found->count; i++)
        if (was_asked(found, &found->items[i]) && found->items[i].ceilings)
            assay__add_ceilings(doc, found->items[i].ceilings, found->items[i].name);
    struct assay__table *t = assay__add_ceiling_table(doc);
    if (found->cpu) assay__add_ceiling_rows(t, found->cpu, "cpu");
    for (size_t i = 0; i < found->count; i++)
        if (was_asked(found, &found->items[i]) && found->items[i].ceilings)
            assay__add_ceiling_rows(t, found->items[i].ceilings, found->items[i].name);
    assay__doc_end(doc);
    return 0;
}
