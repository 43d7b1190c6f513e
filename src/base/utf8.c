/* utf8.c - strict UTF-8 (Unicode 15, table 3-7: well-formed byte sequences). */
#include "base/utf8.h"

uint32_t assay__utf8_decode(const char *text, size_t length, size_t *size)
{
    const unsigned char *s = (const unsigned char *)text;
    *size = 1;
    if (s[0] < 0x80) return s[0];
    size_t wants = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || length < wants) return ASSAY__UTF8_INVALID;
    uint32_t code = s[0] & (0x7fu >> wants);
    for (size_t i = 1; i < wants; i++) {
        if ((s[i] & 0xc0) != 0x80) return ASSAY__UTF8_INVALID;
        code = code << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[wants] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return ASSAY__UTF8_INVALID;
    *size = wants;
    return code;
}

size_t assay__utf8_encode(uint32_t code, char out[4])
{
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) code = 0xfffd;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}
