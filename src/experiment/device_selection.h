/* device_selection.h - which devices a list selects: names (assay/device.h) and the classes cpu,
 * gpu, npu. A word that matches nothing on this machine is not an error: it stays in the list with
 * the reason, so that a table has a row for it. */
#ifndef ASSAY_EXPERIMENT_DEVICE_SELECTION_H
#define ASSAY_EXPERIMENT_DEVICE_SELECTION_H

#include "base/arena.h"
#include "experiment/device_search.h"

#define ASSAY__SELECTED_DEVICES 64

struct assay__selected_device {
    const char *name;    /* of a device; or the class, if no device has it */
    const char *kind;    /* "cpu", "gpu", "npu"; "" unknown */
    bool software;       /* measured, never recommended */
    const char *refusal; /* why it cannot be used; "" it can */
};

struct assay__device_selection {
    struct assay__selected_device items[ASSAY__SELECTED_DEVICES];
    size_t count;
};

/** Resolves a comma-separated list, duplicates once: a usable device with that name, else every
 *  usable device of that class, else the refusal. Strings are copied into the arena. 0;
 *  ASSAY_EINVAL with a message: an empty word, or too many; ASSAY_ENOMEM. */
int assay__device_selection_read(const char *list, const struct assay__found *found,
                                 struct assay__arena *arena, struct assay__device_selection *out,
                                 struct assay_error *error);
/** The first usable device of a class, preferring one that is not emulated; *device is unchanged if
 *  it does not name a class, or names a usable device. ASSAY_EINVAL: there is none. */
int assay__device_of_class(const struct assay__run_options *run, struct assay__arena *arena,
                           const char **device, struct assay_error *error);
/** The names, separated by commas, as input for assay__config_read. NULL: out of memory. */
const char *assay__device_selection_list(const struct assay__device_selection *selection,
                                         struct assay__arena *arena);

#endif
