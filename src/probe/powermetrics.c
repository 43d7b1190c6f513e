/* powermetrics.c - power, clocks and thermal pressure of Apple silicon as macOS's powermetrics
 * prints them (powermetrics.h).
 *
 * Source: $ASSAY_POWERMETRICS, a file in either form, followed while it grows (another terminal
 * runs
 *   sudo powermetrics --samplers cpu_power,gpu_power,ane_power,thermal -i 500 -f plist -o FILE),
 * else the program itself as a child process (it needs root: directly, or through sudo without a
 * password). The channels are those of the first sample; a reading is the newest whole sample, and
 * an energy the sum of all samples' energies. What the newest does not have is unavailable for that
 * reading. A sample counts as current only while more follow: a file that was last written more
 * than 3 sample times (at least 2 s) before it is opened has no channels, and one that does not
 * grow from then on is unavailable after the same time; a source that produced samples and stopped,
 * after 10 sample times, at least 5 s. Only the last 4 MiB of a file that exists at open are read,
 * and at most 1 MiB of one sample. */
#include "probe/powermetrics.h"
#include "probe/live.h"
#include "probe/probes.h"
#include "probe/sysfs.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER (1u << 20)
#define AT_OPEN (4u << 20)     /* bytes read from a file that already exists */
#define PER_READ (4u << 20)    /* at most, in one reading */
#define FIRST_NS 5000000000ull /* how long the first sample of a child may take */
#define STALE_NS 5000000000ull
#define STALE_FILE_NS 2000000000ull /* of one that was not seen to grow */
#define SAMPLE_MOST_S 60            /* for a sample that claims to have taken longer */
#define PROGRAM "/usr/bin/powermetrics"
#define ARGUMENTS "--samplers", "cpu_power,gpu_power,ane_power,thermal", "-i", "500", "-f", "plist"
#define BY_HAND                                                                                    \
    "; or: sudo powermetrics --samplers cpu_power,gpu_power,ane_power,thermal -i 500 -f plist -o " \
    "FILE, and set ASSAY_POWERMETRICS=FILE"

enum energy { ENERGY_CPU, ENERGY_GPU, ENERGY_ANE, ENERGIES };

struct place {
    size_t offset;  /* of the double in the sample */
    size_t cluster; /* its name must be that of the first sample; SIZE_MAX: none */
    int energy;     /* -1: a gauge of the sample; else an enum energy */
};

struct assay__probe {
    struct assay__probe_head head;
    int fd; /* -1: none */
    bool is_file, ended;
    off_t position; /* in the file */
    struct assay__child child;
    char *buffer;
    size_t length;
    struct assay__powermetrics_sample first, newest, working;
    double energies[ENERGIES];
    uint64_t samples, samples_at_open, newest_ns;
    const char *bad; /* the last sample that could not be read; NULL */
    const char *source;
    struct assay__channel *channels;
    struct place *places;
    size_t channel_count;
};

static const char *const *replaced_command;

void assay__powermetrics_command_set(const char *const *argv)
{
    replaced_command = argv;
}

/* --- reading bytes ---------------------------------------------------------------------------- */

/* Takes every whole sample out of the buffer. at_end: see powermetrics.h. */
static void take_buffer(struct assay__probe *probe, bool at_end)
{
    size_t offset = 0;
    for (;;) {
        const char *reason;
        enum assay__powermetrics_status status = assay__powermetrics_next(
            probe->buffer, probe->length, &offset, at_end, &probe->working, &reason);
        if (status == ASSAY__POWERMETRICS_MORE) break;
        probe->bad = status == ASSAY__POWERMETRICS_SAMPLE ? NULL : reason;
        if (probe->bad) continue;
        const double grown[ENERGIES] = {probe->working.cpu_energy_j, probe->working.gpu_energy_j,
                                        probe->working.ane_energy_j};
        if (probe->samples++ == 0) probe->first = probe->working;
        probe->newest = probe->working;
        probe->newest_ns = assay__now_ns();
        for (size_t i = 0; i < ENERGIES; i++) /* a sample without it makes the sum unknown */
            probe->energies[i] += grown[i];
    }
    if (offset == 0 && probe->length == BUFFER) { /* no sample is that long */
        probe->bad = "a powermetrics sample larger than 1 MiB, or something else";
        offset = probe->length;
    }
    memmove(probe->buffer, probe->buffer + offset, probe->length - offset);
    probe->length -= offset;
}

