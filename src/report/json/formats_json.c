/* formats_json.c - the formats of a report and the figures of a profile, as JSON. */
#include "report/formats.h"

#include "report/json/json_members.h"
#include "report/figure/figure.h"

#include <stdio.h>
#include <string.h>

void assay__formats_json(struct assay__buf *out)
{
    const struct assay__format *format;
    const struct assay__figure_row *figure;
    struct assay__json_writer w;
    assay__json_start(&w, out, true);
    assay__json_object(&w);
    assay__json_put_array(&w, "formats");
    for (size_t i = 0; (format = assay__format_at(i)); i++) {
        assay__json_object(&w);
        assay__json_put_string(&w, "name", format->name);
        assay__json_put_array(&w, "extensions");
        for (const char *at = format->extensions; *at; at += strspn(at, " ")) {
            char word[16];
            int length = (int)strcspn(at, " ");
            snprintf(word, sizeof word, "%.*s", length, at);
            assay__json_string(&w, word);
            at += length;
        }
        assay__json_array_end(&w);
        assay__json_put_string(&w, "summary", format->summary);
        assay__json_object_end(&w);
    }
    assay__json_array_end(&w);
    assay__json_put_array(&w, "figures");
    for (size_t i = 0; (figure = assay__figure_row_at(i)); i++) {
        assay__json_record(&w, NULL, json_string("name", figure->name),
                           json_string("summary", figure->summary));
    }
    assay__json_array_end(&w);
    assay__json_tail(&w);
}
