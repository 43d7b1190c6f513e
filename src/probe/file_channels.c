/* file_channels.c - probes that are made of files: see file_channels.h. Memory is taken at open; a
 * read touches only the files' own buffers. */
#include "probe/file_channels.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 64    /* room for a number and its newline */
#define SLOW_PER_READ 4 /* of the files that hardly change */

struct assay__probe {
    struct assay__arena *arena;
    struct assay__sysfs_file **files; /* each from the arena: addresses stay */
    size_t file_count, file_capacity;
    bool *used;       /* by an available channel */
    bool *slow;       /* used by slow channels only */
    size_t next_slow; /* the file from which the next slow ones are looked for */
    struct assay__files_channel *channels;
    size_t channel_count, channel_capacity;
    struct assay__channel *shown; /* copies, for the contract's array */
    const char *reason;
    bool failed; /* no memory */
};

int assay__files_new(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    *probe = calloc(1, sizeof **probe);
    if (!*probe) return assay_error_set(error, ASSAY_ENOMEM, "no memory for a probe");
    (*probe)->arena = arena;
    (*probe)->reason = "";
    return 0;
}

/* --- open ------------------------------------------------------------------------------------- */

static size_t file_find(const struct assay__probe *probe, const char *path)
{
    for (size_t i = 0; i < probe->file_count; i++)
        if (strcmp(probe->files[i]->path, path) == 0) return i;
    return SIZE_MAX;
}

/* The file of that path, opened once for all channels that use it; SIZE_MAX: no memory. */
static size_t file_index(struct assay__probe *probe, const char *path, size_t size)
{
    size_t index = file_find(probe, path);
    if (index != SIZE_MAX) return index;
    if (assay__vec_grow((void **)&probe->files, &probe->file_capacity, probe->file_count + 1,
                        sizeof(struct assay__sysfs_file *)))
        return SIZE_MAX;
    struct assay__sysfs_file *file = assay__arena_alloc(probe->arena, sizeof *file);
    const char *kept = assay__arena_strdup(probe->arena, path);
    if (!file || !kept) return SIZE_MAX;
    if (assay__sysfs_open(probe->arena, file, kept, size ? size : TEXT_SIZE))
        assay__sysfs_refresh(file);
    probe->files[probe->file_count] = file;
    return probe->file_count++;
}

static bool files_take(struct assay__probe *probe, struct assay__files_channel *channel,
                       const struct assay__files_spec *spec)
{
    const char *const one[] = {spec->path, NULL};
    const char *const *paths = spec->paths ? spec->paths : one;
    size_t count = 0;
    while (paths[count])
        count++;
    const struct assay__sysfs_file **files = assay__arena_array(probe->arena, count,
                                                                sizeof(struct assay__sysfs_file *));
    channel->file_indexes = assay__arena_array(probe->arena, count, sizeof(size_t));
    if (!files || !channel->file_indexes) return false;
    for (size_t i = 0; i < count; i++) {
        size_t index = file_index(probe, paths[i], spec->as.size);
        if (index == SIZE_MAX) return false;
        channel->file_indexes[i] = index;
        files[i] = probe->files[index];
    }
    channel->files = files;
    channel->file_count = count;
    return true;
}

bool assay__files_has(const struct assay__probe *probe, const char *name)
{
    for (size_t i = 0; i < probe->channel_count; i++)
        if (strcmp(probe->channels[i].shown.name, name) == 0) return true;
    return false;
}

/* A second chip of the same name: name and rail get the same number. NULL: no memory. */
static const char *unique_name(struct assay__probe *probe, const char *name, const char **rail)
{
    const char *unique = assay__arena_strdup(probe->arena, name), *first_rail = *rail;
    for (unsigned n = 2; unique && *rail && assay__files_has(probe, unique); n++) {
        unique = assay__arena_printf(probe->arena, "%s#%u", name, n);
        *rail = assay__arena_printf(probe->arena, "%s#%u", first_rail, n);
    }
    return *rail ? unique : NULL;
}

