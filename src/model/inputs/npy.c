/* npy.c - NumPy's .npy. Layout: "\x93NUMPY", major, minor, header length (2 bytes little-endian in
 * version 1, 4 in 2 and 3), header: a Python dictionary such as {'descr': '<f4', 'fortran_order':
 * False, 'shape': (1, 3), }, padded; then the data. The dictionary is read by hand: exactly these
 * three keys, in any order. Untrusted input: every step is bounds-checked. Little-endian (or
 * byte-sized) only; Fortran order only if it makes no difference. */
#include "model/inputs/npy.h"

#include "base/buf.h"
#include "base/checked.h"

#include <stdio.h>
#include <string.h>

struct header {
    const char *at, *end;
    bool has_descr, has_order, has_shape;
    bool fortran;
};

static int bad_file(struct assay_error *error, const char *why)
{
    return assay_error_set(error, ASSAY_EFORMAT, "not a usable .npy file: %s", why);
}

static void skip_space(struct header *header)
{
    while (header->at < header->end &&
           (*header->at == ' ' || *header->at == '\n' || *header->at == '\t'))
        header->at++;
}

static bool take(struct header *header, char c)
{
    skip_space(header);
    if (header->at >= header->end || *header->at != c) return false;
    header->at++;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(struct header *header, const char **text, size_t *length)
{
    skip_space(header);
    if (header->at >= header->end || (*header->at != '\'' && *header->at != '"')) return false;
    char quote = *header->at++;
    *text = header->at;
    while (header->at < header->end && *header->at != quote && *header->at != '\\')
        header->at++;
    if (header->at >= header->end || *header->at != quote) return false;
    *length = (size_t)(header->at - *text);
    header->at++;
    return true;
}

static bool take_word(struct header *header, const char *word)
{
    size_t length = strlen(word);
    skip_space(header);
    if ((size_t)(header->end - header->at) < length || memcmp(header->at, word, length) != 0)
        return false;
    header->at += length;
    return true;
}

static bool take_number(struct header *header, int64_t *value)
{
    skip_space(header);
    bool any = false;
    *value = 0;
    while (header->at < header->end && *header->at >= '0' && *header->at <= '9') {
        if (assay__mul_i64_overflows(*value, 10, value) ||
            assay__add_i64_overflows(*value, *header->at - '0', value))
            return false;
        header->at++;
        any = true;
    }
    if (any && header->at < header->end && *header->at == 'L')
        header->at++; /* written by Python 2 */
    return any;
}

static const struct {
    const char *descr;
    enum assay__dtype dtype;
} types[] = {
    {"<f4", ASSAY__FLOAT32},   {"<f8", ASSAY__FLOAT64},     {"<f2", ASSAY__FLOAT16},
    {"|i1", ASSAY__INT8},      {"|u1", ASSAY__UINT8},       {"<i2", ASSAY__INT16},
    {"<u2", ASSAY__UINT16},    {"<i4", ASSAY__INT32},       {"<u4", ASSAY__UINT32},
    {"<i8", ASSAY__INT64},     {"<u8", ASSAY__UINT64},      {"|b1", ASSAY__BOOL},
    {"<c8", ASSAY__COMPLEX64}, {"<c16", ASSAY__COMPLEX128}, {"<i1", ASSAY__INT8},
    {"<u1", ASSAY__UINT8},     {"<b1", ASSAY__BOOL},
};

static int read_descr(struct header *header, struct assay__npy *npy, struct assay_error *error)
{
    const char *text;
    size_t length;
    if (!take_string(header, &text, &length))
        return bad_file(error, "its type is a record or is malformed; save a plain array");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].descr) == length && memcmp(types[i].descr, text, length) == 0) {
            npy->dtype = types[i].dtype;
            header->has_descr = true;
            return 0;
        }
    if (length && *text == '>') return bad_file(error, "it is big-endian; save it with a '<' type");
    return assay_error_set(error, ASSAY_EUNSUPPORTED,
                           "not a usable .npy file: the type '%.*s' is not a supported number type",
                           (int)(length < 20 ? length : 20), text);
}

static int read_shape(struct header *header, struct assay__npy *npy, struct assay_error *error)
{
    if (!take(header, '(')) return bad_file(error, "its shape is malformed");
    npy->rank = 0;
    while (!take(header, ')')) {
        if (npy->rank == ASSAY__NPY_RANK) return bad_file(error, "it has more than 32 dimensions");
        if (!take_number(header, &npy->dims[npy->rank]))
            return bad_file(error, "its shape is malformed");
        npy->rank++;
        if (!take(header, ',')) {
            if (!take(header, ')')) return bad_file(error, "its shape is malformed");
            break;
        }
    }
    header->has_shape = true;
    return 0;
}

