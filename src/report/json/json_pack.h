/* json_pack.h - the same JSON in fewer bytes, for embedding in a page: a list of objects that all
 * have the same members becomes one object of columns.
 *
 *   [{"op":"Conv","us":3}, {"op":"Conv","us":4}, …]  ->
 * {"~rows":4,"op":{"~all":"Conv"},"us":[3,4,…]}
 *
 * A column is the shortest of
 *
 *   [v0, v1, …]                         one value per row
 *   {"~all": v}                         the same in every row
 *   {"~of": [a, b], "~at": [0, 0, 1]}   which of a few values
 *   {"~front": [0, "/a/b", 3, "c"]}     strings: how many characters of the one before, and the
 * rest
 *   {"~list": [2, 1], "~items": column} lists: their lengths, and their elements one after the
 * other
 *
 * Nothing is lost, including the order of members: page.js and tests/page_check.py unpack it. Keys
 * that begin with "~" do not occur in our JSON. */
#ifndef ASSAY_REPORT_JSON_JSON_PACK_H
#define ASSAY_REPORT_JSON_JSON_PACK_H

#include "base/buf.h"

/** Appends the packed form of JSON that our writer (base/json.h) wrote, without white space. Sets
 *  out->failed when memory runs out or the text is not JSON. */
void assay__json_pack(struct assay__buf *out, const char *json, size_t length);

#endif