static const char *text_or(const char *text, const char *other)
{
    return text ? text : other;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool compute_integer(const struct assay__files_channel *channel, double *value,
                            const char **reason)
{
    if (!assay__sysfs_integer(channel->files[0]->text, value, reason)) return false;
    *value *= channel->scale;
    return true;
}

static bool plausible(const struct assay__channel *channel, double value, const char **reason)
{
    const char *quantity = channel->quantity;
    if (strcmp(quantity, "temperature") == 0) {
        if (value >= -273.15) return true;
        *reason = "a temperature below absolute zero: the sensor has no value";
        return false;
    }
    if (value < 0) {
        *reason = "a negative number, where there can be none";
        return false;
    }
    if (strcmp(quantity, "utilization") == 0 && value > 1) {
        *reason = "a share over 100 %";
        return false;
    }
    return true;
}

/* The first of its files that could not be read; NULL: all could. */
static const struct assay__sysfs_file *unread_file(const struct assay__files_channel *channel)
{
    for (size_t i = 0; i < channel->file_count; i++)
        if (channel->files[i]->reason[0] || channel->files[i]->fd < 0) return channel->files[i];
    return NULL;
}

/* The channel's value from texts that were read; false with the reason. */
static bool channel_value(const struct assay__files_channel *channel, double *value,
                          const char **reason)
{
    const struct assay__sysfs_file *unread = unread_file(channel);
    *value = NAN;
    *reason = "";
    if (unread) {
        *reason = unread->fd < 0 ? unread->open_reason : unread->reason;
        return false;
    }
    if (!channel->compute(channel, value, reason)) return false;
    return plausible(&channel->shown, *value, reason);
}

/* Words for a channel that does not work at open: they name the file unless it is already named. */
static const char *open_reason(struct assay__probe *probe,
                               const struct assay__files_channel *channel,
                               const struct assay__files_spec *spec, const char *reason)
{
    const struct assay__sysfs_file *unread = unread_file(channel);
    if (spec->denied && unread && unread->denied) return spec->denied;
    if (unread && unread->fd < 0) return reason;
    return text_or(assay__arena_printf(probe->arena, "%s: %s", channel->shown.source, reason),
                   "out of memory");
}

void assay__files_add(struct assay__probe *probe, const struct assay__files_spec *spec)
{
    if (probe->failed) return;
    probe->failed = true; /* until it is in */
    if (assay__vec_grow((void **)&probe->channels, &probe->channel_capacity,
                        probe->channel_count + 1, sizeof *probe->channels))
        return;
    struct assay__files_channel *channel = &probe->channels[probe->channel_count];
    const char *rail = text_or(spec->rail, "");
    const char *name = unique_name(probe, spec->name, &rail);
    *channel = (struct assay__files_channel){
        .scale = spec->as.scale > 0 ? spec->as.scale : 1, .key = spec->as.key, .slow = spec->slow};
    channel->shown = (struct assay__channel){
        .name = name, .quantity = spec->as.quantity, .rail = rail, .unit = spec->as.unit};
    channel->shown.kind = spec->as.kind;
    channel->shown.range = spec->range > 0 ? spec->range : NAN;
    channel->shown.states = spec->states;
    channel->shown.reason = text_or(spec->reason, "");
    channel->compute = spec->as.compute ? spec->as.compute : compute_integer;
    const char *first = spec->paths ? spec->paths[0] : spec->path;
    channel->shown.source = assay__arena_strdup(probe->arena,
                                                text_or(spec->source, text_or(first, "")));
    if (!channel->shown.name || !channel->shown.source) return;
    if (!spec->reason) {
        double value;
        const char *reason;
        if (!files_take(probe, channel, spec)) return;
        channel->shown.available = channel_value(channel, &value, &reason);
        if (!channel->shown.available)
            channel->shown.reason = open_reason(probe, channel, spec, reason);
        channel->shown.unlimited = !channel->shown.available && isinf(value);
    }
    probe->channel_count++;
    probe->failed = false;
}

const char *assay__files_none(const struct assay__probe *probe, const char *reason)
{
    return probe->channel_count ? NULL : reason;
}

int assay__files_end(struct assay__probe **probe, const char *reason, struct assay_error *error)
{
    struct assay__probe *made = *probe;
    bool any = false;
    made->shown = assay__arena_array(made->arena, made->channel_count, sizeof *made->shown);
    made->used = assay__arena_array(made->arena, made->file_count, sizeof *made->used);
    made->slow = assay__arena_array(made->arena, made->file_count, sizeof *made->slow);
    if (made->failed || !made->shown || !made->used || !made->slow) {
        assay__files_close(made);
        *probe = NULL;
        return assay_error_set(error, ASSAY_ENOMEM, "no memory for a probe");
    }
    for (size_t i = 0; i < made->channel_count; i++) {
        const struct assay__files_channel *channel = &made->channels[i];
        made->shown[i] = channel->shown;
        any = any || channel->shown.available;
        for (size_t f = 0; channel->shown.available && f < channel->file_count; f++) {
            size_t file = channel->file_indexes[f];
            made->slow[file] = channel->slow && (made->slow[file] || !made->used[file]);
            made->used[file] = true;
        }
    }
    for (size_t i = 0; i < made->file_count; i++)
        if (!made->used[i]) assay__sysfs_close(made->files[i]);
    if (!any) {
        if (!reason && made->channel_count) reason = made->channels[0].shown.reason;
        made->reason = reason ? assay__arena_strdup(made->arena, reason) : "nothing to read here";
        if (!made->reason) made->reason = "out of memory";
    }
    return 0;
}

/* --- the contract ----------------------------------------------------------------------------- */

size_t assay__files_channels(const struct assay__probe *probe,
                             const struct assay__channel **channels)
{
    *channels = probe->shown;
    return probe->channel_count;
}

const char *assay__files_reason(const struct assay__probe *probe)
{
    return probe->reason;
}

void assay__files_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    for (size_t i = 0; i < probe->file_count; i++)
        if (probe->used[i] && !probe->slow[i]) assay__sysfs_refresh(probe->files[i]);
    size_t slow = 0;
    for (size_t i = 0; i < probe->file_count && slow < SLOW_PER_READ; i++) {
        size_t file = probe->next_slow % probe->file_count;
        probe->next_slow = file + 1;
        if (!probe->used[file] || !probe->slow[file]) continue;
        assay__sysfs_refresh(probe->files[file]);
        slow++;
    }
    for (size_t i = 0; i < probe->channel_count; i++) {
        const struct assay__files_channel *channel = &probe->channels[i];
        double value = NAN;
        const char *reason = channel->shown.reason;
        if (channel->shown.available && !channel_value(channel, &value, &reason)) value = NAN;
        readings[i] = (struct assay__probe_reading){.value = value, .reason = reason};
    }
}

