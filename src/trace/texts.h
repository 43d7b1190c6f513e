/* texts.h - the distinct strings of an event store, numbered from 0 in order of arrival. A text
 * never moves and ends with a NUL; all are valid UTF-8. Names that repeat a million times cost one
 * hash and one comparison each. */
#ifndef ASSAY_TRACE_TEXTS_H
#define ASSAY_TRACE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__TEXTS_NONE UINT32_MAX
#define ASSAY__TEXTS_MAX_BYTES ((size_t)2 << 30) /* of all texts; more is refused */

struct assay__texts;

struct assay__texts *assay__texts_new(void); /* NULL: out of memory */
void assay__texts_free(struct assay__texts *texts);
/** The number of that text, up to a NUL if it has one; bytes that are not UTF-8 become U+FFFD.
 *  ASSAY__TEXTS_NONE: out of memory, or (*limit) too much text. */
uint32_t assay__texts_add(struct assay__texts *texts, const char *text, size_t length, bool *limit);
size_t assay__texts_count(const struct assay__texts *texts);
/** "" where there is no such number. */
const char *assay__texts_get(const struct assay__texts *texts, uint32_t number);
size_t assay__texts_length(const struct assay__texts *texts, uint32_t number);

/** A hash of any bytes that an attacker cannot predict (seed: of this process and store). */
uint64_t assay__texts_hash(const void *bytes, size_t length, uint64_t seed);
uint64_t assay__texts_seed(const void *owner);

#endif
