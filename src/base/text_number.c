/* text_number.c - numbers in human-readable form, in and out.
 *
 * Output: three significant digits with a decimal prefix, chosen after rounding (999.6 µs is "1.00
 * ms"). Time stops at seconds (1,234 s), other units at P. Counts are written out with thousands
 * separators. Independent of locale. Input: strict; the whole string or ASSAY_EINVAL. No
 * hexadecimal, no "inf", no spaces. */
#include "base/text.h"

#include <assay/error.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct family {
    const char *unit;
    const char *after; /* what follows the prefix */
    int least, most;   /* powers of 1000 allowed: -3 nano … 5 peta */
    int stored;        /* the power of 1000 that the unit itself is: TOPS/W is 1000^4 OPS/W */
};

static const struct family families[] = {
    {"s", "s", -3, 0, 0},      {"B", "B", 0, 5, 0},           {"B/s", "B/s", 0, 5, 0},
    {"FLOP", "FLOP", 0, 6, 0}, {"FLOP/s", "FLOP/s", 0, 6, 0}, {"1/s", "/s", 0, 4, 0},
    {"1/J", "/J", 0, 4, 0},    {"J", "J", -3, 3, 0},          {"W", "W", -3, 3, 0},
    {"Hz", "Hz", 0, 4, 0},     {"FLOP/B", "FLOP/B", 0, 0, 0}, {"TOPS/W", "OPS/W", 1, 4, 4},
    {"°C", "°C", 0, 0, 0},     {"MAC", "MAC", 0, 6, 0},       {"OP/s", "OP/s", 0, 6, 0},
};

static const char *const prefixes[] = {"n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};

static void group_thousands(char *out, size_t out_size, double value)
{
    char plain[64];
    snprintf(plain, sizeof plain, "%.0f", value);
    size_t length = strlen(plain), written = 0;
    for (size_t i = 0; i < length && written + 2 < out_size; i++) {
        out[written++] = plain[i];
        size_t left = length - 1 - i;
        if (left > 0 && left % 3 == 0) out[written++] = ',';
    }
    out[written] = '\0';
}

/* A caller's locale may print a decimal comma. */
static void decimal_point(char *text)
{
    const char *decimal = localeconv()->decimal_point;
    if (!decimal || decimal[0] == '.' || decimal[0] == '\0') return;
    char *at = strchr(text, decimal[0]);
    if (at) *at = '.';
}

/* Three significant digits, at least one before the point; magnitude >= 0 and finite. */
static void three_digits(char *out, size_t out_size, double magnitude)
{
    if (magnitude >= 999.5 && magnitude < 1e15) {
        group_thousands(out, out_size, magnitude);
        return;
    }
    int decimals = 0;
    if (magnitude > 0 && magnitude < 999.5) {
        int exponent = (int)floor(log10(magnitude));
        /* rounding may carry into the next power of ten: 9.996 is 10.0 */
        if (round(magnitude * pow(10, 2 - exponent)) >= 1000) exponent++;
        decimals = 2 - exponent;
        if (decimals < 0) decimals = 0;
        if (decimals > 12) decimals = 12;
    }
    snprintf(out, out_size, magnitude >= 1e15 ? "%.*e" : "%.*f", magnitude >= 1e15 ? 2 : decimals,
             magnitude);
    decimal_point(out);
}

static const struct family *family_of(const char *unit)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcmp(families[i].unit, unit) == 0) return &families[i];
    return NULL;
}

/* The power of 1000 used to show a value, below 1000 after rounding if possible. */
static int power_for(const struct family *family, double magnitude)
{
    int power = family->least;
    if (magnitude == 0) return family->stored;
    while (power < family->most && magnitude * pow(1000, family->stored - power) >= 999.5)
        power++;
    return power;
}

