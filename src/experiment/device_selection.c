/* device_selection.c - turns the words of a list into a list of devices. */
#include "experiment/device_selection.h"

#include "base/no_memory.h"
#include "base/options_read.h"

#include <string.h>

static int add(struct assay__device_selection *out, struct assay__arena *arena, const char *name,
               const char *kind, bool software, const char *refusal, struct assay_error *error)
{
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->items[i].name, name) == 0) return 0;
    if (out->count == ASSAY__SELECTED_DEVICES)
        return assay__refuse_option(error, "devices", "more than %d devices",
                                    ASSAY__SELECTED_DEVICES);
    out->items[out->count++] = (struct assay__selected_device){
        assay__arena_text(arena, "%s", name), assay__arena_text(arena, "%s", kind), software,
        assay__arena_text(arena, "%s", refusal)};
    return 0;
}

int assay__device_selection_read(const char *list, const struct assay__found *found,
                                 struct assay__arena *arena, struct assay__device_selection *out,
                                 struct assay_error *error)
{
    int code = 0;
    out->count = 0;
    for (const char *at = list; !code; at++) {
        size_t length = strcspn(at, ","), usable = 0;
        const char *word = assay__arena_strndup(arena, at, length);
        if (!word) return assay__no_memory(error);
        if (!*word || word[strcspn(word, " =")])
            return assay__refuse_option(error, "devices", "'%s' is not a device", word);
        const struct assay__found_device *item = assay__found_named(found, word);
        bool here = item && item->device.available,
             is_class = !here && (strcmp(word, "cpu") == 0 || strcmp(word, "gpu") == 0 ||
                                  strcmp(word, "npu") == 0);
        for (size_t i = 0; i < found->count && !code && is_class; i++) {
            const struct assay__found_device *one = &found->items[i];
            if (!one->device.available || strcmp(one->device.kind, word) != 0) continue;
            usable++;
            code = add(out, arena, one->name, word, one->device.software, "", error);
        }
        if (here)
            code = add(out, arena, word, item->device.kind, item->device.software, "", error);
        else if (!is_class)
            code = add(
                out, arena, word, item ? item->device.kind : "", false,
                item ? assay__arena_text(arena, "%s cannot be used: %s", word, item->device.reason)
                     : assay__arena_text(arena, "there is no device '%s' here", word),
                error);
        else if (!usable)
            code = add(out, arena, word, word, false,
                       assay__arena_text(arena, "no device of class %s can be used here", word),
                       error);
        at += length;
        if (!*at) break;
    }
    return !code && assay__arena_failed(arena) ? assay__no_memory(error) : code;
}

int assay__device_of_class(const struct assay__run_options *run, struct assay__arena *arena,
                           const char **device, struct assay_error *error)
{
    const char *word = run->target.device;
    if (!word || (strcmp(word, "gpu") != 0 && strcmp(word, "npu") != 0)) return 0;
    struct assay__device_search search = {
        .engine = run->target.engine, .library = run->target.library, .callbacks = run->callbacks};
    struct assay__device_selection chosen;
    struct assay__found found = {.count = 0};
    size_t first = 0;
    int code = assay__devices_find(&search, &found, error);
    if (!code && found.interrupted)
        code = assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    if (!code) code = assay__device_selection_read(word, &found, arena, &chosen, error);
    assay__devices_free(&found);
    if (code) return code;
    while (first < chosen.count && (*chosen.items[first].refusal || chosen.items[first].software))
        first++;
    if (first == chosen.count) first = 0; /* an emulated one, or none */
    if (*chosen.items[first].refusal)
        return assay__refuse_option(error, "device", "%s", chosen.items[first].refusal);
    *device = chosen.items[first].name;
    assay__remark(&run->callbacks, "%s: %s", word, *device);
    return 0;
}

const char *assay__device_selection_list(const struct assay__device_selection *selection,
                                         struct assay__arena *arena)
{
    const char *list = "";
    for (size_t i = 0; i < selection->count && list; i++)
        list = assay__arena_printf(arena, "%s%s%s", list, i ? "," : "", selection->items[i].name);
    return list;
}
