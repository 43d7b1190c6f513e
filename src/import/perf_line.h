/* perf_line.h - the lines of `perf script`: a head for each sample or event, frames of its stack
 * below it. What a head contains depends on the options (-F); a time must. Private to the
 * importer. */
#ifndef ASSAY_IMPORT_PERF_LINE_H
#define ASSAY_IMPORT_PERF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__perf_text { /* borrowed from the line */
    const char *at;
    size_t length;
};

struct assay__perf_head {
    struct assay__perf_text comm; /* name of the thread; may hold blanks */
    int64_t pid, tid;             /* -1: not given */
    int64_t time_ns;
    int64_t period;                /* 0: not given */
    struct assay__perf_text event; /* "cpu-clock:ppp", "sched:sched_switch"; length 0: not given */
    struct assay__perf_text rest;  /* arguments, or the only frame */
};

/** "comm 123/124 [001] 5406.896142: 5000000 cpu-clock:ppp: …". False: it is not a head. */
bool assay__perf_head(const char *line, size_t length, struct assay__perf_head *head);
/** The symbol of "ffffffff8162fd59 name+0x1e9 (/usr/lib/x.so)", or its address. False: no frame. */
bool assay__perf_frame(const char *line, size_t length, struct assay__perf_text *symbol);
/** The number after "key="; false: there is none. */
bool assay__perf_argument(struct assay__perf_text rest, const char *key, int64_t *number);
bool assay__perf_is(struct assay__perf_text text, const char *word);
bool assay__perf_begins(struct assay__perf_text text, const char *word);

#endif