static int read_dictionary(struct header *header, struct assay__npy *npy, struct assay_error *error)
{
    if (!take(header, '{')) return bad_file(error, "its header is malformed");
    while (!take(header, '}')) {
        const char *key;
        size_t length;
        int code = 0;
        if (!take_string(header, &key, &length) || !take(header, ':'))
            return bad_file(error, "its header is malformed");
        if (length == 5 && memcmp(key, "descr", 5) == 0) {
            code = read_descr(header, npy, error);
        } else if (length == 5 && memcmp(key, "shape", 5) == 0) {
            code = read_shape(header, npy, error);
        } else if (length == 13 && memcmp(key, "fortran_order", 13) == 0) {
            header->has_order = true;
            header->fortran = take_word(header, "True");
            if (!header->fortran && !take_word(header, "False"))
                return bad_file(error, "its order is malformed");
        } else {
            return bad_file(error, "its header has an unknown key");
        }
        if (code) return code;
        if (!take(header, ',')) {
            if (!take(header, '}')) return bad_file(error, "its header is malformed");
            break;
        }
    }
    if (!header->has_descr || !header->has_order || !header->has_shape)
        return bad_file(error, "its header lacks the type, order or shape");
    return 0;
}

int assay__npy_parse(const uint8_t *bytes, size_t size, struct assay__npy *npy,
                     struct assay_error *error)
{
    *npy = (struct assay__npy){.rank = 0};
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return bad_file(error,
                        size < 10 ? "it is too short" : "it does not start with the .npy magic");
    int major = bytes[6];
    if (major < 1 || major > 3) return bad_file(error, "its version is not 1, 2 or 3");
    size_t start = major == 1 ? 10 : 12;
    if (size < start) return bad_file(error, "it is too short");
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (major > 1) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > size - start) return bad_file(error, "it ends inside its header (cut off)");
    struct header header = {.at = (const char *)bytes + start,
                            .end = (const char *)bytes + start + length};
    int code = read_dictionary(&header, npy, error);
    if (code) return code;
    int longer = 0;
    int64_t elements = 1;
    for (int i = 0; i < npy->rank; i++) {
        longer += npy->dims[i] > 1;
        if (elements >= 0 && assay__mul_i64_overflows(elements, npy->dims[i], &elements))
            elements = -1;
    }
    /* Fortran order is C order when at most one dimension is longer than 1. */
    if (header.fortran && longer > 1)
        return bad_file(error, "it is in Fortran order; save numpy.ascontiguousarray(x)");
    size_t have = size - start - length;
    npy->data = bytes + start + length;
    npy->data_size = elements < 0 ? SIZE_MAX : assay__dtype_bytes(npy->dtype, elements);
    if (npy->data_size == SIZE_MAX) return bad_file(error, "its shape is impossibly large");
    if (have == npy->data_size) return 0;
    return assay_error_set(error, ASSAY_EFORMAT,
                           "not a usable .npy file: %zu bytes of data where its shape needs %zu%s",
                           have, npy->data_size, have < npy->data_size ? " (cut off)" : "");
}

int assay__npy_write(const char *path, enum assay__dtype dtype, int rank, const int64_t *dims,
                     const void *data, size_t size, struct assay_error *error)
{
    struct assay__buf buf = {.data = NULL};
    const char *descr = NULL;
    for (size_t i = 0; i < sizeof types / sizeof types[0] && !descr; i++)
        if (types[i].dtype == dtype) descr = types[i].descr;
    /* Types NumPy lacks are written as their bits. */
    if (!descr && dtype == ASSAY__BFLOAT16) descr = "<u2";
    if (!descr && assay__dtype_bits(dtype) == 8) descr = "|u1";
    if (!descr)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "%.300s: .npy has no type for %s", path,
                               assay__dtype_name(dtype));
    struct assay__buf header = {.data = NULL};
    assay__buf_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < rank; i++)
        assay__buf_printf(&header, "%lld,%s", (long long)dims[i], i + 1 < rank ? " " : "");
    assay__buf_puts(&header, "), }");
    /* The data begins at a multiple of 64 bytes; the header ends with a newline. */
    while ((10 + header.length + 1) % 64 && !header.failed)
        assay__buf_putc(&header, ' ');
    assay__buf_putc(&header, '\n');
    assay__buf_add(&buf, "\x93NUMPY\x01\x00", 8);
    assay__buf_putc(&buf, (char)(header.length & 0xff));
    assay__buf_putc(&buf, (char)(header.length >> 8));
    assay__buf_add(&buf, header.data, header.length);
    assay__buf_add(&buf, data, size);
    int code = header.failed || buf.failed || header.length > 0xffff
                   ? assay_error_set(error, ASSAY_ENOMEM, "%.300s: out of memory", path)
                   : assay__file_write(path, buf.data, buf.length, error);
    assay__buf_free(&header);
    assay__buf_free(&buf);
    return code;
}
