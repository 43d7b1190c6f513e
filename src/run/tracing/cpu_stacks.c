/* cpu_stacks.c - samples, and what changes meanwhile: threads, their names, mapped code. */
#include "run/tracing/cpu_stacks.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST ((size_t)1 << 18)
#define FRAMES_MOST ((size_t)1 << 20)
#define NODES_MOST ((size_t)1 << 21)
#define THINNED_MOST 30u
#define PROTECTION_EXECUTABLE 4u /* PROT_EXEC */

void assay__cpu_stacks_begin(struct assay__cpu_stacks *s, struct assay__cpu_file *file)
{
    s->file = file;
    s->threads.most = THREADS_MOST;
    s->frames.most = FRAMES_MOST;
    s->nodes.most = NODES_MOST;
    s->chance = 0x2545f4914f6cdd1du;
    if (!s->samples_most) s->samples_most = ASSAY__CPU_SAMPLES_MOST;
}

void assay__cpu_stacks_free(struct assay__cpu_stacks *s)
{
    assay__cpu_maps_free(&s->maps);
    assay__pairs_free(&s->threads);
    assay__pairs_free(&s->frames);
    assay__pairs_free(&s->nodes);
    free(s->thread_names);
}

bool assay__cpu_stacks_failed(const struct assay__cpu_stacks *s)
{
    return s->threads.failed || s->frames.failed || s->nodes.failed || s->maps.failed;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* name: a string, or 0 where it is not known or has not changed. */
static uint32_t thread_of(struct assay__cpu_stacks *s, uint32_t pid, uint32_t tid, uint32_t name)
{
    bool is_new;
    uint32_t number = assay__pairs_number(&s->threads, (uint64_t)pid << 32 | tid, 0, &is_new);
    if (!number || !(is_new || name)) return number;
    if (assay__vec_grow((void **)&s->thread_names, &s->thread_name_capacity, number,
                        sizeof *s->thread_names))
        s->threads.failed = true;
    else if (name)
        s->thread_names[number - 1] = name;
    struct assay__cpu_thread record = {.number = number, .name = name, .pid = pid, .tid = tid};
    assay__cpu_file_put(s->file, ASSAY__CPU_THREAD, &record, sizeof record);
    return number;
}

/* A new thread is called what the one was that made it. */
static void begin_thread(struct assay__cpu_stacks *s, const struct assay__perf_task *about)
{
    uint32_t parent = thread_of(s, about->parent, about->parent_tid, 0);
    bool is_named = parent && parent <= s->thread_name_capacity;
    thread_of(s, about->pid, about->tid, is_named ? s->thread_names[parent - 1] : 0);
}

/* --- stacks ----------------------------------------------------------------------------------- */

static uint32_t frame_of(struct assay__cpu_stacks *s, uint32_t module, uint64_t offset)
{
    bool is_new;
    uint32_t number = assay__pairs_number(&s->frames, offset, module, &is_new);
    struct assay__cpu_frame record = {.offset = offset, .number = number, .module = module};
    if (is_new) assay__cpu_file_put(s->file, ASSAY__CPU_FRAME, &record, sizeof record);
    return number;
}

/* The frame below the node; the node itself and *cut where there is no room. */
static uint32_t node_of(struct assay__cpu_stacks *s, uint32_t parent, uint32_t frame, bool *cut)
{
    bool is_new = false;
    uint32_t number = frame ? assay__pairs_number(&s->nodes, parent, frame, &is_new) : 0;
    struct assay__cpu_node record = {.number = number, .parent = parent, .frame = frame};
    if (is_new) assay__cpu_file_put(s->file, ASSAY__CPU_NODE, &record, sizeof record);
    *cut |= !number;
    return number ? number : parent;
}

/* A call chain as it is read: addresses without the kernel's marks, innermost first. */
struct chain {
    uint64_t addresses[ASSAY__CPU_DEPTH_MOST];
    size_t count;
    bool in_kernel;
};

static void read_chain(const struct assay__perf_sample *sample, const char *record,
                       struct chain *chain)
{
    size_t room = (sample->head.bytes - sizeof *sample) / sizeof(uint64_t);
    uint64_t count = sample->address_count < room ? sample->address_count : room;
    chain->count = 0;
    chain->in_kernel = (sample->head.misc & ASSAY__PERF_MODE_MASK) == ASSAY__PERF_MODE_KERNEL;
    for (uint64_t i = 0; i < count && chain->count < ASSAY__CPU_DEPTH_MOST - 2; i++) {
        uint64_t address;
        memcpy(&address, record + sizeof *sample + i * sizeof address, sizeof address);
        if (address < ASSAY__PERF_CONTEXT_MOST) chain->addresses[chain->count++] = address;
    }
}

/* The place of the i-th function: return addresses lie behind the call. */
static uint64_t place_in(const struct chain *chain, size_t i)
{
    uint64_t address = chain->addresses[i];
    return i == 0 || address == 0 ? address : address - 1;
}

/* Without frame pointers what follows in a chain is arbitrary: it ends at the first address where
 * no code is. */
static size_t believed(const struct assay__cpu_process *process, const struct chain *chain)
{
    size_t count = 0;
    while (count < chain->count && assay__cpu_maps_find(process, place_in(chain, count)))
        count++;
    return count;
}

static uint32_t build(struct assay__cpu_stacks *s, const struct assay__cpu_process *process,
                      const struct chain *chain, size_t count, bool *cut)
{
    uint32_t node = 0;
    for (size_t i = count; i-- > 0;) {
        uint64_t address = place_in(chain, i);
        const struct assay__cpu_map *map = assay__cpu_maps_find(process, address);
        uint64_t offset = map->is_code_of_process ? address
                                                  : address - map->start + map->file_offset;
        node = node_of(s, node, frame_of(s, map->module, offset), cut);
        if (*cut) return node;
    }
    const char *leaf = chain->in_kernel ? ASSAY__CPU_KERNEL : count ? NULL : ASSAY__CPU_UNKNOWN;
    uint32_t module = leaf ? assay__cpu_file_string(s->file, leaf) : 0;
    return module ? node_of(s, node, frame_of(s, module, 0), cut) : node;
}

static uint64_t hash_of(const struct assay__cpu_process *process, const struct chain *chain,
                        size_t count)
{
    uint64_t hash = (process ? process->generation : 0) + ((uint64_t)chain->in_kernel << 40);
    for (size_t i = 0; i < count; i++)
        hash = assay__mix(hash ^ chain->addresses[i]) + i;
    return hash ? hash : 1;
}

static uint32_t stack_of(struct assay__cpu_stacks *s, uint32_t pid, const struct chain *chain)
{
    const struct assay__cpu_process *process = assay__cpu_maps_process(&s->maps, pid);
    size_t count = believed(process, chain);
    uint64_t hash = hash_of(process, chain, count);
    struct assay__cpu_recent *recent = &s->recent[hash % (sizeof s->recent / sizeof *s->recent)];
    bool cut = false;
    if (count + chain->in_kernel <= 1) s->counts.shallow++;
    if (recent->hash == hash) return recent->node;
    uint32_t node = build(s, process, chain, count, &cut);
    s->counts.cut += cut;
    if (!cut) *recent = (struct assay__cpu_recent){hash, node};
    return node;
}

/* --- samples ---------------------------------------------------------------------------------- */

static bool is_kept(struct assay__cpu_stacks *s)
{
    uint64_t whole = s->samples_most / 2, step = s->samples_most / 16 + 1;
    if (s->counts.kept >= whole) {
        uint64_t halvings = 1 + (s->counts.kept - whole) / step;
        s->thinned = halvings < THINNED_MOST ? (unsigned)halvings : THINNED_MOST;
    }
    s->chance ^= s->chance << 13; /* xorshift */
    s->chance ^= s->chance >> 7;
    s->chance ^= s->chance << 17;
    return (s->chance >> 20 & (((uint64_t)1 << s->thinned) - 1)) == 0;
}

static void take_sample(struct assay__cpu_stacks *s, const char *record, size_t bytes)
{
    struct assay__perf_sample sample;
    struct chain chain;
    if (bytes < sizeof sample) return;
    memcpy(&sample, record, sizeof sample);
    s->counts.samples++;
    s->counts.weight += sample.period;
    if (!is_kept(s)) return;
    s->counts.kept++;
    read_chain(&sample, record, &chain);
    struct assay__cpu_sample made = {.time_ns = (int64_t)sample.time_ns,
                                     .weight = sample.period << s->thinned,
                                     .thread = thread_of(s, sample.pid, sample.tid, 0),
                                     .node = stack_of(s, sample.pid, &chain)};
    assay__cpu_file_sample(s->file, &made);
}

/* --- what changes ----------------------------------------------------------------------------- */

/* The text at the end of a record, in front of what every record ends with; cut to `room`. */
static void text_of(const char *record, size_t from, size_t bytes, char *text, size_t room)
{
    size_t most = bytes > from + sizeof(struct assay__perf_tail)
                      ? bytes - from - sizeof(struct assay__perf_tail)
                      : 0;
    if (most > room - 1) most = room - 1;
    memcpy(text, record + from, most);
    text[most] = '\0';
}

/* "//anon", "[heap]", "/memfd:x (deleted)", "/dev/zero": code that the process wrote itself. */
static bool is_generated(const char *path)
{
    return path[0] == '\0' || !strncmp(path, "//", 2) || !strcmp(path, "[heap]") ||
           !strncmp(path, "[stack", 6) || !strncmp(path, "[anon", 5) ||
           !strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/", 5) ||
           !strncmp(path, "anon_inode", 10);
}

static void take_mapping(struct assay__cpu_stacks *s, const char *record, size_t bytes)
{
    struct assay__perf_mmap2 about;
    char path[4097], generated[64];
    if (bytes < sizeof about) return;
    memcpy(&about, record, sizeof about);
    if (!(about.protection & PROTECTION_EXECUTABLE)) return;
    text_of(record, sizeof about, bytes, path, sizeof path);
    snprintf(generated, sizeof generated, ASSAY__CPU_GENERATED "%u]", (unsigned)about.pid);
    bool is_code = is_generated(path);
    struct assay__cpu_map map = {
        .start = about.start,
        .end = about.start + about.length,
        .file_offset = about.file_offset,
        .module = assay__cpu_file_string(s->file, is_code ? generated : path),
        .is_code_of_process = is_code};
    if (map.module) assay__cpu_maps_add(&s->maps, about.pid, &map);
}

static void take_name(struct assay__cpu_stacks *s, const char *record, size_t bytes)
{
    struct assay__perf_comm about;
    char name[64];
    if (bytes < sizeof about) return;
    memcpy(&about, record, sizeof about);
    text_of(record, sizeof about, bytes, name, sizeof name);
    if (about.head.misc & ASSAY__PERF_COMM_EXEC) assay__cpu_maps_clear(&s->maps, about.pid);
    thread_of(s, about.pid, about.tid, assay__cpu_file_string(s->file, name));
}

static void take_task(struct assay__cpu_stacks *s, const char *record, size_t bytes)
{
    struct assay__perf_task about;
    if (bytes < sizeof about) return;
    memcpy(&about, record, sizeof about);
    if (about.head.type == ASSAY__PERF_FORK) {
        begin_thread(s, &about);
        assay__cpu_maps_fork(&s->maps, about.parent, about.pid);
    } else if (about.pid == about.tid) {
        assay__cpu_maps_clear(&s->maps, about.pid);
    }
}

static void take_lost(struct assay__cpu_stacks *s, const char *record, size_t bytes)
{
    struct assay__perf_lost about;
    if (bytes < sizeof about) return;
    memcpy(&about, record, sizeof about);
    s->counts.lost += about.lost;
}

void assay__cpu_stacks_take(void *context, const struct assay__perf_head *head)
{
    struct assay__cpu_stacks *s = context;
    const char *record = (const char *)head;
    switch (head->type) {
    case ASSAY__PERF_SAMPLE: take_sample(s, record, head->bytes); break;
    case ASSAY__PERF_MMAP2: take_mapping(s, record, head->bytes); break;
    case ASSAY__PERF_COMM: take_name(s, record, head->bytes); break;
    case ASSAY__PERF_FORK:
    case ASSAY__PERF_EXIT: take_task(s, record, head->bytes); break;
    case ASSAY__PERF_LOST: take_lost(s, record, head->bytes); break;
    default: break; /* throttling and the like: nothing that is read */
    }
}
