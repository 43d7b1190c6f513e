/* buffers.c - CUPTI fills buffers of ours. At most `count` of them exist, so that a program that
 * produces records faster than they can be written loses some (CUPTI counts them) and does not grow
 * without end. Free ones are reused, last first: their pages are warm.
 *
 * Every buffer is zero when CUPTI gets it: else CUPTI would clear it on the program's thread, 4 MiB
 * at a time (cupti.c tells it not to). */
#include "cuda/recorder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BUFFERS 1024
#define ALIGNMENT 64
#define SPARE 2 /* buffers that are ready before they are asked for */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t buffer_bytes, most, made;
static uint8_t *free_ones[MOST_BUFFERS];
static size_t free_count;
static struct full_buffer full[MOST_BUFFERS]; /* a ring */
static size_t full_first, full_count;
static uint64_t refused;

int buffers_open(size_t bytes, size_t count)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh; /* after a fork it may be held by a thread that is not here */
    buffer_bytes = (bytes ? bytes : (size_t)4 << 20) / ALIGNMENT * ALIGNMENT;
    most = count ? count : 32;
    if (most > MOST_BUFFERS) most = MOST_BUFFERS;
    made = free_count = full_first = full_count = 0;
    refused = 0;
    return buffer_bytes >= 4096 ? 0 : -1;
}

/* A buffer that is still with CUPTI is neither free nor full: it stays CUPTI's. */
void buffers_close(void)
{
    pthread_mutex_lock(&lock);
    while (free_count)
        free(free_ones[--free_count]);
    most = 0;
    pthread_mutex_unlock(&lock);
}

/* New pages cost time when they are first written to, which would be the program's. */
void buffers_prepare(void)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        bool make = free_count < SPARE && made < most;
        made += make;
        pthread_mutex_unlock(&lock);
        uint8_t *data = make ? aligned_alloc(ALIGNMENT, buffer_bytes) : NULL;
        if (data) memset(data, 0, buffer_bytes);
        pthread_mutex_lock(&lock);
        if (data) free_ones[free_count++] = data;
        if (make && !data) made--;
        pthread_mutex_unlock(&lock);
        if (!data) return;
    }
}

void buffers_request(uint8_t **buffer, size_t *size, size_t *most_records)
{
    uint8_t *data = NULL;
    bool make = false;
    pthread_mutex_lock(&lock);
    if (free_count)
        data = free_ones[--free_count];
    else if (made < most)
        make = true, made++;
    pthread_mutex_unlock(&lock);
    if (make) data = aligned_alloc(ALIGNMENT, buffer_bytes);
    if (make && data) memset(data, 0, buffer_bytes);
    if (!data) {
        pthread_mutex_lock(&lock);
        if (make) made--;
        refused++;
        pthread_mutex_unlock(&lock);
    }
    *buffer = data;
    *size = data ? buffer_bytes : 0;
    *most_records = 0;
}

void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream;
    if (!buffer) return;
    if (valid > size) valid = 0;
    pthread_mutex_lock(&lock);
    bool fits = full_count < MOST_BUFFERS; /* an empty one too, which the writer clears */
    if (fits)
        full[(full_first + full_count++) % MOST_BUFFERS] = (struct full_buffer){buffer, size,
                                                                                valid};
    pthread_mutex_unlock(&lock);
    if (!fits) free(buffer);
    writer_wake();
}

bool buffers_take(struct full_buffer *buffer)
{
    pthread_mutex_lock(&lock);
    bool any = full_count > 0;
    if (any) {
        *buffer = full[full_first];
        full_first = (full_first + 1) % MOST_BUFFERS;
        full_count--;
    }
    pthread_mutex_unlock(&lock);
    return any;
}

void buffers_give_back(const struct full_buffer *buffer)
{
    bool ours = buffer->bytes == buffer_bytes; /* else of a session before this one */
    if (ours) memset(buffer->data, 0, buffer_bytes);
    pthread_mutex_lock(&lock);
    ours = ours && free_count < MOST_BUFFERS;
    if (ours) free_ones[free_count++] = buffer->data;
    pthread_mutex_unlock(&lock);
    if (!ours) free(buffer->data);
}

uint64_t buffers_refused(void)
{
    pthread_mutex_lock(&lock);
    uint64_t count = refused;
    pthread_mutex_unlock(&lock);
    return count;
}
