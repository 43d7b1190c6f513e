/* device_search.h - the processors of this machine, what every build of every engine offers on
 * them, and their ceilings. */
#ifndef ASSAY_EXPERIMENT_DEVICE_SEARCH_H
#define ASSAY_EXPERIMENT_DEVICE_SEARCH_H

#include "ceiling/ceiling.h"
#include "engine/engine.h"
#include "platform/topology.h"
#include "probe/hardware.h"
#include "run/run_options.h"

#include <assay/device.h>

/** What to search for; all zero: every device of every engine but the fake one. */
struct assay__device_search {
    const char *engine, *library, *device;
    const char *const *ort; /* further builds for this search: "[NAME=]PATH" */
    size_t ort_count;
    double timeout_s;         /* per device; 0: 30 */
    bool ceilings, remeasure; /* measure the ceilings; even if they are saved */
    double ceilings_s;        /* the time for those of one device; 0: the default */
    const char *only;         /* ceilings whose names start with this; NULL: all */
    struct assay_callbacks callbacks;
};

struct assay__found_device {
    struct assay__device device;            /* the name is the engine's own */
    const char *name;                       /* with the build's prefix: "ovn/openvino:cpu" */
    const struct assay__ceilings *ceilings; /* NULL: none */
    const char *why;                        /* there are none */
};

/* One library of one engine, and its devices items[first … first + count). */
struct assay__found_build {
    const char *name;    /* "" the default one */
    const char *engine;  /* "ort" */
    const char *library; /* as requested; NULL: the default search */
    const char *path;    /* really loaded; "" unknown */
    const char *version; /* "" unknown */
    const char *reason;  /* why it has no devices; "" */
    size_t first, count;
};

/** The processors of this machine and what every build of an engine offers on them. */
struct assay__found {
    struct assay__arena *arena; /* of every string */
    struct assay__machine machine;
    struct assay__topology topology;
    const struct assay__hardware *hardware;
    size_t hardware_count;
    struct assay__found_build *builds;
    size_t build_count, build_capacity;
    struct assay__found_device *items;
    size_t count, capacity;
    const struct assay__ceilings *cpu; /* NULL: none */
    const char *why;                   /* the CPU has none */
    bool asked, cpu_asked;             /* ceilings were requested; including those of the CPU */
    bool interrupted;                  /* this is only a part of them */
};

/** Machine, builds and devices, then ceilings if requested. An interrupt is not an error:
 *  found->interrupted. Always assay__devices_free the result. */
int assay__devices_find(const struct assay__device_search *search, struct assay__found *found,
                        struct assay_error *error);
void assay__devices_free(struct assay__found *found);
/** By its whole name; NULL: it was not found. */
const struct assay__found_device *assay__found_named(const struct assay__found *found,
                                                     const char *name);

#endif
