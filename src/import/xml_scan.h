/* xml_scan.h - reads XML as a stream of elements and texts. No tree is built; memory is that of the
 * longest single tag or text.
 *
 *   while ((kind = assay__xml_next(&xml)) != ASSAY__XML_NOTHING) …
 *
 * What is not read, on purpose: document type declarations are refused, so that no entity is ever
 * defined and nothing outside the file is looked up; only the five predefined and the numeric
 * references are decoded. Name spaces are part of names. UTF-8 only.
 *
 * Broken text: an end tag that fits an outer element closes the inner ones too, one that fits none
 * is skipped, and a "<" that begins no tag is skipped. All of it is counted in `faults`;
 * `complaint` is the first reason. */
#ifndef ASSAY_IMPORT_XML_SCAN_H
#define ASSAY_IMPORT_XML_SCAN_H

#include "base/buf.h"
#include "import/import_window.h"

#include <string.h>

#define ASSAY__XML_DEPTH 128     /* elements within elements; deeper ones end the reading */
#define ASSAY__XML_ATTRIBUTES 24 /* of one tag; further ones are skipped */
#define ASSAY__XML_TOKEN_BYTES ((size_t)4 << 20) /* of one tag or text; longer ones end it too */

enum assay__xml_kind {
    ASSAY__XML_NOTHING, /* the end, or nothing more can be read */
    ASSAY__XML_BEGIN,   /* name, attributes */
    ASSAY__XML_END,     /* of the element that began last */
    ASSAY__XML_TEXT     /* not only white space; raw unless `plain` */
};

struct assay__xml_text { /* borrowed until the next call */
    const char *at;
    size_t length;
};

struct assay__xml {
    struct assay__import_window window;
    struct assay__xml_text name, text;
    struct {
        struct assay__xml_text name, value;
    } attributes[ASSAY__XML_ATTRIBUTES];
    size_t attribute_count;
    bool plain;   /* the text is a CDATA section: nothing in it is to be decoded */
    size_t depth; /* elements that are open, the one that just began included */
    uint64_t faults;
    const char *complaint; /* static; NULL: none */
    bool truncated;        /* the text ended within an element */

    size_t closing; /* ends that are still to be reported */
    bool stopped, began;
    uint32_t open[ASSAY__XML_DEPTH]; /* hashes of the names; that of `name` is the last */
};

enum assay__xml_kind assay__xml_next(struct assay__xml *xml);
/** Skips the element that just began, to its end, which is not reported. */
void assay__xml_skip(struct assay__xml *xml);
/** Appends the text with its references decoded; unknown ones stay as they are. */
void assay__xml_decode(struct assay__buf *out, struct assay__xml_text text);
static inline bool assay__xml_is(struct assay__xml_text text, const char *word)
{
    size_t length = strlen(word);
    return text.length == length && memcmp(text.at, word, length) == 0;
}
/** The raw value of an attribute; length 0 and at NULL: there is none. */
static inline struct assay__xml_text assay__xml_attribute(const struct assay__xml *xml,
                                                          const char *name)
{
    for (size_t i = 0; i < xml->attribute_count; i++)
        if (assay__xml_is(xml->attributes[i].name, name)) return xml->attributes[i].value;
    return (struct assay__xml_text){NULL, 0};
}

#endif
