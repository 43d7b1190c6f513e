/* xctrace_values.c - elements become values when they end: children are put into the parent, which
 * is why a reference can never lead back to what contains it.
 *
 * Ids are given out in order, so that values lie in an array. An id far beyond those before it is
 * rejected: a small file must not take much memory. The first definition of an id counts. */
#include "import/xctrace_values.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TYPES 4096
#define MOST_TEXT 4096      /* bytes of a text that is kept */
#define MOST_FRAMES 4096    /* of one stack */
#define ID_SLACK (1u << 20) /* how far beyond the ids that were defined an id may lie */
#define DEPTH ASSAY__XML_DEPTH

/* An element that is open. */
struct part {
    enum assay__xctrace_role role;
    uint16_t type;
    int64_t id; /* -1: none */
    bool has_number, has_text, is_broken;
    int64_t number;
    uint32_t text;
    struct assay__xctrace_owner owner;
    size_t first_frame;
    uint32_t stack, leaf; /* of an inner stack; number: the address that was executed */
};

static void fault(struct assay__xctrace_values *values, const char *reason)
{
    values->faults++;
    if (!values->complaint) values->complaint = reason;
}

void assay__xctrace_values_free(struct assay__xctrace_values *values)
{
    free(values->values);
    free(values->owners);
    free(values->types);
    free(values->frames);
    assay__buf_free(&values->text);
}

void assay__xctrace_values_reset(struct assay__xctrace_values *values)
{
    if (values->count) memset(values->values, 0, values->count * sizeof *values->values);
    values->count = values->owner_count = values->owner_kept = 0;
    values->defined = 0;
}

/* --- types ------------------------------------------------------------------------------------ */

static enum assay__xctrace_role role_of(const char *name)
{
    static const struct {
        const char *name;
        enum assay__xctrace_role role;
    } roles[] = {
        {"start-time", ASSAY__XCTRACE_IS_NUMBER},
        {"sample-time", ASSAY__XCTRACE_IS_NUMBER},
        {"event-time", ASSAY__XCTRACE_IS_NUMBER},
        {"duration", ASSAY__XCTRACE_IS_NUMBER},
        {"weight", ASSAY__XCTRACE_IS_NUMBER},
        {"pid", ASSAY__XCTRACE_IS_NUMBER},
        {"tid", ASSAY__XCTRACE_IS_NUMBER},
        {"formatted-label", ASSAY__XCTRACE_IS_LABEL},
        {"narrative", ASSAY__XCTRACE_IS_LABEL},
        {"process", ASSAY__XCTRACE_IS_PROCESS},
        {"thread", ASSAY__XCTRACE_IS_THREAD},
        {"frame", ASSAY__XCTRACE_IS_FRAME},
        {"backtrace", ASSAY__XCTRACE_IS_STACK},
        {"tagged-backtrace", ASSAY__XCTRACE_IS_STACK},
        {"text-backtrace", ASSAY__XCTRACE_IS_STACK},
        {"kperf-bt", ASSAY__XCTRACE_IS_STACK},
        {"text-addresses", ASSAY__XCTRACE_IS_ADDRESSES},
        {"gpu-channel-name", ASSAY__XCTRACE_IS_TEXT},
        {"gpu-state", ASSAY__XCTRACE_IS_TEXT},
        {"metal-device-name", ASSAY__XCTRACE_IS_TEXT},
        {"metal-object-label", ASSAY__XCTRACE_IS_TEXT},
        {"metal-event-name", ASSAY__XCTRACE_IS_TEXT},
        {"thread-state", ASSAY__XCTRACE_IS_TEXT},
        {"signpost-name", ASSAY__XCTRACE_IS_TEXT},
        {"subsystem", ASSAY__XCTRACE_IS_TEXT},
        {"category", ASSAY__XCTRACE_IS_TEXT},
        {"ane-event-name", ASSAY__XCTRACE_IS_TEXT},
        {"mps-event-name", ASSAY__XCTRACE_IS_TEXT},
        {"coreml-model-name", ASSAY__XCTRACE_IS_TEXT},
        {"coreml-model-event", ASSAY__XCTRACE_IS_TEXT},
    };
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strcmp(name, roles[i].name) == 0) return roles[i].role;
    return ASSAY__XCTRACE_ANY;
}

