/* json_members.c - see json_members.h. */
#include "report/json/json_members.h"

#include <assay/api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void assay__json_head_of(struct assay__json_writer *w, struct assay__buf *out, const char *version,
                         int schema)
{
    assay__json_start(w, out, true);
    assay__json_object(w);
    assay__json_record(w, "assay", json_string("version", version), json_integer("schema", schema));
}

void assay__json_head(struct assay__json_writer *w, struct assay__buf *out, const char *command)
{
    assay__json_head_of(w, out, assay_version(), ASSAY_SCHEMA_VERSION);
    if (command) assay__json_put_string(w, "command", command);
}

void assay__json_tail(struct assay__json_writer *w)
{
    assay__json_object_end(w);
    assay__buf_putc(w->out, '\n');
}

void assay__json_assumed(struct assay__json_writer *w, const char *assumed)
{
    if (assumed && *assumed) assay__json_put_strings(w, "assumed", &assumed, 1);
}

double assay__json_rounded(double value, int digits)
{
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return isfinite(value) ? strtod(text, NULL) : value;
}

void assay__json_add_members(struct assay__json_writer *w, const struct assay__json_member *members,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct assay__json_member *m = &members[i];
        switch (m->kind) {
        case ASSAY__MEMBER_STRING: assay__json_put_string(w, m->key, m->text); break;
        case ASSAY__MEMBER_NUMBER: assay__json_put_number(w, m->key, m->number); break;
        case ASSAY__MEMBER_INTEGER: assay__json_put_count(w, m->key, m->integer, m->least); break;
        case ASSAY__MEMBER_BOOL: assay__json_put_bool(w, m->key, m->integer); break;
        }
    }
}

void assay__json_add_record(struct assay__json_writer *w, const char *key,
                            const struct assay__json_member *members, size_t count)
{
    if (key) assay__json_key(w, key);
    assay__json_object(w);
    assay__json_add_members(w, members, count);
    assay__json_object_end(w);
}

size_t assay__json_open_list(struct assay__json_writer *w, const char *key)
{
    if (key) assay__json_key(w, key);
    assay__json_array(w);
    return 0;
}

bool assay__json_continue_list(struct assay__json_writer *w, bool more)
{
    if (!more) assay__json_array_end(w);
    return more;
}