void assay__text_scaled(char *out, size_t out_size, double value, const char *unit)
{
    char digits[48];
    double magnitude = fabs(value);
    if (out_size == 0) return;
    if (!unit) unit = "";
    const struct family *family = family_of(unit);
    const char *prefix = "", *after = strcmp(unit, "points") == 0 ? "" : unit;
    bool whole = magnitude == floor(magnitude), counted = strcmp(unit, "count") == 0;
    if (!isfinite(value)) {
        snprintf(out, out_size, "—");
        return;
    }
    if (family) {
        int power = power_for(family, magnitude);
        prefix = prefixes[power + 3];
        after = family->after;
        whole = whole && power == 0 && magnitude < 1000 &&
                assay__text_is_one_of(unit, "B FLOP MAC");
        /* One multiplication, so that rounding does not accumulate. */
        if (!whole) magnitude *= pow(1000, family->stored - power);
    } else if (strcmp(unit, "ratio") == 0) {
        magnitude *= 100;
        after = "%";
    } else if (counted) {
        after = "";
    }
    if (magnitude == 0 || (family && whole))
        snprintf(digits, sizeof digits, "%.0f", magnitude);
    else if (counted && whole && magnitude < 1e15)
        group_thousands(digits, sizeof digits, magnitude);
    else
        three_digits(digits, sizeof digits, magnitude);
    snprintf(out, out_size, "%s%s%s%s%s", value < 0 ? "-" : "", digits, *after ? " " : "", prefix,
             after);
}

double assay__text_axis_unit(char *out, size_t out_size, double most, const char *unit)
{
    if (!unit) unit = "";
    const struct family *family = family_of(unit);
    if (family) {
        int power = power_for(family, isfinite(most) ? fabs(most) : 0);
        snprintf(out, out_size, "%s%s", prefixes[power + 3], family->after);
        return pow(1000, family->stored - power);
    }
    bool percent = strcmp(unit, "ratio") == 0,
         none = strcmp(unit, "count") == 0 || strcmp(unit, "points") == 0;
    snprintf(out, out_size, "%s", percent ? "%" : none ? "" : unit);
    return percent ? 100 : 1;
}

/* --- in sentences ----------------------------------------------------------------------------- */

struct assay__digits assay__digits(double value, int digits)
{
    struct assay__digits made = {"—"};
    char plain[40];
    double magnitude = fabs(value);
    if (!isfinite(value)) return made;
    if (magnitude >= 1e15) { /* nothing that was measured: no digits to count */
        snprintf(made.text, sizeof made.text, "%.2e", value);
        return made;
    }
    if (magnitude >= 999.5) {
        group_thousands(plain, sizeof plain, magnitude);
    } else {
        int exponent = magnitude > 0 ? (int)floor(log10(magnitude)) : 0;
        int decimals = digits - 1 - exponent;
        if (magnitude > 0 && round(magnitude * pow(10, decimals)) >= pow(10, digits)) decimals--;
        decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
        snprintf(plain, sizeof plain, "%.*f", decimals, magnitude);
        decimal_point(plain);
        for (char *end = plain + strlen(plain) - 1; strchr(plain, '.') && end > plain; end--) {
            char last = *end;
            if (last != '0' && last != '.') break;
            *end = '\0';
        }
    }
    snprintf(made.text, sizeof made.text, "%s%s", value < 0 ? "-" : "", plain);
    return made;
}

struct assay__digits_pair assay__digits_range(double low, double high)
{
    struct assay__digits_pair made;
    double most = fmax(fabs(low), fabs(high));
    bool apart = fabs(low) < most / 100 || !isfinite(low) || !isfinite(high);
    if (most >= 999.5 || most == 0 || apart) {
        snprintf(made.text, sizeof made.text, "%s to %s", assay__digits(low, 3).text,
                 assay__digits(high, 3).text);
        return made;
    }
    /* Three digits of the larger end, and more while an end that is not 1 would be shown as 1. */
    int decimals = 2 - (int)floor(log10(most));
    if (decimals < 0) decimals = 0;
    for (; decimals < 5; decimals++) {
        double scale = pow(10, decimals);
        bool low_is_one = low != 1 && round(low * scale) == scale,
             high_is_one = high != 1 && round(high * scale) == scale;
        if (!low_is_one && !high_is_one) break;
    }
    char ends[2][40];
    snprintf(ends[0], sizeof ends[0], "%.*f", decimals, low);
    snprintf(ends[1], sizeof ends[1], "%.*f", decimals, high);
    decimal_point(ends[0]);
    decimal_point(ends[1]);
    /* Trailing zeros of both carry no information. */
    for (int left = decimals; decimals > 0 && left >= 0; left--) {
        char *a = ends[0] + strlen(ends[0]) - 1, *b = ends[1] + strlen(ends[1]) - 1;
        if (*a != *b || (*a != '0' && *a != '.')) break;
        *a = *b = '\0';
    }
    snprintf(made.text, sizeof made.text, "%s to %s", ends[0], ends[1]);
    return made;
}

