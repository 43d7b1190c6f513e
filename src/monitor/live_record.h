/* live_record.h - what a monitor saw, in a profile that grows while it is watched and stays small:
 * every reading of the last hour, 10 s for a day, 1 min for as long as it runs. Each resolution is
 * a trial of the profile with a series per row; the coarse ones have the means under the row's
 * name, and NAME.min and NAME.max beside it, except for details (each CPU).
 *
 * Values are collected in memory and written every 10 s, in one transaction: a record that is read
 * while it is written, or after a kill, lacks the last 10 s at most. What is older than a
 * resolution keeps is deleted chunk by chunk: its series then begin with a later chunk than 0. A
 * failure to write (a full disk) ends the record, not the watching. */
#ifndef ASSAY_MONITOR_LIVE_RECORD_H
#define ASSAY_MONITOR_LIVE_RECORD_H

#include "monitor/monitor.h"

#define ASSAY__RECORD_LEVELS 3

struct assay__record;

/** Creates the file; the view says which rows there are. command_line: as it was typed; "". */
int assay__record_open(const char *path, const struct assay__view *view, double interval_s,
                       const char *command_line, struct assay__record **record,
                       struct assay_error *error);
/** Adds what the monitor shows now, and the coarse buckets that ended since the last call. After an
 * error nothing more is written: close it. */
int assay__record_add(struct assay__record *record, struct assay__monitor *monitor,
                      const struct assay__view *view, struct assay_error *error);
/** Writes the rest, marks it complete and frees it. NULL legal. */
int assay__record_close(struct assay__record *record, struct assay_error *error);
/** Frees it and leaves the file as it is, as after a kill. */
void assay__record_abandon(struct assay__record *record);

#endif
