/* devices_print.c - what `assay devices` found, as text for people and as JSON. */
#include "base/json.h"
#include "base/text.h"
#include "cli/device_list.h"
#include "report/ceilings.h"
#include "report/topology.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_LEAST 17
#define NAME_MOST 34

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_bytes(struct assay__json_writer *w, const char *key, uint64_t bytes)
{
    assay__json_put_number(w, key, bytes ? (double)bytes : (double)NAN);
}

static void cpu_json(struct assay__json_writer *w, const struct assay__machine *m)
{
    assay__json_key(w, "cpu");
    assay__json_object(w);
    assay__json_put_text(w, "model", m->cpu_model);
    assay__json_put_text(w, "architecture", m->architecture);
    assay__json_put_count(w, "packages", m->packages, 1);
    assay__json_put_count(w, "cores", m->cores, 1);
    assay__json_put_count(w, "threads", m->threads, 1);
    assay__json_put_number(w, "max_hz", m->cpu_max_hz > 0 ? m->cpu_max_hz : (double)NAN);
    put_bytes(w, "l1d_bytes", m->l1d_bytes);
    put_bytes(w, "l2_bytes", m->l2_bytes);
    put_bytes(w, "l3_bytes", m->l3_bytes);
    assay__json_put_text(w, "simd", m->simd);
    assay__json_put_text(w, "governor", m->governor);
    assay__json_object_end(w);
    put_bytes(w, "memory_bytes", m->memory_bytes);
    assay__json_put_text(w, "virtualized", m->virtualized);
    assay__json_put_text(w, "container", m->container);
}

static const char *hardware_of(const struct assay__found *found, const struct assay_device *d)
{
    bool cpu = strcmp(d->kind, "cpu") == 0;
    return *d->hardware || !cpu || !d->available ? d->hardware : found->machine.cpu_model;
}

static void device_json(struct assay__json_writer *w, const struct assay__found *found,
                        const struct assay__found_build *build,
                        const struct assay__found_device *item)
{
    const struct assay_device *d = &item->device;
    assay__json_object(w);
    assay__json_put_string(w, "name", item->name);
    assay__json_put_string(w, "class", d->kind);
    assay__json_put_string(w, "engine", d->engine);
    assay__json_put_text(w, "build", build->name);
    assay__json_put_text(w, "library", d->library);
    assay__json_put_text(w, "version", d->version);
    assay__json_put_bool(w, "available", d->available);
    assay__json_put_bool(w, "offered", d->offered);
    assay__json_put_text(w, "reason", d->reason);
    assay__json_put_text(w, "hardware", hardware_of(found, d));
    assay__json_put_bool(w, "software", d->software);
    assay__json_put_text(w, "note", d->note);
    assay__ceilings_json(w, item->ceilings, item->why);
    assay__json_object_end(w);
}

static void builds_json(struct assay__json_writer *w, const struct assay__found *found)
{
    assay__json_key(w, "builds");
    assay__json_array(w);
    for (size_t i = 0; i < found->build_count; i++) {
        const struct assay__found_build *build = &found->builds[i];
        assay__json_object(w);
        assay__json_put_text(w, "name", build->name);
        assay__json_put_string(w, "engine", build->engine);
        assay__json_put_text(w, "library", build->path);
        assay__json_put_text(w, "version", build->version);
        assay__json_put_text(w, "reason", build->reason);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

void assay__devices_json(struct assay__buf *out, const struct assay__found *found)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__render_json_head(w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "devices");
    assay__json_put_bool(w, "interrupted", found->interrupted);
    assay__json_key(w, "devices");
    assay__json_array(w);
    for (size_t b = 0; b < found->build_count; b++)
        for (size_t i = 0; i < found->builds[b].count; i++)
            device_json(w, found, &found->builds[b], &found->items[found->builds[b].first + i]);
    assay__json_array_end(w);
    builds_json(w, found);
    cpu_json(w, &found->machine);
    assay__topology_json(w, &found->topology);
    assay__hardware_json(w, found->hardware, found->hardware_count);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}

/* --- text ------------------------------------------------------------------------------------- */

static void machine_text(struct assay__page *page, const struct assay__machine *m)
{
    char scaled[64];
    struct assay__buf line = {0};
    assay__buf_puts(&line, *m->cpu_model ? m->cpu_model : "CPU of unknown model");
    if (m->cores > 0) assay__buf_printf(&line, ", %d core%s", m->cores, m->cores > 1 ? "s" : "");
    if (m->threads > 0)
        assay__buf_printf(&line, ", %d hardware thread%s", m->threads, m->threads > 1 ? "s" : "");
    if (m->memory_bytes) {
        assay__text_scaled(scaled, sizeof scaled, (double)m->memory_bytes, "B");
        assay__buf_printf(&line, ", %s of memory", scaled);
    }
    assay__page_wrap(page, ASSAY__STYLE_BOLD, "", assay__buf_text(&line));
    if (*m->simd) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "", m->simd);
    assay__buf_free(&line);
}

