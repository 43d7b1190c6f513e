/* channel.h - one JSON object per line over a socket, both ways. Lines are bounded; the other side
 * may be dead, slow or hostile, and no call blocks forever. */
#ifndef ASSAY_RUN_WORKER_CHANNEL_H
#define ASSAY_RUN_WORKER_CHANNEL_H

#include "base/buf.h"
#include "base/no_memory.h"

#include <assay/error.h>
#include <stddef.h>

#define ASSAY__CHANNEL_LINE (4u << 20)

struct assay__channel {
    int fd;
    char *data;
    size_t start, length, capacity; /* unread bytes: data[start … length) */
};

/** Takes ownership of the descriptor and makes it non-blocking. */
void assay__channel_open(struct assay__channel *channel, int fd);
void assay__channel_close(struct assay__channel *channel);
/** Sends the buffer and a newline. ASSAY_EIO if the other side has closed, ASSAY_ETIMEOUT if it
 * does not read. */
int assay__channel_send(struct assay__channel *channel, const struct assay__buf *line,
                        int timeout_ms);
/** The next line (NUL-terminated, without its newline; valid until the next call). timeout_ms -1:
 * waits forever. ASSAY_ETIMEOUT, ASSAY_EINTERRUPTED (a signal came), ASSAY_ENOTFOUND (closed),
 * ASSAY_ELIMIT (line too long), ASSAY_EIO. */
int assay__channel_read(struct assay__channel *channel, int timeout_ms, const char **line,
                        size_t *length);

#endif
