/* error.c - names and texts of the error codes, and the one function that fills a struct
 * assay_error. */
#include "base/options_read.h"

#include <assay/error.h>
#include <stdarg.h>
#include <stdio.h>

const char *assay_error_name(int code)
{
    switch (code) {
    case ASSAY_OK: return "OK";
#define ERROR_NAME(name, value, text) \
    case value: return #name;
        ASSAY_ERROR_MAP(ERROR_NAME)
#undef ERROR_NAME
    default: return "EUNKNOWN";
    }
}

const char *assay_error_text(int code)
{
    switch (code) {
    case ASSAY_OK: return "no error";
#define ERROR_TEXT(name, value, text) \
    case value: return text;
        ASSAY_ERROR_MAP(ERROR_TEXT)
#undef ERROR_TEXT
    default: return "unknown error";
    }
}

/* A message cut at the end of the buffer must not end in half a UTF-8 character. */
static void trim_partial_utf8(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0) return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t wants = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (length - (start - 1) < wants) text[start - 1] = '\0';
}

static int set(struct assay_error *error, int code, const char *option, const char *format,
               va_list args)
{
    if (!error) return code;
    error->code = code;
    error->option = option;
    int length = vsnprintf(error->message, sizeof error->message, format, args);
    if (length < 0) {
        snprintf(error->message, sizeof error->message, "%s", assay_error_text(code));
        return code;
    }
    if ((size_t)length >= sizeof error->message)
        trim_partial_utf8(error->message, sizeof error->message - 1);
    for (char *c = error->message; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    return code;
}

int assay_error_set(struct assay_error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(error, code, NULL, format, args);
    va_end(args);
    return code;
}

int assay__refuse_option(struct assay_error *error, const char *option, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(error, ASSAY_EINVAL, option, format, args);
    va_end(args);
    return ASSAY_EINVAL;
}