/* --- reading ---------------------------------------------------------------------------------- */

int assay__text_int64(const char *text, int64_t *value)
{
    if (!text) return ASSAY_EINVAL;
    const char *at = text + (text[0] == '-' || text[0] == '+');
    if (*at == '\0') return ASSAY_EINVAL;
    for (const char *c = at; *c; c++)
        if (*c < '0' || *c > '9') return ASSAY_EINVAL;
    errno = 0;
    long long parsed = strtoll(text, NULL, 10);
    if (errno) return ASSAY_EINVAL;
    *value = parsed;
    return 0;
}

/* A decimal number at the head of the text; *rest points past it. Grammar first, then strtod. */
static int leading_number(const char *text, double *value, const char **rest)
{
    char copy[64];
    size_t at = 0, digits = 0;
    if (text[at] == '-' || text[at] == '+') at++;
    for (; text[at] >= '0' && text[at] <= '9'; at++)
        digits++;
    size_t point = at;
    if (text[at] == '.')
        for (at++; text[at] >= '0' && text[at] <= '9'; at++)
            digits++;
    if (digits == 0) return ASSAY_EINVAL;
    if (text[at] == 'e' || text[at] == 'E') {
        size_t exponent = at + 1;
        if (text[exponent] == '-' || text[exponent] == '+') exponent++;
        size_t begin = exponent;
        while (text[exponent] >= '0' && text[exponent] <= '9')
            exponent++;
        if (exponent > begin) at = exponent;
    }
    if (at >= sizeof copy) return ASSAY_EINVAL;
    memcpy(copy, text, at);
    copy[at] = '\0';
    const char *decimal = localeconv()->decimal_point;
    if (copy[point] == '.' && decimal && decimal[0]) copy[point] = decimal[0];
    *value = strtod(copy, NULL);
    *rest = text + at;
    return isfinite(*value) ? 0 : ASSAY_EINVAL;
}

int assay__text_double(const char *text, double *value)
{
    const char *rest;
    double parsed;
    if (!text || leading_number(text, &parsed, &rest) || *rest) return ASSAY_EINVAL;
    *value = parsed;
    return 0;
}

struct suffix {
    const char *text;
    double factor;
};

static int with_suffix(const char *text, const struct suffix *suffixes, size_t count, double *value)
{
    const char *rest;
    double parsed;
    if (!text || leading_number(text, &parsed, &rest) || parsed < 0) return ASSAY_EINVAL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rest, suffixes[i].text) != 0) continue;
        *value = parsed * suffixes[i].factor;
        return isfinite(*value) ? 0 : ASSAY_EINVAL;
    }
    return ASSAY_EINVAL;
}

int assay__text_duration_s(const char *text, double *seconds)
{
    /* µ twice: U+00B5 (micro sign) and U+03BC (Greek mu) */
    static const struct suffix suffixes[] = {
        {"", 1},
        {"s", 1},
        {"ms", 1e-3},
        {"us", 1e-6},
        {"ns", 1e-9},
        {"\xc2\xb5s", 1e-6},
        {"\xce\xbcs", 1e-6},
        {"m", 60},
    };
    return with_suffix(text, suffixes, sizeof suffixes / sizeof suffixes[0], seconds);
}

int assay__text_bytes(const char *text, uint64_t *bytes)
{
    static const struct suffix suffixes[] = {
        {"", 1},         {"B", 1},         {"k", 1e3},         {"kB", 1e3},        {"M", 1e6},
        {"MB", 1e6},     {"G", 1e9},       {"GB", 1e9},        {"Ki", 1024},       {"KiB", 1024},
        {"Mi", 1048576}, {"MiB", 1048576}, {"Gi", 1073741824}, {"GiB", 1073741824}};
    double value;
    if (with_suffix(text, suffixes, sizeof suffixes / sizeof suffixes[0], &value))
        return ASSAY_EINVAL;
    if (value >= 9223372036854775808.0 || value != floor(value)) return ASSAY_EINVAL;
    *bytes = (uint64_t)value;
    return 0;
}

struct assay__digits assay__scaled(double value, const char *unit)
{
    struct assay__digits made = {0};
    assay__text_scaled(made.text, sizeof made.text, value, unit);
    return made;
}

void assay__text_put_scaled(struct assay__buf *out, double value, const char *unit)
{
    assay__buf_puts(out, assay__scaled(value, unit).text);
}