/* Reads what is available, without waiting, at most `limit` bytes. */
static void take_in(struct assay__probe *probe, size_t limit)
{
    size_t taken = 0;
    while (probe->fd >= 0 && taken < limit) {
        size_t room = BUFFER - probe->length;
        ssize_t got = probe->is_file
                          ? pread(probe->fd, probe->buffer + probe->length, room, probe->position)
                          : read(probe->fd, probe->buffer + probe->length, room);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            probe->ended = !probe->is_file && (got == 0 || errno != EAGAIN);
            break;
        }
        probe->length += (size_t)got;
        probe->position += got;
        taken += (size_t)got;
        take_buffer(probe, false);
    }
}

/* How long the newest sample counts as current: the minimum if its own duration is unknown. */
static double fresh_ns(const struct assay__probe *probe)
{
    bool seen_to_grow = !probe->is_file || probe->samples > probe->samples_at_open;
    double elapsed_ns = isnan(probe->newest.elapsed_s)
                            ? 0
                            : 1e9 * fmin(probe->newest.elapsed_s, SAMPLE_MOST_S);
    return seen_to_grow ? fmax((double)STALE_NS, 10 * elapsed_ns)
                        : fmax((double)STALE_FILE_NS, 3 * elapsed_ns);
}

/* --- sources ---------------------------------------------------------------------------------- */

static const char *open_file(struct assay__arena *arena, struct assay__probe *probe,
                             const char *path)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
    struct stat status;
    probe->is_file = true;
    probe->source = assay__arena_text(arena, "%s", path);
    probe->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *why = probe->fd < 0 || fstat(probe->fd, &status) != 0 ? strerror(errno)
                      : S_ISREG(status.st_mode)                       ? NULL
                                                                      : "not a regular file";
    if (why)
        return assay__arena_text(arena, "cannot read the powermetrics file '%s': %s", path, why);
    if (status.st_size > (off_t)AT_OPEN) probe->position = status.st_size - (off_t)AT_OPEN;
    take_in(probe, 2 * (size_t)AT_OPEN);
    /* A sample of the text form ends where the next one begins: the only sample in a file counts as
     * it is. */
    if (probe->samples == 0) take_buffer(probe, true);
    if (probe->samples == 0)
        return assay__arena_text(arena, "'%s': %s", path,
                                 probe->bad ? probe->bad
                                            : "it contains no complete powermetrics sample");
    /* All samples existed before: their age is that of the last write. */
    double age_s = fmax(difftime(time(NULL), status.st_mtime), 0);
    uint64_t age_ns = (uint64_t)(age_s * 1e9);
    probe->samples_at_open = probe->samples;
    probe->newest_ns = probe->newest_ns > age_ns ? probe->newest_ns - age_ns : 0;
    if (age_s * 1e9 <= fresh_ns(probe)) return NULL;
    size_t unit = 0;
    while (age_s < 2 * units[unit].seconds && units[unit].seconds > 1)
        unit++;
    return assay__arena_text(arena,
                             "'%s' was last written %.0f %s ago: its samples are not current "
                             "(powermetrics must be running and writing to it)",
                             path, age_s / units[unit].seconds, units[unit].name);
}

static const char *start_child(struct assay__arena *arena, struct assay__probe *probe,
                               const char *const *argv)
{
    struct assay_error error = {0};
    int ends[2];
    if (assay__pipe(ends) != 0) return "no pipe for powermetrics: too many open files";
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int code = assay__process_start(argv, -1, ends[1], NULL, &probe->child, &error);
    close(ends[1]);
    probe->fd = ends[0];
    if (code) return assay__arena_text(arena, "%s", error.message);
    uint64_t begin = assay__now_ns(), passed = 0;
    while (probe->samples == 0 && !probe->ended && passed < FIRST_NS) {
        struct pollfd ready = {.fd = probe->fd, .events = POLLIN};
        poll(&ready, 1, (int)((FIRST_NS - passed) / 1000000u) + 1);
        take_in(probe, PER_READ);
        passed = assay__now_ns() - begin;
    }
    if (probe->samples) return NULL;
    size_t length = 0; /* first line of what the child printed instead of a sample */
    while (length < probe->length && length < 160 && probe->buffer[length] >= ' ' &&
           probe->buffer[length] < 0x7f)
        length++;
    const char *said = probe->bad     ? probe->bad
                       : length       ? assay__arena_text(arena, "%.*s", (int)length, probe->buffer)
                       : probe->ended ? "it ended without a sample"
                                      : "no sample within 5 s";
    return assay__arena_text(arena, "powermetrics: %s (it needs root: run with sudo%s)", said,
                             BY_HAND);
}