static uint16_t add_type(struct assay__xctrace_values *values, struct assay__xml_text name)
{
    struct assay__xctrace_type type = {.role = ASSAY__XCTRACE_ANY};
    if (values->type_count == MOST_TYPES) return UINT16_MAX;
    size_t number = values->type_count ? values->type_count : 1;
    if (assay__vec_grow((void **)&values->types, &values->type_capacity, number + 1,
                        sizeof *values->types)) {
        values->failed = true;
        return UINT16_MAX;
    }
    memcpy(type.name, name.at, name.length);
    type.role = role_of(type.name);
    values->types[number] = type;
    values->type_count = number + 1;
    return (uint16_t)number;
}

uint16_t assay__xctrace_type(struct assay__xctrace_values *values, struct assay__xml_text name,
                             uint32_t hash)
{
    size_t slot = hash % (sizeof values->type_index / sizeof values->type_index[0]);
    size_t known = values->type_index[slot], i;
    if (name.length >= sizeof values->types->name) name.length = sizeof values->types->name - 1;
    if (hash && known && assay__xml_is(name, values->types[known].name)) return (uint16_t)known;
    for (i = 1; i < values->type_count; i++)
        if (assay__xml_is(name, values->types[i].name)) break;
    uint16_t number = i < values->type_count ? (uint16_t)i : add_type(values, name);
    if (hash && number != UINT16_MAX) values->type_index[slot] = number;
    return number;
}

/* --- ids -------------------------------------------------------------------------------------- */

bool assay__xctrace_integer(struct assay__xml_text text, int64_t *number)
{
    bool is_negative = text.length && text.at[0] == '-';
    int64_t value = 0;
    if (text.length == is_negative) return false;
    for (size_t i = is_negative; i < text.length; i++) {
        int digit = text.at[i] - '0';
        if (digit < 0 || digit > 9) return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            (is_negative ? __builtin_sub_overflow(value, digit, &value)
                         : __builtin_add_overflow(value, digit, &value)))
            return false;
    }
    *number = value;
    return true;
}

static void define(struct assay__xctrace_values *values, int64_t id,
                   const struct assay__xctrace_value *value)
{
    if ((uint64_t)id > 2 * values->defined + ID_SLACK) {
        fault(values, "an id that is far beyond those before it");
        return;
    }
    size_t at = (size_t)id;
    if (at < values->count && values->values[at].type) {
        fault(values, "an id that is defined twice");
        return;
    }
    if (assay__vec_grow((void **)&values->values, &values->capacity, at + 1,
                        sizeof *values->values)) {
        values->failed = true;
        return;
    }
    values->values[at] = *value;
    if (values->count <= at) values->count = at + 1;
    values->defined++;
}

static struct assay__xctrace_value look_up(struct assay__xctrace_values *values, int64_t id,
                                           uint16_t type)
{
    struct assay__xctrace_value none = {.type = type};
    if (id < 0 || (uint64_t)id >= values->count || !values->values[id].type) {
        fault(values, "a reference to an id that was not defined");
        return none;
    }
    if (values->values[id].type != type) {
        fault(values, "a reference to an element of another type");
        return none;
    }
    return values->values[id];
}

/* --- texts ------------------------------------------------------------------------------------ */

/* "GPU Execution      ( app (181) )  0x47e7a1bb" -> "GPU Execution": the number of the execution
 * and the process, which has a column of its own, would make every name another. */
static size_t label_length(const char *text, size_t length)
{
    size_t end = length;
    while (end && strchr("0123456789abcdefABCDEF", text[end - 1]))
        end--;
    bool is_number = end >= 3 && end < length && memcmp(text + end - 2, "0x", 2) == 0 &&
                     text[end - 3] == ' ';
    if (is_number) length = end - 3;
    while (length && text[length - 1] == ' ')
        length--;
    const char *open = length && text[length - 1] == ')' ? memmem(text, length, " ( ", 3) : NULL;
    if (open) length = (size_t)(open - text);
    while (length && text[length - 1] == ' ')
        length--;
    return length;
}

static uint32_t intern(struct assay__xctrace_values *values, struct assay__xml_text raw, bool plain,
                       bool is_label)
{
    const char *text = raw.at;
    size_t length = raw.length;
    if (!plain && length && memchr(raw.at, '&', raw.length)) {
        assay__buf_clear(&values->text);
        assay__xml_decode(&values->text, raw);
        text = assay__buf_text(&values->text);
        length = values->text.length;
        values->failed |= values->text.failed;
    }
    if (length > MOST_TEXT) length = MOST_TEXT;
    while (length && (unsigned char)text[length - 1] <= ' ')
        length--;
    if (is_label && length) length = label_length(text, length);
    return assay__events_intern(values->events, length ? text : "", length);
}

