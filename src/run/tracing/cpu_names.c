/* cpu_names.c - when the program has ended: the function of each place that was sampled. A file's
 * symbols are read once, for all places in it. A place in no function keeps its file and offset. */
#include "base/file.h"
#include "import/code_symbols.h"
#include "platform/demangle.h"
#include "run/tracing/cpu_stacks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAP_MOST ((size_t)256 << 20)
#define ROOM 2048u /* of a name */
#define GENERATED_NAME "[generated code]"

/* --- maps of generated code ------------------------------------------------------------------- */

/* Anyone may write into the folder: the file must be of this user (or root), and of this run. */
static char *read_map(const char *path, int64_t since_s, size_t *length)
{
    struct stat about;
    char *text = NULL;
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    if (!fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_mtime >= since_s &&
        (about.st_uid == geteuid() || about.st_uid == 0) && about.st_size > 0 &&
        (size_t)about.st_size <= MAP_MOST)
        text = malloc((size_t)about.st_size);
    while (text && used < (size_t)about.st_size) {
        ssize_t got = read(fd, text + used, (size_t)about.st_size - used);
        if (got <= 0) break;
        used += (size_t)got;
    }
    close(fd);
    *length = used;
    return text;
}

static struct assay__code_symbols *symbols_of_process(const char *module, const char *folder,
                                                      int64_t since_s)
{
    struct assay__code_symbols *symbols = NULL;
    char name[64], path[4096];
    size_t length;
    snprintf(name, sizeof name, "perf-%lu.map",
             strtoul(module + strlen(ASSAY__CPU_GENERATED), NULL, 10));
    if (assay__path_join(folder, name, path, sizeof path)) return NULL;
    char *text = read_map(path, since_s, &length);
    if (text && assay__code_symbols_map(text, length, &symbols, NULL)) symbols = NULL;
    free(text);
    return symbols;
}

static struct assay__code_symbols *symbols_of_file(const char *path)
{
    struct assay__code_symbols *symbols = NULL;
    struct assay__mapping mapping;
    if (path[0] != '/' || assay__file_map(path, &mapping, NULL)) return NULL;
    if (assay__code_symbols_elf(mapping.data, mapping.size, &symbols, NULL)) symbols = NULL;
    assay__file_unmap(&mapping);
    return symbols;
}

/* --- places ----------------------------------------------------------------------------------- */

struct place {
    uint64_t offset;
    uint32_t module, frame;
};

static int by_module(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->module != y->module) return x->module < y->module ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The frames, those of each module together; NULL: out of memory. */
static struct place *places_of(const struct assay__pairs *frames)
{
    struct place *places = malloc((frames->count + 1) * sizeof *places);
    if (!places) return NULL;
    for (uint32_t i = 0; i < frames->count; i++)
        places[i] = (struct place){frames->items[i].a, frames->items[i].b, i + 1};
    if (frames->count) qsort(places, frames->count, sizeof *places, by_module);
    return places;
}

static bool is_generated(const char *module)
{
    return strncmp(module, ASSAY__CPU_GENERATED, strlen(ASSAY__CPU_GENERATED)) == 0;
}

/* A module that is no file has no symbols: it is the name. Of a stripped file all places in a
 * function get the same one: "libx.so+0x12a0", where it begins. */
static const char *name_of(const char *module, const struct assay__code_symbols *symbols,
                           uint64_t place, char room[ROOM])
{
    const char *name = symbols ? assay__code_symbols_find(symbols, place) : NULL;
    uint64_t start;
    if (name) return assay__demangle(name, room, ROOM) ? room : name;
    if (symbols && assay__code_symbols_start(symbols, place, &start)) {
        const char *slash = strrchr(module, '/');
        snprintf(room, ROOM, "%.400s+0x%llx", slash ? slash + 1 : module,
                 (unsigned long long)start);
        return room;
    }
    return is_generated(module) ? GENERATED_NAME : module[0] == '[' ? module : NULL;
}

static void put_name(struct assay__cpu_stacks *s, uint32_t frame, const char *name)
{
    struct assay__cpu_name record = {.frame = frame};
    if (name) record.name = assay__cpu_file_string(s->file, name);
    if (record.name) assay__cpu_file_put(s->file, ASSAY__CPU_NAME, &record, sizeof record);
}

void assay__cpu_names_write(struct assay__cpu_stacks *s, const char *maps_folder, int64_t since_s)
{
    struct place *places = places_of(&s->frames);
    struct assay__code_symbols *symbols = NULL;
    const char *module = "";
    char room[ROOM];
    for (size_t i = 0; places && i < s->frames.count; i++) {
        if (!i || places[i].module != places[i - 1].module) {
            assay__code_symbols_free(symbols);
            module = assay__cpu_file_text(s->file, places[i].module);
            symbols = is_generated(module) ? symbols_of_process(module, maps_folder, since_s)
                                           : symbols_of_file(module);
        }
        put_name(s, places[i].frame, name_of(module, symbols, places[i].offset, room));
    }
    assay__code_symbols_free(symbols);
    free(places);
}