static bool is_foreign(void)
{
    const char *path = getenv("ASSAY_POWERMETRICS");
    return !(path && *path) && !replaced_command && !assay__live_refused() &&
           !assay__file_exists(PROGRAM);
}

static const char *open_source(struct assay__arena *arena, struct assay__probe *probe)
{
    static const char *const direct[] = {PROGRAM, ARGUMENTS, NULL};
    static const char *const by_sudo[] = {"/usr/bin/sudo", "-n", PROGRAM, ARGUMENTS, NULL};
    const char *path = getenv("ASSAY_POWERMETRICS"), *refused = assay__live_refused();
    probe->source = "powermetrics";
    if (path && *path) return open_file(arena, probe, path);
    if (replaced_command) return start_child(arena, probe, replaced_command);
    if (refused) return refused;
    if (is_foreign())
        return "there is no " PROGRAM ", which exists only on macOS; to read a file that it wrote "
               "elsewhere, set ASSAY_POWERMETRICS=FILE";
    return start_child(arena, probe, geteuid() == 0 ? direct : by_sudo);
}

static void close_source(struct assay__probe *probe)
{
    struct assay__exit result;
    if (probe->fd >= 0) close(probe->fd); /* a child that continues to write is ended by SIGPIPE */
    probe->fd = -1;
    if (probe->child.pid > 0) {
        assay__process_kill(&probe->child, SIGTERM);
        if (assay__process_wait(&probe->child, 2000000000u, &result) == ASSAY_ETIMEOUT) {
            assay__process_kill(&probe->child, SIGKILL);
            assay__process_wait(&probe->child, 1000000000u, &result);
        }
    }
    if (probe->child.socket >= 0) close(probe->child.socket);
    probe->child.socket = -1;
    free(probe->buffer);
    probe->buffer = NULL;
    probe->length = 0;
}

/* --- channels --------------------------------------------------------------------------------- */

struct row {
    const char *name, *quantity, *rail, *unit;
    size_t offset;
    int energy;
};

#define IN(member) offsetof(struct assay__powermetrics_sample, member)
static const struct row rows[] = {
    {"power.cpu", "power", "cpu", "W", IN(cpu_power_w), -1},
    {"power.gpu", "power", "gpu", "W", IN(gpu_power_w), -1},
    {"power.ane", "power", "ane", "W", IN(ane_power_w), -1},
    {"power.combined", "power", "package", "W", IN(combined_power_w), -1},
    {"energy.cpu", "energy", "cpu", "J", IN(cpu_energy_j), ENERGY_CPU},
    {"energy.gpu", "energy", "gpu", "J", IN(gpu_energy_j), ENERGY_GPU},
    {"energy.ane", "energy", "ane", "J", IN(ane_energy_j), ENERGY_ANE},
    {"clock.gpu", "clock", "gpu", "Hz", IN(gpu.frequency_hz), -1},
    {"utilization.gpu", "utilization", "gpu", "ratio", IN(gpu.active_ratio), -1},
    {"state.thermal-pressure", "state", "system", "1", IN(thermal_pressure), -1},
};

static double value_at(const struct assay__powermetrics_sample *sample, size_t offset)
{
    double value;
    memcpy(&value, (const char *)sample + offset, sizeof value);
    return value;
}

static void add(struct assay__probe *probe, const struct row *row, size_t cluster)
{
    bool there = !isnan(value_at(&probe->first, row->offset));
    /* if two clusters have the same name, the first */
    for (size_t i = 0; i < probe->channel_count; i++)
        if (strcmp(probe->channels[i].name, row->name) == 0) return;
    probe->places[probe->channel_count] = (struct place){row->offset, cluster, row->energy};
    probe->channels[probe->channel_count++] = (struct assay__channel){
        .name = row->name,
        .quantity = row->quantity,
        .rail = row->rail,
        .unit = row->unit,
        .kind = row->energy < 0 ? ASSAY__CHANNEL_GAUGE : ASSAY__CHANNEL_COUNTER,
        .range = NAN,
        .source = probe->source,
        .available = there,
        .reason = there ? "" : "the powermetrics samples do not contain it",
        .states = strcmp(row->quantity, "state") == 0 ? assay__powermetrics_pressures : NULL,
    };
}

