/* nvtx.c - NVTX ranges. NVTX asks the library named in NVTX_INJECTION64_PATH to replace the empty
 * functions behind its calls, once for each module of the program that has NVTX compiled in. This
 * needs no CUPTI: ranges are recorded on the thread that marks them, and a range can start and stop
 * the recording at the very call. The interface is NVTX 3's (nvtxDetail/nvtxTypes.h); what is not
 * replaced stays empty.
 *
 * Calls return what they return without a tool, except handles and ids, which are ours. Registered
 * strings and domains live as long as the process. */
#include "cuda/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define NO_PUSH_POP_TRACKING (-2)
enum { TABLE_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE = 2, MESSAGE_REGISTERED = 3 };

typedef void function(void);
struct callbacks_table {
    size_t size;
    int (*functions_of)(int module, function ****table, unsigned *count);
};
typedef const void *get_table_fn(uint32_t id);

struct attributes { /* nvtxEventAttributes_v2 */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};
struct domain {
    uint64_t number;
};

/* --- text ------------------------------------------------------------------------------------- */

static size_t utf8_of(const wchar_t *wide, char *text, size_t room)
{
    size_t used = 0;
    for (; *wide && used + 4 < room; wide++) {
        uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            text[used++] = (char)c;
        } else if (c < 0x800) {
            text[used++] = (char)(0xc0 | c >> 6);
            text[used++] = (char)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            text[used++] = (char)(0xe0 | c >> 12);
            text[used++] = (char)(0x80 | (c >> 6 & 63));
            text[used++] = (char)(0x80 | (c & 63));
        } else {
            text[used++] = (char)(0xf0 | (c >> 18 & 7));
            text[used++] = (char)(0x80 | (c >> 12 & 63));
            text[used++] = (char)(0x80 | (c >> 6 & 63));
            text[used++] = (char)(0x80 | (c & 63));
        }
    }
    text[used] = '\0';
    return used;
}

/* The message of an event; `copy` has room for MARK_TEXT_BYTES + 1. */
static const char *message_of(const struct attributes *event, char *copy)
{
    if (!event || event->size < offsetof(struct attributes, message) + sizeof event->message ||
        !event->message)
        return "";
    if (event->message_type == MESSAGE_UNICODE) {
        utf8_of(event->message, copy, MARK_TEXT_BYTES + 1);
        return copy;
    }
    bool is_text = event->message_type == MESSAGE_ASCII ||
                   event->message_type == MESSAGE_REGISTERED;
    return is_text ? event->message : "";
}

/* --- the range that starts and stops ---------------------------------------------------------- */

static char *trigger_name;
static atomic_int triggers_open;
static atomic_uint_least64_t last_id;
static _Thread_local struct {
    bool open;
    uint64_t domain;
    unsigned depth; /* ranges that were pushed within */
} trigger __attribute__((tls_model("initial-exec")));

void nvtx_trigger(const char *range)
{
    free(trigger_name);
    trigger_name = range ? strdup(range) : NULL;
    atomic_store(&triggers_open, 0);
}

static bool triggers(const char *name)
{
    return trigger_name && session_options() && !strcmp(trigger_name, name);
}

static void trigger_begin(void)
{
    char why[WHY_BYTES];
    if (atomic_fetch_add(&triggers_open, 1) == 0) session_start(why, sizeof why);
}

static void trigger_end(void)
{
    if (atomic_fetch_sub(&triggers_open, 1) == 1) session_stop(NULL, 0);
}

/* --- ranges ----------------------------------------------------------------------------------- */

static void put(enum assay__cuda_mark_kind kind, uint64_t domain, uint64_t id, const char *name)
{
    if (!session_active() || !session_options()) return;
    struct handed handed = {.type = ASSAY__CUDA_MARK,
                            .mark = {.time_ns = cupti_now_ns(),
                                     .id = id,
                                     .domain = domain,
                                     .thread = thread_number(),
                                     .kind = kind}};
    marks_put(&handed, name, name ? strlen(name) : 0);
}

static int range_push(uint64_t domain, const char *name)
{
    if (trigger.open && trigger.domain == domain) {
        trigger.depth++;
    } else if (!trigger.open && triggers(name)) {
        trigger.open = true;
        trigger.domain = domain;
        trigger.depth = 0;
        trigger_begin();
    }
    put(ASSAY__CUDA_MARK_PUSH, domain, 0, name);
    return NO_PUSH_POP_TRACKING;
}

static int range_pop(uint64_t domain)
{
    put(ASSAY__CUDA_MARK_POP, domain, 0, NULL);
    if (trigger.open && trigger.domain == domain) {
        if (!trigger.depth) {
            trigger.open = false;
            trigger_end();
        } else {
            trigger.depth--;
        }
    }
    return NO_PUSH_POP_TRACKING;
}

/* The lowest bit of an id: it is a range that started the recording. */
static uint64_t range_start(uint64_t domain, const char *name)
{
    bool begins = triggers(name);
    uint64_t id = (atomic_fetch_add(&last_id, 1) + 1) << 1 | begins;
    if (begins) trigger_begin();
    put(ASSAY__CUDA_MARK_START, domain, id, name);
    return id;
}

