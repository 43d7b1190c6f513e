/* device_list.h - what `assay devices` finds, between the file that finds it (devices_find.c) and
 * the one that prints it (devices_print.c). */
#ifndef ASSAY_CLI_DEVICE_LIST_H
#define ASSAY_CLI_DEVICE_LIST_H

#include "base/arena.h"
#include "ceiling/ceiling.h"
#include "cli/cli.h"
#include "platform/topology.h"
#include "probe/hardware.h"
#include "run/builds.h"

#include <assay/engine.h>

struct assay__devices_flags {
    bool json, ceilings, remeasure, quiet, ascii;
    const char *engine, *library, *only, *device;
    double timeout_s;
    int64_t columns; /* 0: the terminal's */
    struct assay__option_list ort, add, remove;
};

struct assay__found_device {
    struct assay_device device;             /* strings in the arena; the name is the engine's own */
    const char *name;                       /* with the build's prefix: "ovn/openvino:cpu" */
    const struct assay__ceilings *ceilings; /* NULL: none */
    const char *why;                        /* there are none */
};

/* One library of one engine, and its devices items[first … first + count). */
struct assay__found_build {
    const char *name;    /* "" the default one */
    const char *engine;  /* "ort" */
    const char *library; /* as it was asked for; NULL: the default search */
    const char *path;    /* really loaded; "" unknown */
    const char *version; /* "" unknown */
    const char *reason;  /* why it has no devices; "" */
    size_t first, count;
};

struct assay__found {
    struct assay__arena *arena;
    struct assay__machine machine;
    struct assay__topology topology;
    const struct assay__hardware *hardware;
    size_t hardware_count;
    struct assay__found_build *builds;
    size_t build_count, build_capacity;
    struct assay__found_device *items;
    size_t count, capacity;
    const struct assay__ceilings *cpu; /* NULL: none */
    const char *why;                   /* there are none of the CPU */
    bool asked, cpu_asked;             /* ceilings were asked for; the CPU's too */
    bool interrupted;                  /* what stands here is only a part */
};

/** Machine, builds and devices, then ceilings when they were asked for. 0, or an exit status after
 *  it was said. */
int assay__devices_find(const struct assay__devices_flags *flags, struct assay__found *found);
void assay__devices_free(struct assay__found *found);

void assay__devices_text(struct assay__buf *out, const struct assay__found *found, int columns,
                         bool ascii);
void assay__devices_json(struct assay__buf *out, const struct assay__found *found);

/** --add-ort and --remove-ort: edits the user's list. The exit status. */
int assay__devices_edit(const struct assay__devices_flags *flags);

#endif
