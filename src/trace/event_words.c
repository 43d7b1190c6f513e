/* event_words.c - see event_words.h. */
#include "trace/event_words.h"

const char *assay__copy_direction_name(unsigned direction)
{
    static const char *const names[] = {
        [ASSAY__COPY_UNKNOWN] = NULL,        [ASSAY__COPY_TO_DEVICE] = "to device",
        [ASSAY__COPY_TO_HOST] = "to host",   [ASSAY__COPY_ON_DEVICE] = "on device",
        [ASSAY__COPY_PEER] = "peer to peer", [ASSAY__COPY_ON_HOST] = "on host"};
    return direction < sizeof names / sizeof *names ? names[direction] : NULL;
}

const char *assay__memory_kind_name(unsigned memory)
{
    static const char *const names[] = {[ASSAY__MEMORY_UNKNOWN] = NULL,
                                        [ASSAY__MEMORY_PAGEABLE] = "pageable",
                                        [ASSAY__MEMORY_PINNED] = "pinned",
                                        [ASSAY__MEMORY_DEVICE] = "device",
                                        [ASSAY__MEMORY_MANAGED] = "managed"};
    return memory < sizeof names / sizeof *names ? names[memory] : NULL;
}