static void range_end(uint64_t domain, uint64_t id)
{
    put(ASSAY__CUDA_MARK_END, domain, id, NULL);
    if (id & 1) trigger_end();
}

/* --- NVTX's functions ------------------------------------------------------------------------- */

#define COPY char copy[MARK_TEXT_BYTES + 1]
#define WIDE(text) (utf8_of(text, copy, sizeof copy), copy)

static uint64_t number_of(const struct domain *domain)
{
    return domain ? domain->number : 0;
}

static void mark_a(const char *text)
{
    put(ASSAY__CUDA_MARK_INSTANT, 0, 0, text);
}
static void mark_w(const wchar_t *text)
{
    COPY;
    put(ASSAY__CUDA_MARK_INSTANT, 0, 0, WIDE(text));
}
static void domain_mark_ex(const struct domain *domain, const struct attributes *event)
{
    COPY;
    put(ASSAY__CUDA_MARK_INSTANT, number_of(domain), 0, message_of(event, copy));
}
static void mark_ex(const struct attributes *event)
{
    domain_mark_ex(NULL, event);
}
static int push_a(const char *text)
{
    return range_push(0, text ? text : "");
}
static int push_w(const wchar_t *text)
{
    COPY;
    return range_push(0, WIDE(text));
}
static int domain_push_ex(const struct domain *domain, const struct attributes *event)
{
    COPY;
    return range_push(number_of(domain), message_of(event, copy));
}
static int push_ex(const struct attributes *event)
{
    return domain_push_ex(NULL, event);
}
static int domain_pop(const struct domain *domain)
{
    return range_pop(number_of(domain));
}
static int pop(void)
{
    return range_pop(0);
}
static uint64_t start_a(const char *text)
{
    return range_start(0, text ? text : "");
}
static uint64_t start_w(const wchar_t *text)
{
    COPY;
    return range_start(0, WIDE(text));
}
static uint64_t domain_start_ex(const struct domain *domain, const struct attributes *event)
{
    COPY;
    return range_start(number_of(domain), message_of(event, copy));
}
static uint64_t start_ex(const struct attributes *event)
{
    return domain_start_ex(NULL, event);
}
static void domain_end(const struct domain *domain, uint64_t id)
{
    range_end(number_of(domain), id);
}
static void end(uint64_t id)
{
    range_end(0, id);
}
static void *register_string_a(const struct domain *domain, const char *text)
{
    (void)domain;
    return strdup(text ? text : "");
}
static void *register_string_w(const struct domain *domain, const wchar_t *text)
{
    COPY;
    return register_string_a(domain, WIDE(text));
}
static void *domain_create(void)
{
    static atomic_uint_least64_t count;
    struct domain *domain = malloc(sizeof *domain);
    if (domain) domain->number = atomic_fetch_add(&count, 1) + 1;
    return domain;
}
static void *domain_create_a(const char *name)
{
    (void)name;
    return domain_create();
}
static void *domain_create_w(const wchar_t *name)
{
    (void)name;
    return domain_create();
}

/* Places in NVTX's tables (NvtxCallbackIdCore, NvtxCallbackIdCore2). */
static const struct {
    int module;
    unsigned place;
    function *replacement;
} replacements[] = {
    {MODULE_CORE, 1, (function *)mark_ex},
    {MODULE_CORE, 2, (function *)mark_a},
    {MODULE_CORE, 3, (function *)mark_w},
    {MODULE_CORE, 4, (function *)start_ex},
    {MODULE_CORE, 5, (function *)start_a},
    {MODULE_CORE, 6, (function *)start_w},
    {MODULE_CORE, 7, (function *)end},
    {MODULE_CORE, 8, (function *)push_ex},
    {MODULE_CORE, 9, (function *)push_a},
    {MODULE_CORE, 10, (function *)push_w},
    {MODULE_CORE, 11, (function *)pop},
    {MODULE_CORE2, 1, (function *)domain_mark_ex},
    {MODULE_CORE2, 2, (function *)domain_start_ex},
    {MODULE_CORE2, 3, (function *)domain_end},
    {MODULE_CORE2, 4, (function *)domain_push_ex},
    {MODULE_CORE2, 5, (function *)domain_pop},
    {MODULE_CORE2, 10, (function *)register_string_a},
    {MODULE_CORE2, 11, (function *)register_string_w},
    {MODULE_CORE2, 12, (function *)domain_create_a},
    {MODULE_CORE2, 13, (function *)domain_create_w},
};

int InitializeInjectionNvtx2(get_table_fn *get_table);

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(get_table_fn *get_table)
{
    const struct callbacks_table *callbacks = get_table ? get_table(TABLE_CALLBACKS) : NULL;
    if (!callbacks || callbacks->size < sizeof *callbacks) return 0;
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++) {
        function ***table = NULL;
        unsigned count = 0;
        if (!callbacks->functions_of(replacements[i].module, &table, &count) || !table) continue;
        if (replacements[i].place < count && table[replacements[i].place])
            *table[replacements[i].place] = replacements[i].replacement;
    }
    return 1;
}
