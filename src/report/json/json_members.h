/* json_members.h - how all our JSON documents begin and end, and objects as lists of their members:
 *
 *   assay__json_record(w, "peak", json_string("node", p->node), json_number("bytes", p->bytes));
 */
#ifndef ASSAY_REPORT_JSON_JSON_MEMBERS_H
#define ASSAY_REPORT_JSON_JSON_MEMBERS_H

#include "base/json.h"

/** Opens the object that is the whole document, with its first members: "assay": {"version",
 * "schema"} of this program, and "command" (NULL: none). */
void assay__json_head(struct assay__json_writer *w, struct assay__buf *out, const char *command);
/** The same for what another version measured, without the command. */
void assay__json_head_of(struct assay__json_writer *w, struct assay__buf *out, const char *version,
                         int schema);
/** Closes it and ends the line. */
void assay__json_tail(struct assay__json_writer *w);

struct assay__json_member {
    const char *key;
    enum {
        ASSAY__MEMBER_STRING,
        ASSAY__MEMBER_NUMBER,
        ASSAY__MEMBER_INTEGER,
        ASSAY__MEMBER_BOOL
    } kind;
    const char *text;       /* NULL: null */
    double number;          /* not finite: null */
    int64_t integer, least; /* below least: null */
};

static inline struct assay__json_member json_string(const char *key, const char *text)
{
    return (struct assay__json_member){.key = key, .kind = ASSAY__MEMBER_STRING, .text = text};
}

/** "" is null too. */
static inline struct assay__json_member json_text(const char *key, const char *text)
{
    return json_string(key, text && *text ? text : NULL);
}

static inline struct assay__json_member json_null(const char *key)
{
    return json_string(key, NULL);
}

static inline struct assay__json_member json_number(const char *key, double number)
{
    return (struct assay__json_member){.key = key, .kind = ASSAY__MEMBER_NUMBER, .number = number};
}

/** Not known below `least`: null. */
static inline struct assay__json_member json_count(const char *key, int64_t count, int64_t least)
{
    return (struct assay__json_member){
        .key = key, .kind = ASSAY__MEMBER_INTEGER, .integer = count, .least = least};
}

static inline struct assay__json_member json_integer(const char *key, int64_t integer)
{
    return json_count(key, integer, INT64_MIN);
}

static inline struct assay__json_member json_bool(const char *key, bool is)
{
    return (struct assay__json_member){.key = key, .kind = ASSAY__MEMBER_BOOL, .integer = is};
}

/** Member "assumed": the sizes that neither a file nor an option specified; absent if there are
 * none (NULL or ""). */
void assay__json_assumed(struct assay__json_writer *w, const char *assumed);

/** With that many digits, if more would be meaningless and there may be many numbers: 4 for a
 * position in a picture. */
double assay__json_rounded(double value, int digits);

void assay__json_add_members(struct assay__json_writer *w, const struct assay__json_member *members,
                             size_t count);
/** An object with these members: a member itself, or (key NULL) an element of the open array. */
void assay__json_add_record(struct assay__json_writer *w, const char *key,
                            const struct assay__json_member *members, size_t count);

#define ASSAY__JSON_LIST(...)                                      \
    (const struct assay__json_member[]){__VA_ARGS__},              \
        sizeof((const struct assay__json_member[]){__VA_ARGS__}) / \
            sizeof(struct assay__json_member)
#define assay__json_members(w, ...) assay__json_add_members(w, ASSAY__JSON_LIST(__VA_ARGS__))
#define assay__json_record(w, key, ...) \
    assay__json_add_record(w, key, ASSAY__JSON_LIST(__VA_ARGS__))

/** The head of a loop that writes an array, which it opens and closes itself:
 *
 *    for (ASSAY__JSON_EACH(i, w, "ids", count))
 *        assay__json_integer(w, ids[i]);
 *
 *  key NULL: an element of the open array. A `break` would leave the array open. */
#define ASSAY__JSON_EACH(i, w, key, count)     \
    size_t i = assay__json_open_list(w, key);  \
    assay__json_continue_list(w, i < (count)); \
    i++

/** 0, the first index. */
size_t assay__json_open_list(struct assay__json_writer *w, const char *key);
/** Closes the array when there are no more elements; returns `more`. */
bool assay__json_continue_list(struct assay__json_writer *w, bool more);

#endif