void assay__files_close(struct assay__probe *probe)
{
    if (!probe) return;
    for (size_t i = 0; i < probe->file_count; i++)
        assay__sysfs_close(probe->files[i]);
    free(probe->files);
    free(probe->channels);
    free(probe);
}

/* --- compute functions ------------------------------------------------------------------------ */

bool assay__files_by_key(const struct assay__files_channel *channel, double *value,
                         const char **reason)
{
    const char *at = assay__sysfs_field(channel->files[0]->text, channel->key);
    if (!at) {
        *reason = channel->files[0]->text[0] ? "the file has no such line" : "the file is empty";
        return false;
    }
    if (!assay__sysfs_leading(at, value, reason)) return false;
    *value *= channel->scale;
    return true;
}

bool assay__files_by_star(const struct assay__files_channel *channel, double *value,
                          const char **reason)
{
    const char *text = channel->files[0]->text;
    const char *star = strchr(text, '*'), *line = star;
    *reason = text[0] ? "no level is marked as the current one" : "the file is empty";
    if (!star) return false;
    while (line > text && line[-1] != '\n')
        line--;
    const char *colon = memchr(line, ':', (size_t)(star - line));
    if (!colon) return false;
    char *end;
    const char *digits = colon + 1 + strspn(colon + 1, " ");
    *reason = "text instead of a number";
    if (*digits < '0' || *digits > '9') return false;
    double megahertz = (double)strtoull(digits, &end, 10);
    if (strncmp(end, "Mhz", 3) != 0 && strncmp(end, "MHz", 3) != 0) return false;
    *reason = "";
    *value = megahertz * 1e6;
    return true;
}

bool assay__files_summary(const struct assay__files_channel *channel, double *value,
                          const char **reason)
{
    double sum = 0, min = INFINITY, max = -INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < channel->file_count; i++) {
        double number;
        if (!assay__sysfs_integer(channel->files[i]->text, &number, reason)) return false;
        *reason = "a negative number, where there can be none";
        if (number < 0) return false;
        if (number == 0) continue; /* an idle core without a value */
        sum += number;
        min = fmin(min, number);
        max = fmax(max, number);
        count++;
    }
    *reason = count ? "" : "every file reads zero";
    if (!count) return false;
    *value = strcmp(channel->key, "mean") == 0  ? sum / (double)count
             : strcmp(channel->key, "min") == 0 ? min
                                                : max;
    *value *= channel->scale;
    return true;
}