/* Clock and active share of a cluster or CPU. */
static void add_unit(struct assay__arena *arena, struct assay__probe *probe, const char *rail,
                     size_t offset, size_t cluster)
{
    const char *clock = assay__arena_text(arena, "clock.%s", rail);
    const char *share = assay__arena_text(arena, "utilization.%s", rail);
    size_t hertz = offset + offsetof(struct assay__powermetrics_unit, frequency_hz);
    size_t active = offset + offsetof(struct assay__powermetrics_unit, active_ratio);
    add(probe, &(struct row){clock, "clock", rail, "Hz", hertz, -1}, cluster);
    add(probe, &(struct row){share, "utilization", rail, "ratio", active, -1}, cluster);
}

static void add_channels(struct assay__arena *arena, struct assay__probe *probe)
{
    const struct assay__powermetrics_sample *first = &probe->first;
    size_t fixed = sizeof rows / sizeof rows[0];
    size_t most = fixed + 2 * (first->cluster_count + first->cpu_count);
    probe->channels = assay__arena_array(arena, most, sizeof *probe->channels);
    probe->places = assay__arena_array(arena, most, sizeof *probe->places);
    if (!probe->channels || !probe->places) return;
    for (size_t i = 0; i < fixed; i++)
        add(probe, &rows[i], SIZE_MAX);
    for (size_t i = 0; i < first->cluster_count; i++) {
        const char *rail = assay__sysfs_slug(arena, first->clusters[i].name);
        size_t offset = IN(clusters) + i * sizeof first->clusters[0] +
                        offsetof(struct assay__powermetrics_cluster, unit);
        if (*rail) add_unit(arena, probe, rail, offset, i);
    }
    for (size_t i = 0; i < first->cpu_count; i++)
        add_unit(arena, probe, assay__arena_text(arena, "cpu%zu", i),
                 IN(cpus) + i * sizeof first->cpus[0], SIZE_MAX);
}

/* --- the contract ----------------------------------------------------------------------------- */

static void powermetrics_close(struct assay__probe *probe)
{
    if (probe) close_source(probe);
}

static int powermetrics_open(struct assay__arena *arena, struct assay__probe **probe,
                             struct assay_error *error)
{
    struct assay__probe *made = *probe = assay__arena_alloc(arena, sizeof *made);
    if (made) {
        made->fd = made->child.socket = -1;
        made->buffer = malloc(BUFFER);
    }
    if (made && made->buffer) {
        const char *reason = open_source(arena, made);
        if (reason)
            close_source(made);
        else
            add_channels(arena, made);
        /* A sample has at least one value (powermetrics_read.c): then there is a channel. */
        made->head = (struct assay__probe_head){made->channels, made->channel_count,
                                                reason ? reason : ""};
        if (!assay__arena_failed(arena)) return 0;
    }
    powermetrics_close(made);
    *probe = NULL;
    return assay__no_memory(error);
}

static void powermetrics_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    if (probe->channel_count == 0) return;
    take_in(probe, PER_READ);
    double age_ns = (double)(assay__now_ns() - probe->newest_ns);
    const char *late = probe->bad                 ? probe->bad
                       : probe->ended             ? "powermetrics has ended"
                       : age_ns > fresh_ns(probe) ? "powermetrics produces no new samples"
                                                  : "";
    for (size_t i = 0; i < probe->channel_count; i++) {
        const struct place *place = &probe->places[i];
        const char *reason = probe->channels[i].available ? late : probe->channels[i].reason;
        double value = place->energy >= 0 ? probe->energies[place->energy]
                                          : value_at(&probe->newest, place->offset);
        bool other = place->cluster != SIZE_MAX &&
                     strcmp(probe->newest.clusters[place->cluster].name,
                            probe->first.clusters[place->cluster].name) != 0;
        if (!*reason && (other || isnan(value)))
            reason = "the latest powermetrics sample does not contain it";
        readings[i] = (struct assay__probe_reading){*reason ? NAN : value, reason};
    }
}

const struct assay__probe_ops assay__probe_powermetrics = {
    .name = "powermetrics",
    .summary = "power, clocks and thermal pressure of Apple silicon (macOS powermetrics)",
    .open = powermetrics_open,
    ASSAY__HEAD_OPS,
    .read = powermetrics_read,
    .close = powermetrics_close,
    .is_foreign = is_foreign,
    .own_thread = true, /* the child it starts ends with the thread that started it */
    .power_of = "cgn",
};
