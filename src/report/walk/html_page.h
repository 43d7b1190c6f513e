/* html_page.h - the page around a document's blocks: one file that needs no network. Its style
 * sheet and script are inline and allowed by their hashes (Content-Security-Policy); nothing else
 * is. So no `style=` attribute and no `onclick=` may ever be written: a browser refuses them. Use
 * classes of html/page.css, and attributes of SVG (fill, width).
 *
 * Errors stick in the buffers; assay__html_document passes them on to out->failed. */
#ifndef ASSAY_REPORT_WALK_HTML_PAGE_H
#define ASSAY_REPORT_WALK_HTML_PAGE_H

#include "report/doc/doc.h"
#include "report/walk/html_text.h"

/** A tab in the making. */
struct assay__html_tab {
    struct assay__buf first, body; /* sections that come first, the others */
};

struct assay__html {
    struct assay__html_tab tabs[ASSAY__TAB_COUNT]; /* [0]: never used */
    struct assay__buf *body;                       /* of the current one */
    const char *heading; /* the heading above the current position; NULL: none */
    unsigned tips;       /* ids given so far */
    bool zoom;           /* a figure can be zoomed: the page carries uPlot */
    bool has_strip;      /* of the trial that the page is about, the first */
    bool has_timeline;   /* its script is in the page */
    int trial;           /* id of the trial whose figures are drawn; -1 none */
};

/** "Overview"; its id is "tab-overview". */
const char *assay__html_tab_title(enum assay__tab tab);
/** One figure as a <figure>: drawn wide and narrow, of which the style sheet shows one. */
void assay__html_draw(struct assay__html *page, const struct assay__figure *figure);
/** Whether the build has uPlot. */
bool assay__html_can_zoom(void);
/** The whole page around the tabs, which are freed. header: what is above them; data: from
 * assay__html_data. */
void assay__html_document(struct assay__html *page, const struct assay__doc *doc,
                          const struct assay__buf *header, const struct assay__buf *data,
                          struct assay__buf *out);
/** Data for the page's script and for downloads: <script type="application/zlib" id=…>, or
 * application/json what is read in pieces. */
void assay__html_data(struct assay__buf *out, const struct assay__attachment *data);

#endif
