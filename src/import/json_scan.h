/* json_scan.h - the inner loops of reading JSON text in a window: white space, strings, numbers and
 * values to skip. The text [at, end) is followed by ASSAY__SCAN_PADDING bytes 0xff, which never
 * occur in JSON: loops over single bytes stop there, loops over vectors may read them. Each
 * function returns where it stopped, and `end` (or beyond) where the text ran out.
 *
 * Lenient where writers of traces are sloppy: any control character is white space; any other bare
 * word (NaN, -inf, True) is a value. */
#ifndef ASSAY_IMPORT_JSON_SCAN_H
#define ASSAY_IMPORT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define ASSAY__SCAN_PADDING 64

/** A value in the window. */
struct assay__scan_value {
    const char *text; /* of a string: between the quotes */
    size_t length;
    char kind; /* '"', '{', '[', or 'w': a number or another word; 0: none */
    bool escaped;
};

#if defined(__SSE2__)

enum { ASSAY__SCAN_STEP = 16 };
typedef uint32_t assay__scan_mask; /* a bit for each byte */
#define ASSAY__SCAN_MASK_SHIFT 0

static inline assay__scan_mask assay__scan_visible(const char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i blank = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
    return ~(assay__scan_mask)_mm_movemask_epi8(blank) & 0xffffu;
}
static inline assay__scan_mask assay__scan_quotes(const char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return (assay__scan_mask)_mm_movemask_epi8(_mm_or_si128(quote, slash));
}
/* Quotes, brackets and braces: [ ] { } become { and } when their bit 0x20 is set. */
static inline assay__scan_mask assay__scan_nesting(const char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    __m128i open = _mm_cmpeq_epi8(lower, _mm_set1_epi8('{'));
    __m128i close = _mm_cmpeq_epi8(lower, _mm_set1_epi8('}'));
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    return (assay__scan_mask)_mm_movemask_epi8(_mm_or_si128(quote, _mm_or_si128(open, close)));
}

#elif defined(__ARM_NEON)

enum { ASSAY__SCAN_STEP = 16 };
typedef uint64_t assay__scan_mask; /* four bits for each byte */
#define ASSAY__SCAN_MASK_SHIFT 2

static inline assay__scan_mask assay__scan_narrow(uint8x16_t found)
{
    uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(found), 4);
    return vget_lane_u64(vreinterpret_u64_u8(nibbles), 0);
}
static inline assay__scan_mask assay__scan_visible(const char *at)
{
    return assay__scan_narrow(vcgtq_u8(vld1q_u8((const uint8_t *)at), vdupq_n_u8(' ')));
}
static inline assay__scan_mask assay__scan_quotes(const char *at)
{
    uint8x16_t bytes = vld1q_u8((const uint8_t *)at);
    return assay__scan_narrow(
        vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\'))));
}
static inline assay__scan_mask assay__scan_nesting(const char *at)
{
    uint8x16_t bytes = vld1q_u8((const uint8_t *)at);
    uint8x16_t lower = vorrq_u8(bytes, vdupq_n_u8(0x20));
    uint8x16_t nest = vorrq_u8(vceqq_u8(lower, vdupq_n_u8('{')), vceqq_u8(lower, vdupq_n_u8('}')));
    return assay__scan_narrow(vorrq_u8(nest, vceqq_u8(bytes, vdupq_n_u8('"'))));
}

#else

enum { ASSAY__SCAN_STEP = 1 };
typedef uint32_t assay__scan_mask;
#define ASSAY__SCAN_MASK_SHIFT 0

static inline assay__scan_mask assay__scan_visible(const char *at)
{
    return (unsigned char)*at > ' ';
}
static inline assay__scan_mask assay__scan_quotes(const char *at)
{
    return *at == '"' || *at == '\\';
}
static inline assay__scan_mask assay__scan_nesting(const char *at)
{
    return *at == '"' || (*at | 0x20) == '{' || (*at | 0x20) == '}';
}

#endif

static inline size_t assay__scan_first(assay__scan_mask mask)
{
    return (size_t)__builtin_ctzll(mask) >> ASSAY__SCAN_MASK_SHIFT;
}

/** The next character that is not white space; the padding ends the search. */
static inline const char *assay__scan_space(const char *at)
{
    if ((unsigned char)*at > ' ') return at;
    if ((unsigned char)*++at > ' ') return at;
    for (;; at += ASSAY__SCAN_STEP) {
        assay__scan_mask mask = assay__scan_visible(at);
        if (mask) return at + assay__scan_first(mask);
    }
}

/** The closing quote of a string whose first character is at `at`. */
static inline const char *assay__scan_string(const char *at, const char *end, bool *escaped)
{
    while (at < end) {
        assay__scan_mask mask = assay__scan_quotes(at);
        if (!mask) {
            at += ASSAY__SCAN_STEP;
            continue;
        }
        at += assay__scan_first(mask);
        if (*at == '"') return at;
        *escaped = true;
        at += 2;
    }
    return end;
}

/** Just past a number or another bare word. */
static inline const char *assay__scan_word(const char *at)
{
    for (;; at++) {
        unsigned char c = (unsigned char)*at;
        if (c <= ' ' || c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || c == 0xff)
            return at;
    }
}

/** Just past the object or array whose opening bracket is before `at`. Kinds of brackets are not
 * distinguished: what is skipped need only end where its depth does. */
static inline const char *assay__scan_nested(const char *at, const char *end)
{
    size_t depth = 1;
    while (at < end) {
        assay__scan_mask mask = assay__scan_nesting(at);
        if (!mask) {
            at += ASSAY__SCAN_STEP;
            continue;
        }
        at += assay__scan_first(mask);
        if (*at == '"') {
            bool escaped;
            at = assay__scan_string(at + 1, end, &escaped);
            if (at >= end) return end + 1;
        } else if ((*at | 0x20) == '{') {
            depth++;
        } else if (--depth == 0) {
            return at + 1;
        }
        at++;
    }
    return end + 1;
}

/** The value at `at`; *value says which. Returns what follows it; NULL: there is no value. A
 *  result above `end`, or a word that reaches it, may continue beyond the window. */
static inline const char *assay__scan_value(const char *at, const char *end,
                                            struct assay__scan_value *value)
{
    value->text = at;
    value->escaped = false;
    value->kind = *at;
    if (*at == '"') {
        value->text = at + 1;
        const char *close = assay__scan_string(at + 1, end, &value->escaped);
        value->length = (size_t)(close - value->text);
        return close < end ? close + 1 : end + 1;
    }
    const char *behind;
    if (*at == '{' || *at == '[') {
        behind = assay__scan_nested(at + 1, end);
    } else {
        value->kind = 'w';
        behind = assay__scan_word(at);
        if (behind == at && at < end) return NULL;
        if (behind >= end) return end + 1;
    }
    value->length = (size_t)(behind - at);
    return behind;
}

#endif
