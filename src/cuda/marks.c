/* marks.c - what the program's threads record themselves: appended under one lock to one of two
 * arrays of a fixed size; the writer takes one while the other is filled. What does not fit is
 * counted. */
#include "cuda/recorder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUEUE_BYTES ((size_t)4 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *queues[2];
static size_t used;
static int current;
static uint64_t dropped;
static _Thread_local uint32_t own_number __attribute__((tls_model("initial-exec")));

int marks_open(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    used = 0;
    dropped = 0;
    own_number = 0; /* a forked child's thread has another one */
    for (int i = 0; i < 2; i++)
        if (!queues[i] && !(queues[i] = malloc(QUEUE_BYTES))) return -1;
    return 0;
}

void marks_close(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++) {
        free(queues[i]);
        queues[i] = NULL;
    }
    used = 0;
    pthread_mutex_unlock(&lock);
}

uint32_t thread_number(void)
{
    if (!own_number) own_number = (uint32_t)syscall(SYS_gettid);
    return own_number;
}

void marks_put(struct handed *handed, const char *text, size_t length)
{
    if (length > MARK_TEXT_BYTES) length = MARK_TEXT_BYTES;
    size_t bytes = sizeof *handed + (length + 7) / 8 * 8;
    bool wake = false;
    handed->bytes = (uint32_t)bytes;
    handed->text_bytes = (uint32_t)length;
    handed->reserved = 0;
    pthread_mutex_lock(&lock);
    if (queues[current] && used + bytes <= QUEUE_BYTES) {
        memcpy(queues[current] + used, handed, sizeof *handed);
        if (length) memcpy(queues[current] + used + sizeof *handed, text, length);
        wake = used < QUEUE_BYTES / 2 && used + bytes >= QUEUE_BYTES / 2;
        used += bytes;
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&lock);
    if (wake) writer_wake();
}

const unsigned char *marks_take(size_t *bytes)
{
    pthread_mutex_lock(&lock);
    const unsigned char *data = queues[current];
    *bytes = used;
    current = !current;
    used = 0;
    pthread_mutex_unlock(&lock);
    return data;
}

uint64_t marks_dropped(void)
{
    pthread_mutex_lock(&lock);
    uint64_t count = dropped;
    pthread_mutex_unlock(&lock);
    return count;
}
