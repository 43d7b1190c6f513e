/* event_words.h - words for the enums of an event's arguments. */
#ifndef ASSAY_TRACE_EVENT_WORDS_H
#define ASSAY_TRACE_EVENT_WORDS_H

#include "trace/events.h"

/** "to device", …; NULL: unknown. */
const char *assay__copy_direction_name(unsigned direction);
/** "pageable", "pinned", …; NULL: unknown. */
const char *assay__memory_kind_name(unsigned memory);

#endif