static uint32_t intern_address(struct assay__xctrace_values *values, int64_t address)
{
    char name[24];
    int length = snprintf(name, sizeof name, "0x%llx", (unsigned long long)address);
    return assay__events_intern(values->events, name, (size_t)length);
}

static struct assay__xml_text text_of(const struct assay__xctrace_values *values, uint32_t number)
{
    const char *text = assay__events_text(values->events, number);
    return (struct assay__xml_text){text, strlen(text)};
}

/* The number after a mark, as in "app (181)" or "…, pid: 7)": -1 if there is none. */
static int64_t number_behind(const char *text, const char *mark, int base)
{
    const char *at = NULL;
    for (const char *next = text; (next = strstr(next, mark)); next++)
        at = next + strlen(mark);
    if (!at || !strchr(base == 16 ? "0123456789abcdefABCDEF" : "0123456789", *at) || !*at)
        return -1;
    char *end;
    long long number = strtoll(at, &end, base);
    return number < INT64_MAX ? number : -1;
}

/* --- owners ----------------------------------------------------------------------------------- */

static void finish_process(struct assay__xctrace_values *values, struct part *part)
{
    const char *text = assay__events_text(values->events, part->text);
    if (part->owner.pid < 0 && part->has_number) part->owner.pid = part->number;
    if (part->owner.pid < 0 && part->has_text) part->owner.pid = number_behind(text, "(", 10);
    part->owner.process = part->has_text ? part->text : ASSAY__EVENT_UNKNOWN;
    part->owner.name = ASSAY__EVENT_UNKNOWN;
}

static void finish_thread(struct assay__xctrace_values *values, struct part *part)
{
    const char *text = assay__events_text(values->events, part->text);
    if (part->owner.tid < 0 && part->has_text) part->owner.tid = number_behind(text, "0x", 16);
    if (part->owner.pid < 0 && part->has_text) part->owner.pid = number_behind(text, "pid: ", 10);
    part->owner.name = part->has_text ? part->text : ASSAY__EVENT_UNKNOWN;
}

static struct assay__xctrace_value add_owner(struct assay__xctrace_values *values,
                                             const struct part *part)
{
    struct assay__xctrace_value value = {.type = part->type};
    size_t number = values->owner_count;
    if (assay__vec_grow((void **)&values->owners, &values->owner_capacity, number + 1,
                        sizeof *values->owners)) {
        values->failed = true;
        return value;
    }
    values->owners[number] = part->owner;
    values->owner_count++;
    value.kind = ASSAY__XCTRACE_OWNER;
    value.text = part->text;
    value.other = (uint32_t)number;
    return value;
}

const struct assay__xctrace_owner *assay__xctrace_owner(const struct assay__xctrace_values *values,
                                                        const struct assay__xctrace_value *value)
{
    return value->kind == ASSAY__XCTRACE_OWNER ? &values->owners[value->other] : NULL;
}

/* --- stacks ----------------------------------------------------------------------------------- */

static void add_frame(struct assay__xctrace_values *values, const struct part *part, uint32_t name)
{
    if (values->frame_count - part->first_frame >= MOST_FRAMES) return;
    if (assay__vec_grow((void **)&values->frames, &values->frame_capacity, values->frame_count + 1,
                        sizeof *values->frames)) {
        values->failed = true;
        return;
    }
    values->frames[values->frame_count++] = name;
}

/* Addresses of an unnamed stack, innermost first, as frames of the element around it. */
static void add_addresses(struct assay__xctrace_values *values, struct part *part,
                          struct assay__xml_text text)
{
    const char *end = text.at + text.length;
    while (text.at < end) {
        int64_t address;
        const char *blank = memchr(text.at, ' ', (size_t)(end - text.at));
        if (!blank) blank = end;
        struct assay__xml_text word = {text.at, (size_t)(blank - text.at)};
        if (assay__xctrace_integer(word, &address))
            add_frame(values, part, intern_address(values, address));
        text.at = blank == end ? end : blank + 1;
    }
}

/* Where the thread was is not always the first of its addresses: it is the innermost frame. */
static void add_executed(struct assay__xctrace_values *values, struct part *part)
{
    uint32_t executed = intern_address(values, part->number);
    struct assay__buf *text = &values->text;
    if (part->leaf == executed) return;
    assay__buf_clear(text);
    if (part->stack != ASSAY__EVENT_UNKNOWN) {
        assay__buf_puts(text, assay__events_text(values->events, part->stack));
        assay__buf_putc(text, ';');
    }
    assay__buf_puts(text, assay__events_text(values->events, executed));
    values->failed |= text->failed;
    part->stack = assay__events_intern(values->events, assay__buf_text(text), text->length);
    part->leaf = executed;
}

