/* html_text.h - text made safe for HTML, and the encodings that a page needs. */
#ifndef ASSAY_REPORT_WALK_HTML_TEXT_H
#define ASSAY_REPORT_WALK_HTML_TEXT_H

#include "base/buf.h"

/** Text made safe for content and for attribute values in double quotes. Control characters,
 * invalid UTF-8 and characters that change the text direction become U+FFFD. NULL is "". */
void assay__html_text(struct assay__buf *out, const char *text);
/** The same for a sentence, only as content: a line ends neither between a number and its unit nor
 * inside an option (--launches). */
void assay__html_prose(struct assay__buf *out, const char *text);
/** The same for a cell: an overlong word may break, so that it is not cut off in print. */
void assay__html_breaking(struct assay__buf *out, const char *text);
/** A name from a file: isolated (<bdi>), cut in its middle beyond 160 characters. */
void assay__html_name(struct assay__buf *out, const char *name);
/** JSON made safe for <script type="application/json">: "<", ">", "&" and line separators are
 * escaped. White space between tokens is dropped. The value stays the same. */
void assay__html_json(struct assay__buf *out, const char *json, size_t length);
/** Base64 (RFC 4648) without line breaks. */
void assay__html_base64(struct assay__buf *out, const void *bytes, size_t size);

#endif
