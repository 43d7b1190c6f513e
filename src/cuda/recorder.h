/* recorder.h - the CUDA recorder: a library that is injected into a CUDA program
 * (CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH) or loaded by a worker (base/cuda_trace.h).
 *
 *   session.c   options, start, stop, flush, close; what a fork does; the interface
 *   inject.c    the entry points that CUDA and NVTX call, and the options in the environment
 *   cupti.c     CUPTI: found, opened, told what to record; why that failed
 *   buffers.c   a bounded pool of CUPTI's buffers, and the queue of full ones
 *   convert.c   CUPTI's records into ours
 *   marks.c     a bounded queue of what program threads record themselves: NVTX, calls by callback
 *   nvtx.c      NVTX ranges
 *   recorder_thread.c  the thread that empties both queues into blocks, and controls the recording
 *   block.c     blocks, strings, the file
 *
 * Threads: the program's threads only take a buffer, hand one over, or append a mark: each under
 * one lock, without I/O. Everything else is the writer's. Its thread blocks every signal. */
#ifndef ASSAY_CUDA_RECORDER_H
#define ASSAY_CUDA_RECORDER_H

#include "base/cuda_trace.h"
#include "cuda/cupti_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_BYTES 512

/* --- cupti.c ---------------------------------------------------------------------------------- */

extern struct cupti cuda_cupti;

int cupti_open(char *why, size_t room);
/** "…: reason; what to do" of a CUptiResult. Returns -1. */
int cupti_complain(int result, const char *doing, char *why, size_t room);
/** Subscribes: refused if another profiler is in the process. */
int cupti_claim(char *why, size_t room);
void cupti_release(void);
int cupti_kinds_enable(unsigned kinds, char *why, size_t room);
void cupti_kinds_disable(unsigned kinds);
/** "cudaLaunchKernel"; without the version in CUPTI's name. `room` bytes at `text`. */
void cupti_call_name(uint32_t domain, uint32_t cbid, char *text, size_t room);
/** Whether a call explains something: launches, copies, memsets, waits, allocations, loads. */
bool cupti_call_matters(const char *name);
uint64_t cupti_now_ns(void); /* of CUPTI's clock; without CUPTI Unix time, which it is on Linux */
uint32_t cuda_driver_version(void);
/** What the driver, once initialised, says of a device; its name goes to `name`. */
bool cuda_describe(uint32_t device, struct assay__cuda_device *described, char *name, size_t room);

/* --- buffers.c -------------------------------------------------------------------------------- */

struct full_buffer {
    uint8_t *data;
    size_t bytes, valid;
};
int buffers_open(size_t bytes, size_t count);
void buffers_close(void); /* none may be with CUPTI */
/** On the writer's thread: makes the next buffers ready. */
void buffers_prepare(void);
cupti_request_fn buffers_request;
cupti_complete_fn buffers_complete;
bool buffers_take(struct full_buffer *buffer);
/** On the writer's thread: it is cleared there. */
void buffers_give_back(const struct full_buffer *buffer);
uint64_t buffers_refused(void); /* requests for which there was none */

/* --- marks.c ---------------------------------------------------------------------------------- */

#define MARK_TEXT_BYTES 240
/* What a thread hands over: a mark or a call; the text of a mark follows, padded to 8. */
struct handed {
    uint32_t bytes, type; /* with this head and the text; ASSAY__CUDA_MARK or ASSAY__CUDA_CALL */
    union {
        struct assay__cuda_mark mark;
        struct assay__cuda_call call; /* name: the cbid */
    };
    uint32_t text_bytes, reserved;
};
int marks_open(void);
void marks_close(void);
void marks_put(struct handed *handed, const char *text, size_t length);
/** What was put since: `bytes` of struct handed; valid until the next call. */
const unsigned char *marks_take(size_t *bytes);
uint64_t marks_dropped(void);
uint32_t thread_number(void);

/* --- block.c ---------------------------------------------------------------------------------- */

struct assay__cuda_trace_counts *block_counts(void);
int block_open(const struct assay__cuda_trace_options *options, char *why, size_t room);
/** Appends a record; its head's type and length are filled in. */
void block_put(void *record, size_t bytes, enum assay__cuda_record_type type);
uint32_t block_string(const char *text);
void block_flush(void);
/** errno of the first write that failed; 0: none. */
int block_error(void);
void block_close(void);
void block_drop(void);   /* without its file: nothing was recorded */
void block_forget(void); /* in a forked child: the file is the parent's */

/* --- convert.c -------------------------------------------------------------------------------- */

void convert_buffer(const struct full_buffer *buffer);
void convert_handed(const unsigned char *data, size_t bytes);
void convert_forget(void);

/* --- recorder_thread.c ------------------------------------------------------------------------ */

int writer_open(const struct assay__cuda_trace_options *options);
void writer_close(void);
void writer_wake(void);   /* safe in a signal handler */
void writer_drain(void);  /* returns when what was handed over is written */
void writer_toggle(void); /* start or stop; safe in a signal handler */

/* --- session.c -------------------------------------------------------------------------------- */

/** Recording now. */
bool session_active(void);
int session_start(char *why, size_t room);
/** flush: the writer asks CUPTI at once for what is complete. */
int session_stop(char *why, size_t room);
int session_open(const struct assay__cuda_trace_options *options, char *why, size_t room);
void session_close(void);
/** The options of the open session; NULL: none is open (or this is a forked child). */
const struct assay__cuda_trace_options *session_options(void);
/** Writes a file that holds only why nothing is recorded. */
void session_fail(const struct assay__cuda_trace_options *options, const char *why);

/* --- nvtx.c ----------------------------------------------------------------------------------- */

/** The range that starts and stops recording; NULL: none. Kept. */
void nvtx_trigger(const char *range);

#endif
