/* doctor.h - shared by the parts of assay doctor: the state of the machine, and the checks on it.
 * Their findings are those of report/report_machine.h. */
#ifndef ASSAY_CLI_DOCTOR_H
#define ASSAY_CLI_DOCTOR_H

#include "cli/cli.h"
#include "report/report_machine.h"

/* Input of the checks; read once. */
struct assay__patient {
    struct assay__arena *arena;
    struct assay__machine machine;
    struct assay__disturbance before, after;
    char allowed[512];
    struct assay__examined *probes;
    size_t probe_count;
};

typedef void assay__check(const struct assay__patient *patient, struct assay__diagnosis *diagnosis);
/** Sets the health and appends the text and the advice (NULL: none). */
void assay__diagnose(struct assay__diagnosis *diagnosis, enum assay__health health,
                     const char *advice, const char *format, ...) ASSAY_PRINTF(4, 5);
/* The same if there is nothing to advise. */
#define ASSAY__GOOD(d, ...) assay__diagnose(d, ASSAY__HEALTH_GOOD, NULL, __VA_ARGS__)
#define ASSAY__UNKNOWN(d, ...) assay__diagnose(d, ASSAY__HEALTH_UNKNOWN, NULL, __VA_ARGS__)

/* doctor_system.c */
assay__check assay__check_limits, assay__check_smt, assay__check_turbo, assay__check_swap,
    assay__check_perf_events, assay__check_pmu;

/* doctor_hardware.c */
assay__check assay__check_drivers;

/* doctor_probes.c */

/** Opens every probe and measures what a read costs. 0 or ASSAY_ENOMEM. */
int assay__doctor_probes_open(struct assay__patient *patient);
void assay__doctor_probes_close(struct assay__patient *patient);
/** A limit read by the cgroup probe; NaN: none, or unknown. *known: the file was read. *source: the
 *  file, or "". */
double assay__doctor_limit(const struct assay__patient *patient, const char *channel,
                           const char **source, bool *known);

#endif
