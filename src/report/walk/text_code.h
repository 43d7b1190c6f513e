/* text_code.h - a block of code in a page of text. */
#ifndef ASSAY_REPORT_WALK_TEXT_CODE_H
#define ASSAY_REPORT_WALK_TEXT_CODE_H

#include "report/doc/doc.h"
#include "report/walk/text_page.h"

/** The code, indented; lines that are too long are broken where the language allows it, so that
 * what is copied from the page still runs. */
void assay__text_code(struct assay__page *page, const struct assay__code *code);

#endif