/* The provider of ONNX Runtime that is made for a processor. */
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

static void reached_names(const struct assay__found *found, const char *hardware,
                          struct assay__buf *names)
{
    for (size_t i = 0; i < found->count && *hardware; i++) {
        const struct assay_device *d = &found->items[i].device;
        if (d->available && strcmp(d->hardware, hardware) == 0)
            assay__buf_printf(names, "%s%s", names->length ? ", " : "", found->items[i].name);
    }
}

/* Of what the system shows: which usable devices run on it (their driver gives the same name), and
 * what else could. */
static void reached_text(struct assay__page *page, const struct assay__found *found)
{
    const char *label = "reached by";
    for (size_t h = 0; h < found->hardware_count; h++) {
        const struct assay__hardware *hardware = &found->hardware[h];
        const char *provider = provider_for(hardware);
        struct assay__buf names = {0}, text = {0};
        reached_names(found, hardware->name, &names);
        assay__buf_printf(&text, "%s: ", *hardware->name ? hardware->name : hardware->vendor);
        if (names.length)
            assay__buf_puts(&text, names.data);
        else if (*provider)
            assay__buf_printf(&text, "none that says so; a build with the provider %s could",
                              provider);
        if (names.length || *provider) {
            assay__page_row(page, label, assay__buf_text(&text));
            label = "";
        }
        assay__buf_free(&text);
        assay__buf_free(&names);
    }
}

/* "cuda, tensorrt, coreml": names up to the colon, each once. */
static void missing_text(struct assay__page *page, const struct assay__found *found,
                         const struct assay__found_build *build)
{
    struct assay__buf names = {0};
    for (size_t i = 0; i < build->count; i++) {
        const struct assay_device *d = &found->items[build->first + i].device;
        size_t length = strcspn(d->name, ":");
        bool again = false;
        if (d->offered) continue;
        for (size_t k = 0; k < i; k++) {
            const struct assay_device *other = &found->items[build->first + k].device;
            again |= !other->offered && strcspn(other->name, ":") == length &&
                     strncmp(other->name, d->name, length) == 0;
        }
        if (!again)
            assay__buf_printf(&names, "%s%.*s", names.length ? ", " : "", (int)length, d->name);
    }
    if (names.length)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  not in this build: ", assay__buf_text(&names));
    assay__buf_free(&names);
}

/* Of the names that are shown; a longer one pushes its row aside. */
static size_t name_columns(const struct assay__found *found)
{
    size_t columns = NAME_LEAST;
    for (size_t i = 0; i < found->count; i++) {
        size_t length = strlen(found->items[i].name);
        if (found->items[i].device.offered && length > columns && length <= NAME_MOST)
            columns = length;
    }
    return columns;
}

static void device_text(struct assay__page *page, const struct assay__found *found,
                        const struct assay__found_device *item)
{
    const struct assay_device *d = &item->device;
    struct assay__buf safe = {0}, first = {0}, text = {0};
    size_t columns = name_columns(found), length = strlen(item->name);
    assay__text_safe(&safe, item->name);
    assay__buf_puts(&first, "  ");
    assay__text_fit(&first, assay__buf_text(&safe), length > columns ? length : columns, 0);
    assay__buf_printf(&first, " %-5s %-6s ", d->kind, d->available ? "yes" : "no");
    const char *hardware = hardware_of(found, d);
    if (!d->available) {
        assay__buf_puts(&text, d->reason);
    } else {
        assay__buf_puts(&text, *hardware ? hardware : "—");
        if (d->software) assay__buf_puts(&text, ", software: it runs on the CPU");
        if (*d->note && (d->software || !*hardware)) assay__buf_printf(&text, " (%s)", d->note);
    }
    bool beside = (size_t)page->columns >= assay__text_width(assay__buf_text(&first)) + 20;
    if (!beside) { /* the text has lines of its own */
        while (first.length && first.data[first.length - 1] == ' ')
            first.length--;
        assay__buf_printf(page->out, "%.*s\n", (int)first.length, assay__buf_text(&first));
        assay__buf_clear(&first);
        assay__buf_puts(&first, "      ");
    }
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, assay__buf_text(&first), assay__buf_text(&text));
    assay__buf_free(&safe);
    assay__buf_free(&first);
    assay__buf_free(&text);
}

