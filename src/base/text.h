/* text.h - human-readable text: scaled units, safe terminal text, display width, nearest word; and
 * a hash of words. */
#ifndef ASSAY_BASE_TEXT_H
#define ASSAY_BASE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A base-unit value in human-readable form: (0.0000205, "s") -> "20.5 µs"; (3.2e9, "B") -> "3.20
 *  GB" (decimal); "FLOP/s" -> "210 GFLOP/s"; "1/s" -> "48.7 k/s"; "ratio" -> "75.0 %" ; three
 *  significant digits. NaN -> "—". */
void assay__text_scaled(char *out, size_t out_size, double value, const char *unit);
void assay__text_put_scaled(struct assay__buf *out, double value, const char *unit);
/** One unit for a whole axis or column whose max is `most`: its name into `out` ("ms", "GB/s", "%";
 *  "" for counts), and the factor for values. */
double assay__text_axis_unit(char *out, size_t out_size, double most, const char *unit);
/* A number formatted for a sentence; use .text within the same expression. */
struct assay__digits {
    char text[48];
};
struct assay__digits_pair {
    char text[112];
};
/** As assay__text_scaled: "20.5 µs". */
struct assay__digits assay__scaled(double value, const char *unit);
/** With that many significant digits (usually 3), without trailing zeros, never as a power of ten:
 *  "2.67", "1,780", "0.0000123"; from 1,000 on whole and grouped. "—" if it is not finite. */
struct assay__digits assay__digits(double value, int digits);
/** "1.04 to 1.12": the ends of an interval with equal decimals, as many as needed to distinguish
 * them from 1. */
struct assay__digits_pair assay__digits_range(double low, double high);
/** Replaces control characters and invalid UTF-8, so that a name from a file cannot control the
 *  terminal. */
void assay__text_safe(struct assay__buf *out, const char *text);
/** A control character, or one that changes the text direction. */
bool assay__text_drives_terminal(uint32_t code);
/** Columns a UTF-8 string takes (East Asian wide = 2, combining = 0). */
size_t assay__text_width(const char *text);
/** Appends text shortened to `columns` (with an ellipsis; keeps the end if `keep_end`), padded to
 *  `columns`. */
void assay__text_fit(struct assay__buf *out, const char *text, size_t columns, int keep_end);
/** Damerau-Levenshtein distance, for "did you mean". */
size_t assay__text_distance(const char *a, const char *b);
/** Whether a word at that distance is close enough to be a typing error: one letter, or a third of
 * it, is wrong. */
bool assay__text_near(const char *written, size_t distance);
/** The candidate closest to what was written, for "the nearest is"; start with
 *  ASSAY__TEXT_NEAREST. */
struct assay__text_nearest {
    const char *word; /* "" before the first candidate */
    size_t distance;
};
#define ASSAY__TEXT_NEAREST ((struct assay__text_nearest){"", SIZE_MAX})
void assay__text_nearest_try(struct assay__text_nearest *nearest, const char *written,
                             const char *candidate);
/** Strict numbers: the whole string or an error (-2 ASSAY_EINVAL). Durations take ns/us/µs/ms/s/m;
 *  sizes k/M/G (decimal) and Ki/Mi/Gi. */
int assay__text_int64(const char *text, int64_t *value);
int assay__text_double(const char *text, double *value);
int assay__text_duration_s(const char *text, double *seconds);
int assay__text_bytes(const char *text, uint64_t *bytes);

/** Whether the word is in a space-separated list ("Conv ConvTranspose"). A word in the list that
 *  ends in '*' matches any ending. */
bool assay__text_is_one_of(const char *word, const char *list);

/** FNV-1a with its high bits folded in: for tables of our own words, where no input can choose
 *  collisions. */
static inline uint32_t assay__text_hash(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash ^ (hash >> 15);
}

#endif
