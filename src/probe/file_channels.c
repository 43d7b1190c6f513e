/* file_channels.c - probes based on files: see file_channels.h. Memory is allocated at open; a read
 * uses only the files' own buffers. */
#include "probe/file_channels.h"

#include "base/no_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 64    /* room for a number and its newline */
#define SLOW_PER_READ 4 /* of the files that hardly change */

struct assay__probe {
    struct assay__probe_head head; /* copies of what the channels show */
    struct assay__arena *arena;
    struct assay__sysfs_file **files; /* each from the arena, so that addresses do not change */
    size_t file_count;
    size_t next_slow; /* where the search for the next slow ones starts */
    struct assay__files_channel *channels;
    size_t channel_count;
};

struct assay__probe *assay__files_new(struct assay__arena *arena)
{
    struct assay__probe *probe = assay__arena_alloc(arena, sizeof *probe);
    if (probe) *probe = (struct assay__probe){.arena = arena};
    return probe;
}

/* --- values ----------------------------------------------------------------------------------- */

/* The number after the key at the start of a line ("throttled_usec 1200"); without a key, the
 * number is the whole file. */
static bool compute_number(const struct assay__files_channel *channel, double *value,
                           const char **reason)
{
    const char *text = channel->files[0]->text;
    const char *at = channel->key ? assay__fs_field(text, channel->key) : text;
    *reason = *text ? "the file has no such line" : "the file is empty";
    if (!at || !(channel->key ? assay__sysfs_leading(at, value, reason)
                              : assay__sysfs_integer(at, value, reason)))
        return false;
    *value *= channel->scale;
    return true;
}

/* The first of its files that could not be read; NULL: all could. */
static const struct assay__sysfs_file *unread_file(const struct assay__files_channel *channel)
{
    for (size_t i = 0; i < channel->file_count; i++)
        if (channel->files[i]->reason[0]) return channel->files[i];
    return NULL;
}

/* The channel's value from texts that were read; false with the reason. */
static bool channel_value(const struct assay__files_channel *channel, double *value,
                          const char **reason)
{
    const struct assay__sysfs_file *unread = unread_file(channel);
    *value = NAN;
    *reason = unread ? unread->reason : "";
    if (unread || !channel->compute(channel, value, reason)) return false;
    bool temperature = strcmp(channel->shown.quantity, "temperature") == 0;
    bool share = strcmp(channel->shown.quantity, "utilization") == 0;
    *reason = temperature && !(*value >= -273.15)
                  ? "a temperature below absolute zero: the sensor has no value"
              : !temperature && *value < 0 ? "a negative number, which is impossible"
              : share && *value > 1        ? "a share over 100 %"
                                           : "";
    return !**reason;
}

/* --- open ------------------------------------------------------------------------------------- */

/* The file of that path, opened and read once for all channels that use it; NULL: no memory. */
static struct assay__sysfs_file *file_of(struct assay__probe *probe, const char *path, size_t size)
{
    for (size_t i = 0; i < probe->file_count; i++)
        if (strcmp(probe->files[i]->path, path) == 0) return probe->files[i];
    struct assay__sysfs_file *file = assay__arena_alloc(probe->arena, sizeof *file);
    const char *kept = assay__arena_strdup(probe->arena, path);
    void *grown = assay__arena_grow(probe->arena, probe->files, probe->file_count,
                                    sizeof *probe->files);
    if (assay__arena_failed(probe->arena)) return NULL;
    probe->files = grown;
    assay__sysfs_open(probe->arena, file, kept, size ? size : TEXT_SIZE);
    assay__sysfs_refresh(file);
    return probe->files[probe->file_count++] = file;
}

/* Opens the files of the spec and computes the channel once. */
static void channel_open(struct assay__probe *probe, struct assay__files_channel *channel,
                         const struct assay__files_spec *spec)
{
    const char *const one[] = {spec->path, NULL}, *const *paths = spec->paths ? spec->paths : one;
    size_t count = 0;
    while (paths[count])
        count++;
    struct assay__sysfs_file **files = assay__arena_array(probe->arena, count, sizeof *files);
    for (size_t i = 0; i < count; i++)
        if (!files || !(files[i] = file_of(probe, paths[i], spec->size))) return;
    double value;
    const char *reason;
    channel->files = files;
    channel->file_count = count;
    channel->shown.available = channel_value(channel, &value, &reason);
    channel->shown.reason = reason;
    if (channel->shown.available) return;
    channel->shown.unlimited = isinf(value);
    /* The message names the file unless it already does. */
    const struct assay__sysfs_file *unread = unread_file(channel);
    if (spec->denied && unread && unread->denied)
        channel->shown.reason = spec->denied;
    else if (!unread || unread->fd >= 0)
        channel->shown.reason = assay__arena_text(probe->arena, "%s: %s", channel->shown.source,
                                                  reason);
}