static const char *engine_title(const char *name)
{
    const struct assay_engine_ops *engine = assay_engine_find(name);
    return engine && strcmp(name, "ort") == 0 ? engine->summary : name;
}

static void build_text(struct assay__page *page, const struct assay__found *found,
                       const struct assay__found_build *build)
{
    struct assay__buf title = {0};
    assay__buf_printf(&title, "%s%s%s", engine_title(build->engine), *build->version ? " " : "",
                      build->version);
    if (*build->name) assay__buf_printf(&title, ", build %s", build->name);
    assay__page_heading(page, assay__buf_text(&title), *build->version ? "" : "of unknown version");
    assay__buf_free(&title);
    if (*build->path) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", build->path);
    size_t shown = 0;
    for (size_t i = 0; i < build->count; i++) {
        const struct assay__found_device *item = &found->items[build->first + i];
        if (!item->device.offered && build->count > 1) continue;
        if (!shown++) {
            int columns = (int)name_columns(found);
            assay__page_style(page, ASSAY__STYLE_DIM);
            assay__buf_printf(page->out, "  %-*s class usable%s", columns, "device",
                              page->columns >= columns + 36 ? " hardware, or why not" : "");
            assay__page_style(page, ASSAY__STYLE_PLAIN);
            assay__buf_putc(page->out, '\n');
        }
        device_text(page, found, item);
    }
    if (build->count > 1) missing_text(page, found, build);
    bool said = build->count == 1 &&
                strcmp(found->items[build->first].device.reason, build->reason) == 0;
    if (*build->reason && !said) assay__page_wrap(page, ASSAY__STYLE_WARN, "  — ", build->reason);
}

static void accelerator_text(struct assay__page *page, const struct assay__found_device *item)
{
    struct assay__buf first = {0};
    assay__buf_putc(page->out, '\n');
    if (item->ceilings) {
        assay__ceilings_device_text(page, item->ceilings, item->name);
        return;
    }
    assay__buf_printf(&first, "ceilings of %s: — ", item->name);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, assay__buf_text(&first), item->why);
    assay__buf_free(&first);
}

/* Other usable devices have been asked too, or would have been. */
static bool was_tried(const struct assay__found *found, const struct assay__found_device *item)
{
    return found->asked && item->device.available && strcmp(item->device.kind, "cpu") != 0;
}

static void ceilings_text(struct assay__page *page, const struct assay__found *found)
{
    bool others = false;
    for (size_t i = 0; i < found->count; i++)
        others |= was_tried(found, &found->items[i]);
    if (found->cpu || found->cpu_asked || !others) assay__buf_putc(page->out, '\n');
    if (found->cpu)
        assay__ceilings_text(page, found->cpu);
    else if (found->cpu_asked || !others)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN,
                         others ? "ceilings of the CPU: — " : "ceilings: — ", found->why);
    for (size_t i = 0; i < found->count; i++)
        if (was_tried(found, &found->items[i])) accelerator_text(page, &found->items[i]);
}

void assay__devices_text(struct assay__buf *out, const struct assay__found *found, int columns,
                         bool ascii)
{
    struct assay__page page = {.out = out,
                               .columns = columns ? columns : assay__stdout_columns(),
                               .color = assay__stdout_color(),
                               .ascii = ascii || !assay__locale_is_utf8()};
    size_t start = out->length;
    machine_text(&page, &found->machine);
    assay__topology_text(&page, &found->topology, found->machine.memory_bytes);
    assay__hardware_text(&page, found->hardware, found->hardware_count);
    reached_text(&page, found);
    for (size_t i = 0; i < found->build_count; i++)
        build_text(&page, found, &found->builds[i]);
    ceilings_text(&page, found);
    if (page.ascii) assay__page_to_ascii(out, start);
}
