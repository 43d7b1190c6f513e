/* utf8.h - one strict UTF-8 decoder for JSON and for text that goes to a terminal. */
#ifndef ASSAY_BASE_UTF8_H
#define ASSAY_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY__UTF8_INVALID UINT32_MAX
#define ASSAY__UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/** Decodes one character of text[0 … length); *size gets the bytes it takes (1 if invalid, so that
 *  a caller can continue). Overlong forms, surrogates, values above U+10FFFF and truncated
 *  sequences are ASSAY__UTF8_INVALID. length > 0. */
uint32_t assay__utf8_decode(const char *text, size_t length, size_t *size);
/** Encodes into out[4]; returns the bytes used. A surrogate or a value above U+10FFFF becomes
 *  U+FFFD. */
size_t assay__utf8_encode(uint32_t code, char out[4]);

#endif
