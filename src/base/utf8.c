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
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(size == 1 ? code
                              : (0xf00u >> size & 0xff) | code); /* as many one bits as bytes */
    return size;
}