/* "outermost;…;innermost" of the frames since first_frame, which are innermost first. A ";" within
 * a name would be taken for two frames. */
static struct assay__xctrace_value fold(struct assay__xctrace_values *values,
                                        const struct part *part)
{
    struct assay__xctrace_value value = {.type = part->type, .kind = ASSAY__XCTRACE_STACK};
    size_t count = values->frame_count - part->first_frame;
    value.text = part->stack;
    value.other = part->leaf;
    if (count) {
        struct assay__buf *text = &values->text;
        assay__buf_clear(text);
        for (size_t i = values->frame_count; i-- > part->first_frame;) {
            struct assay__xml_text name = text_of(values, values->frames[i]);
            if (text->length) assay__buf_putc(text, ';');
            for (size_t k = 0; k < name.length; k++)
                assay__buf_putc(text, name.at[k] == ';' ? ',' : name.at[k]);
        }
        values->failed |= text->failed;
        value.text = assay__events_intern(values->events, assay__buf_text(text), text->length);
        value.other = values->frames[part->first_frame];
    } else if (part->stack == ASSAY__EVENT_UNKNOWN) {
        value.kind = ASSAY__XCTRACE_UNKNOWN;
    }
    values->frame_count = part->first_frame;
    return value;
}

/* --- elements --------------------------------------------------------------------------------- */

/* What the element's own tag says. */
static struct part begin_part(struct assay__xctrace_values *values, const struct assay__xml *xml,
                              enum assay__xctrace_role wanted, bool *is_reference)
{
    struct part part = {.id = -1,
                        .owner = {-1, -1, ASSAY__EVENT_UNKNOWN, ASSAY__EVENT_UNKNOWN},
                        .text = ASSAY__EVENT_UNKNOWN,
                        .stack = ASSAY__EVENT_UNKNOWN,
                        .leaf = ASSAY__EVENT_UNKNOWN,
                        .first_frame = values->frame_count};
    struct assay__xml_text ref = assay__xml_attribute(xml, "ref"), id, fmt;
    part.type = assay__xctrace_type(values, xml->name, xml->open[xml->depth - 1]);
    part.role = part.type < values->type_count ? values->types[part.type].role : wanted;
    if (part.role == ASSAY__XCTRACE_ANY) part.role = wanted;
    *is_reference = ref.at != NULL;
    if (*is_reference) {
        if (!assay__xctrace_integer(ref, &part.id)) part.id = -1;
        return part;
    }
    id = assay__xml_attribute(xml, "id");
    if (id.at && (!assay__xctrace_integer(id, &part.id) || part.id < 0)) {
        fault(values, "an id that is not a number");
        part.id = -1;
    }
    fmt = assay__xml_attribute(xml, part.role == ASSAY__XCTRACE_IS_FRAME ? "name" : "fmt");
    if (part.role == ASSAY__XCTRACE_IS_FRAME && !fmt.length)
        fmt = assay__xml_attribute(xml, "addr");
    bool is_text = part.role != ASSAY__XCTRACE_ANY && part.role != ASSAY__XCTRACE_IS_NUMBER &&
                   part.role != ASSAY__XCTRACE_IS_STACK && part.role != ASSAY__XCTRACE_IS_ADDRESSES;
    if (fmt.at && is_text) {
        part.text = intern(values, fmt, false, part.role == ASSAY__XCTRACE_IS_LABEL);
        part.has_text = true;
    }
    return part;
}

static void take_text(struct assay__xctrace_values *values, struct part *part,
                      const struct assay__xml *xml)
{
    struct assay__xml_text text = xml->text;
    while (text.length && (unsigned char)text.at[text.length - 1] <= ' ')
        text.length--;
    switch (part->role) {
    case ASSAY__XCTRACE_IS_TEXT:
    case ASSAY__XCTRACE_IS_LABEL:
        if (part->has_text) return;
        part->text = intern(values, text, xml->plain, part->role == ASSAY__XCTRACE_IS_LABEL);
        part->has_text = true;
        return;
    case ASSAY__XCTRACE_IS_ADDRESSES: add_addresses(values, part, text); return;
    case ASSAY__XCTRACE_IS_FRAME:
    case ASSAY__XCTRACE_IS_STACK: return;
    default:
        if (part->has_number || part->is_broken) return;
        part->has_number = assay__xctrace_integer(text, &part->number);
        part->is_broken = !part->has_number;
    }
}

