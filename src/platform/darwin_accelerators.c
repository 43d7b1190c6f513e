/* darwin_accelerators.c - GPUs and the Neural Engine of a Mac from IOKit's registry. The frameworks
 * are opened at run time and the few calls are declared here, so that building does not need them.
 * GPUs are services of class IOAccelerator, with "model" and "gpu-core-count" on Apple silicon; the
 * Neural Engine is a service of class H11ANEIn (M1 and later).
 *
 * Limits: on an Intel Mac the model of a card is stored at its parent, in another form: the card is
 * listed without a name. */
#include "platform/accelerators.h"

#include "platform/platform.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UTF8 0x08000100u /* kCFStringEncodingUTF8 */
#define INT32 3          /* kCFNumberSInt32Type */
#define FRAMEWORKS "/System/Library/Frameworks/"

/* References are opaque pointers, services and iterators are port names. */
struct calls {
    void *(*matching)(const char *name);                                /* IOServiceMatching */
    int (*services)(uint32_t port, void *matching, uint32_t *iterator); /* takes `matching` */
    uint32_t (*next)(uint32_t iterator);
    void *(*property)(uint32_t entry, const void *key, const void *allocator, uint32_t options);
    int (*class_of)(uint32_t entry, char *name); /* io_name_t: 128 bytes */
    int (*release)(uint32_t object);
    const void *(*string)(const void *allocator, const char *text, uint32_t encoding);
    unsigned char (*text)(const void *string, char *out, long size, uint32_t encoding);
    unsigned char (*number)(const void *number, long type, void *out);
    unsigned long (*type_of)(const void *reference);
    unsigned long (*string_type)(void);
    unsigned long (*number_type)(void);
    void (*drop)(const void *reference);
};

static const struct {
    size_t offset;
    const char *name;
    bool foundation; /* of CoreFoundation; else of IOKit */
} symbols[] = {
    {offsetof(struct calls, matching), "IOServiceMatching", false},
    {offsetof(struct calls, services), "IOServiceGetMatchingServices", false},
    {offsetof(struct calls, next), "IOIteratorNext", false},
    {offsetof(struct calls, property), "IORegistryEntryCreateCFProperty", false},
    {offsetof(struct calls, class_of), "IOObjectGetClass", false},
    {offsetof(struct calls, release), "IOObjectRelease", false},
    {offsetof(struct calls, string), "CFStringCreateWithCString", true},
    {offsetof(struct calls, text), "CFStringGetCString", true},
    {offsetof(struct calls, number), "CFNumberGetValue", true},
    {offsetof(struct calls, type_of), "CFGetTypeID", true},
    {offsetof(struct calls, string_type), "CFStringGetTypeID", true},
    {offsetof(struct calls, number_type), "CFNumberGetTypeID", true},
    {offsetof(struct calls, drop), "CFRelease", true},
};

static bool load(struct calls *calls, void *iokit, void *foundation)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = assay__library_symbol(symbols[i].foundation ? foundation : iokit,
                                             symbols[i].name);
        if (!symbol) return false;
        memcpy((char *)calls + symbols[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

/* A property of an entry; NULL: it has none. The caller releases it. */
static void *property_of(const struct calls *calls, uint32_t entry, const char *name)
{
    const void *key = calls->string(NULL, name, UTF8);
    void *value = key ? calls->property(entry, key, NULL, 0) : NULL;
    if (key) calls->drop(key);
    return value;
}

static void describe(const struct calls *calls, uint32_t entry, struct assay__arena *arena,
                     const char *kind, struct assay__os_accelerator *item)
{
    char name[256] = "", class_name[128] = "";
    int32_t cores = 0;
    void *model = property_of(calls, entry, "model");
    void *count = property_of(calls, entry, "gpu-core-count");
    if (model && calls->type_of(model) == calls->string_type())
        calls->text(model, name, sizeof name, UTF8);
    if (count && calls->type_of(count) == calls->number_type()) calls->number(count, INT32, &cores);
    calls->class_of(entry, class_name);
    if (model) calls->drop(model);
    if (count) calls->drop(count);
    const char *kept = assay__arena_strdup(arena, name);
    const char *driver = assay__arena_strdup(arena, class_name);
    *item = (struct assay__os_accelerator){
        .kind = kind, .name = kept ? kept : "", .driver = driver ? driver : "", .cores = cores};
}

size_t assay__accelerators(struct assay__arena *arena, struct assay__os_accelerator *items,
                           size_t most)
{
    static const struct {
        const char *class_name, *kind, *name;
    } wanted[] = {{"IOAccelerator", "gpu", ""}, {"H11ANEIn", "npu", "Apple Neural Engine"}};
    const char *root = getenv("ASSAY_FSROOT");
    struct calls calls;
    size_t count = 0;
    if (root && *root) return 0;
    void *iokit = assay__library_open(FRAMEWORKS "IOKit.framework/IOKit", NULL);
    void *foundation = assay__library_open(FRAMEWORKS "CoreFoundation.framework/CoreFoundation",
                                           NULL);
    bool good = iokit && foundation && load(&calls, iokit, foundation);
    for (size_t i = 0; good && i < sizeof wanted / sizeof wanted[0]; i++) {
        uint32_t iterator = 0, entry;
        void *matching = calls.matching(wanted[i].class_name);
        if (!matching || calls.services(0, matching, &iterator) != 0) continue;
        while ((entry = calls.next(iterator))) {
            if (count < most) {
                describe(&calls, entry, arena, wanted[i].kind, &items[count]);
                if (*wanted[i].name) items[count].name = wanted[i].name;
                count++;
            }
            calls.release(entry);
        }
        calls.release(iterator);
    }
    if (foundation) assay__library_close(foundation);
    if (iokit) assay__library_close(iokit);
    return count;
}
