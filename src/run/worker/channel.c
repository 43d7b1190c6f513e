/* channel.c - sends and receives lines of JSON over a socket. SIGPIPE: a library must not change
 * the program's disposition, so it is blocked around the write and, if the write raised it,
 * discarded (MSG_NOSIGNAL does not exist everywhere). */
#include "run/worker/channel.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void assay__channel_open(struct assay__channel *channel, int fd)
{
    *channel = (struct assay__channel){.fd = fd};
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0) fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void assay__channel_close(struct assay__channel *channel)
{
    if (channel->fd >= 0) close(channel->fd);
    free(channel->data);
    *channel = (struct assay__channel){.fd = -1};
}

static int wait_for(int fd, short events, int timeout_ms)
{
    struct pollfd poller = {.fd = fd, .events = events};
    int ready = poll(&poller, 1, timeout_ms);
    if (ready == 0) return ASSAY_ETIMEOUT;
    if (ready < 0) return errno == EINTR ? ASSAY_EINTERRUPTED : ASSAY_EIO;
    return 0;
}

static int write_all(int fd, const char *data, size_t size, uint64_t deadline_ns)
{
    while (size > 0) {
        ssize_t wrote = write(fd, data, size);
        if (wrote >= 0) {
            data += wrote;
            size -= (size_t)wrote;
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) return ASSAY_EIO;
        uint64_t now = assay__now_ns();
        if (now >= deadline_ns) return ASSAY_ETIMEOUT;
        int code = wait_for(fd, POLLOUT, (int)((deadline_ns - now) / 1000000u) + 1);
        if (code == ASSAY_EIO) return code;
    }
    return 0;
}

int assay__channel_send(struct assay__channel *channel, const struct assay__buf *line,
                        int timeout_ms)
{
    if (line->failed) return ASSAY_ENOMEM;
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    uint64_t deadline = assay__now_ns() + (uint64_t)timeout_ms * 1000000u;
    int code = write_all(channel->fd, assay__buf_text(line), line->length, deadline);
    if (code == 0) code = write_all(channel->fd, "\n", 1, deadline);
    sigpending(&pending);
    if (!was_pending && sigismember(&pending, SIGPIPE) == 1) {
        int taken;
        sigwait(&pipe_only, &taken);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* Makes room for more bytes: moves the unread part to the front, grows up to the limit. */
static int make_room(struct assay__channel *channel)
{
    if (channel->start > 0) {
        memmove(channel->data, channel->data + channel->start, channel->length - channel->start);
        channel->length -= channel->start;
        channel->start = 0;
    }
    if (channel->length + 1 < channel->capacity) return 0;
    if (channel->capacity >= ASSAY__CHANNEL_LINE) return ASSAY_ELIMIT;
    size_t capacity = channel->capacity ? channel->capacity * 2 : 8192;
    char *data = realloc(channel->data, capacity);
    if (!data) return ASSAY_ENOMEM;
    channel->data = data;
    channel->capacity = capacity;
    return 0;
}

static int take_more(struct assay__channel *channel, int timeout_ms)
{
    int code = make_room(channel);
    if (code == 0) code = wait_for(channel->fd, POLLIN, timeout_ms);
    if (code) return code;
    ssize_t got = read(channel->fd, channel->data + channel->length,
                       channel->capacity - channel->length - 1);
    if (got > 0) channel->length += (size_t)got;
    if (got == 0) return ASSAY_ENOTFOUND;
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (got < 0) return errno == ECONNRESET ? ASSAY_ENOTFOUND : ASSAY_EIO;
    return 0;
}

int assay__channel_read(struct assay__channel *channel, int timeout_ms, const char **line,
                        size_t *length)
{
    size_t searched = channel->start;
    uint64_t deadline = timeout_ms < 0 ? UINT64_MAX
                                       : assay__now_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        char *end = channel->length > searched
                        ? memchr(channel->data + searched, '\n', channel->length - searched)
                        : NULL;
        if (end) {
            *line = channel->data + channel->start;
            *length = (size_t)(end - *line);
            *end = '\0';
            channel->start = (size_t)(end - channel->data) + 1;
            return 0;
        }
        size_t unread = channel->length - channel->start;
        int wait_ms = -1;
        if (timeout_ms >= 0) {
            uint64_t now = assay__now_ns();
            wait_ms = now >= deadline ? 0 : (int)((deadline - now + 999999u) / 1000000u);
        }
        int code = take_more(channel, wait_ms);
        if (code) return code;
        searched = channel->start + unread; /* what was there holds no newline */
    }
}