/* A child that ended. */
static void take_child(struct assay__xctrace_values *values, struct part *part,
                       const struct part *child, const struct assay__xctrace_value *value)
{
    if (part->role != ASSAY__XCTRACE_IS_STACK && part->role != ASSAY__XCTRACE_IS_PROCESS &&
        part->role != ASSAY__XCTRACE_IS_THREAD)
        return;
    const struct assay__xctrace_owner *owner = assay__xctrace_owner(values, value);
    const char *type = child->type < values->type_count ? values->types[child->type].name : "";
    if (part->role == ASSAY__XCTRACE_IS_STACK) {
        if (child->role == ASSAY__XCTRACE_IS_FRAME && value->kind == ASSAY__XCTRACE_TEXT)
            add_frame(values, part, value->text);
        if (value->kind == ASSAY__XCTRACE_STACK && part->stack == ASSAY__EVENT_UNKNOWN) {
            part->stack = value->text;
            part->leaf = value->other;
        }
        if (value->kind == ASSAY__XCTRACE_NUMBER && strcmp(type, "text-address") == 0) {
            part->number = value->number;
            part->has_number = true;
        }
        return;
    }
    if (value->kind == ASSAY__XCTRACE_NUMBER && strcmp(type, "pid") == 0)
        part->owner.pid = value->number;
    if (value->kind == ASSAY__XCTRACE_NUMBER && strcmp(type, "tid") == 0)
        part->owner.tid = value->number;
    if (owner && child->role == ASSAY__XCTRACE_IS_PROCESS) {
        part->owner.pid = owner->pid;
        part->owner.process = owner->process;
    }
}

static struct assay__xctrace_value end_part(struct assay__xctrace_values *values, struct part *part)
{
    struct assay__xctrace_value value = {.type = part->type};
    switch (part->role) {
    case ASSAY__XCTRACE_IS_STACK:
        if (part->has_number) add_executed(values, part);
        value = fold(values, part);
        break;
    case ASSAY__XCTRACE_IS_ADDRESSES: value = fold(values, part); break;
    case ASSAY__XCTRACE_IS_PROCESS:
        finish_process(values, part);
        value = add_owner(values, part);
        break;
    case ASSAY__XCTRACE_IS_THREAD:
        finish_thread(values, part);
        value = add_owner(values, part);
        break;
    default:
        if (part->has_text) {
            value.kind = ASSAY__XCTRACE_TEXT;
            value.text = part->text;
        } else if (part->has_number) {
            value.kind = ASSAY__XCTRACE_NUMBER;
            value.number = part->number;
        }
        if (part->is_broken && part->role == ASSAY__XCTRACE_IS_NUMBER)
            fault(values, "a value that is not a number, or too large");
    }
    if (part->id >= 0) {
        define(values, part->id, &value);
        values->owner_kept = values->owner_count;
    }
    return value;
}

struct assay__xctrace_value assay__xctrace_read(struct assay__xctrace_values *values,
                                                struct assay__xml *xml,
                                                enum assay__xctrace_role wanted)
{
    struct part open[DEPTH];
    struct assay__xctrace_value value = {0};
    bool is_reference;
    size_t depth = 0, outside = xml->depth - 1;
    enum assay__xml_kind kind = ASSAY__XML_BEGIN;
    do {
        if (kind == ASSAY__XML_BEGIN) {
            struct part part = begin_part(values, xml, depth ? ASSAY__XCTRACE_ANY : wanted,
                                          &is_reference);
            if (is_reference) {
                value = look_up(values, part.id, part.type);
                assay__xml_skip(xml);
                if (depth) take_child(values, &open[depth - 1], &part, &value);
            } else {
                open[depth++] = part;
            }
        } else if (kind == ASSAY__XML_TEXT && depth) {
            take_text(values, &open[depth - 1], xml);
        } else if (kind == ASSAY__XML_END && depth) {
            value = end_part(values, &open[--depth]);
            if (depth) take_child(values, &open[depth - 1], &open[depth], &value);
        }
    } while (xml->depth > outside && (kind = assay__xml_next(xml)) != ASSAY__XML_NOTHING);
    if (depth) { /* the text ended within it */
        values->frame_count = open[0].first_frame;
        return (struct assay__xctrace_value){.type = open[0].type};
    }
    return value;
}
