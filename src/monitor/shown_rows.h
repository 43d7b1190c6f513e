/* shown_rows.h - what a monitor shows and in which order: which channels of which probes, under
 * which names, in which section, of which device. One table says all of it; nothing else decides
 * what is shown. */
#ifndef ASSAY_MONITOR_SHOWN_ROWS_H
#define ASSAY_MONITOR_SHOWN_ROWS_H

#include "base/arena.h"
#include "probe/probe.h"

/* X(NAME, title), in the order shown */
#define ASSAY__SECTIONS(X)         \
    X(MODEL, "model")              \
    X(CPU, "cpu")                  \
    X(MEMORY, "memory")            \
    X(PRESSURE, "pressure")        \
    X(ACCELERATOR, "accelerators") \
    X(POWER, "power")              \
    X(TEMPERATURE, "temperature")  \
    X(THROTTLING, "throttling")    \
    X(OWN, "assay")

enum assay__section {
#define ASSAY__SECTION_ENUM(NAME, title) ASSAY__SECTION_##NAME,
    ASSAY__SECTIONS(ASSAY__SECTION_ENUM)
#undef ASSAY__SECTION_ENUM
        ASSAY__SECTION_COUNT
};
const char *assay__section_title(enum assay__section section);

/** How much a row matters: a narrow view shows the first kinds only. */
enum assay__row_rank {
    ASSAY__ROW_HEADLINE, /* in every view */
    ASSAY__ROW_NORMAL,
    ASSAY__ROW_DETAIL, /* each CPU, each sensor of a chip */
};

struct assay__row {
    const char *name; /* unique: "utilization.active.gpu0" */
    const char *unit; /* base unit */
    enum assay__section section;
    enum assay__row_rank rank;
    const char *device;  /* "cpu", "gpu0", "npu"; "": the machine */
    const char *kind;    /* of a share: what it counts ("active", "memory active"); "" */
    const char *source;  /* path, or "NVML" */
    const char *formula; /* of a derived value; "" */
    /* the channels that have it, the preferred one first: an energy counter before sampled power */
    size_t sensors[2];
    size_t sensor_count; /* 0: nothing here measures it */
    const char *reason;  /* then: why; else "" */
    bool given;          /* not by a sensor: by who runs the monitor */
};

/** What is shown of a channel; false: nothing. Strings go into the arena. Sensors are not set. */
bool assay__row_of(struct assay__arena *arena, const char *probe,
                   const struct assay__channel *channel, struct assay__row *row);
/** Whether anything is shown of a probe: the others need not be opened. */
bool assay__row_probe(const char *probe);
/** The limit of the rail's power in W, from the file beside the channel's; NaN: unknown. */
double assay__row_power_limit(const struct assay__channel *channel);

#endif