bool assay__files_has(const struct assay__probe *probe, const char *name)
{
    for (size_t i = 0; probe && i < probe->channel_count; i++)
        if (strcmp(probe->channels[i].shown.name, name) == 0) return true;
    return false;
}

void assay__files_add(struct assay__probe *probe, const struct assay__files_spec *spec)
{
    if (!probe || assay__arena_failed(probe->arena)) return;
    struct assay__arena *arena = probe->arena;
    const char *first = spec->paths ? spec->paths[0] : spec->path ? spec->path : "";
    const char *first_rail = spec->rail ? spec->rail : "", *rail = first_rail;
    const char *name = assay__arena_text(arena, "%s", spec->name);
    /* A second chip of the same name: name and rail get the same number. */
    for (unsigned n = 2; assay__files_has(probe, name) && !assay__arena_failed(arena); n++) {
        name = assay__arena_text(arena, "%s#%u", spec->name, n);
        rail = assay__arena_text(arena, "%s#%u", first_rail, n);
    }
    struct assay__files_channel channel = {
        .shown = {.name = name,
                  .quantity = spec->as.quantity,
                  .rail = rail,
                  .unit = spec->as.unit,
                  .kind = spec->as.kind,
                  .range = spec->range > 0 ? spec->range : NAN,
                  .source = assay__arena_text(arena, "%s", spec->source ? spec->source : first),
                  .reason = spec->reason,
                  .states = spec->states},
        .compute = spec->compute ? spec->compute : compute_number,
        .scale = spec->as.scale,
        .key = spec->key,
        .slow = spec->slow};
    if (!spec->reason) channel_open(probe, &channel, spec);
    void *grown = assay__arena_grow(arena, probe->channels, probe->channel_count,
                                    sizeof *probe->channels);
    if (assay__arena_failed(arena)) return;
    probe->channels = grown;
    probe->channels[probe->channel_count++] = channel;
}

const char *assay__files_none(const struct assay__probe *probe, const char *reason)
{
    return probe && probe->channel_count ? NULL : reason;
}

int assay__files_end(struct assay__probe **probe, const char *reason, struct assay_error *error)
{
    struct assay__probe *made = *probe;
    struct assay__channel *shown = NULL;
    bool any = false;
    if (made) shown = assay__arena_array(made->arena, made->channel_count, sizeof *shown);
    if (!made || assay__arena_failed(made->arena)) {
        assay__files_close(made);
        *probe = NULL;
        return assay__no_memory(error);
    }
    for (size_t i = 0; i < made->channel_count; i++) {
        const struct assay__files_channel *channel = &made->channels[i];
        shown[i] = channel->shown;
        any = any || shown[i].available;
        for (size_t f = 0; shown[i].available && f < channel->file_count; f++) {
            struct assay__sysfs_file *file = channel->files[f];
            file->slow = channel->slow && (file->slow || !file->used);
            file->used = true;
        }
    }
    for (size_t i = 0; i < made->file_count; i++)
        if (!made->files[i]->used) assay__sysfs_close(made->files[i]);
    if (!reason) reason = made->channel_count ? shown[0].reason : "nothing to read here";
    made->head = (struct assay__probe_head){
        shown, made->channel_count, any ? "" : assay__arena_text(made->arena, "%s", reason)};
    return 0;
}

/* --- the contract ----------------------------------------------------------------------------- */

void assay__files_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    size_t slow = 0;
    for (size_t i = 0; i < probe->file_count; i++)
        if (probe->files[i]->used && !probe->files[i]->slow) assay__sysfs_refresh(probe->files[i]);
    for (size_t i = 0; i < probe->file_count && slow < SLOW_PER_READ; i++) {
        struct assay__sysfs_file *file = probe->files[probe->next_slow++ % probe->file_count];
        if (!file->used || !file->slow) continue;
        assay__sysfs_refresh(file);
        slow++;
    }
    for (size_t i = 0; i < probe->channel_count; i++) {
        const struct assay__files_channel *channel = &probe->channels[i];
        readings[i] = (struct assay__probe_reading){NAN, channel->shown.reason};
        if (channel->shown.available &&
            !channel_value(channel, &readings[i].value, &readings[i].reason))
            readings[i].value = NAN;
    }
}

void assay__files_close(struct assay__probe *probe)
{
    for (size_t i = 0; probe && i < probe->file_count; i++)
        assay__sysfs_close(probe->files[i]);
}

/* --- compute functions ------------------------------------------------------------------------ */

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
        *reason = "a negative number, which is impossible";
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
