/* launch_windows.c - what a worker does next: another window, a block of layers, or nothing more;
 * and which windows and blocks count. While a window runs the parent is blocked in poll(); between
 * windows it copies the samples out of the ring, stores them and decides.
 *
 * A window is left out and repeated if other processes kept the worker from running, or if the
 * machine itself was slow (machine_speed.h), unless that is how the machine always is. */
#include "run/arm/conversation.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/stats.h"
#include "base/vec.h"
#include "run/watch/watch.h"

#include <math.h>
#include <stdlib.h>

#define ANSWER_TIMEOUT_MS 30000
#define REWARM_STEPS 2
/* cold caches do not matter to a step of 10 ms or more, and rewarming would cost time */
#define REWARM_BELOW_NS 1e7
#define REWARM_NS 5e6 /* after a block of another session's runs */
#define REWARM_MOST 20
#define BLOCK_WINDOWS 1.5  /* length of a block of layers, in windows … */
#define BLOCK_LEAST_S 0.05 /* … but … */
#define BLOCK_MOST_S 0.5
#define BLOCK_MOST_BUSY_S 1.0  /* the same if other processes disturb the launch */
#define DISTURBED 0.05         /* time spent waiting for a CPU that others were using, as a share */
#define DISTURBED_OFTEN 4u     /* if such windows are the majority, disturbance is normal here */
#define SLOW 0.12              /* a fixed loop takes this much longer than at its best */
#define WAIT_STEP_NS 20000000u /* while the machine is slow, it is asked again that often */
#define LEFT_OUT_MOST 2.0      /* time of discarded windows, relative to that of windows kept … */
#define LEFT_OUT_LEAST_S 1.0   /* … and always allowed */
/* of the time to measure, if that was derived from the loading time */
#define LEFT_OUT_SHARE 0.25
#define DROPPED_MORE 2u   /* discarded blocks of layers, beyond the number kept */
#define BLOCKS_WANTED 5u  /* of layers, over all windows */
#define BLOCKS_LEAST 3u   /* that count … */
#define LAYERS_AGREE 0.04 /* … if the sum is this close to the latency; else … */
#define WINDOWS_MORE 5u   /* … there are more windows, at most this many */
#define PACE_SAMPLES 101u

/* Durations of one stream's window: appended, stored. *start and *end widen to cover it. */
static int take_stream(struct assay__talk *talk, uint32_t stream, uint64_t *start, uint64_t *end,
                       size_t *count)
{
    const uint64_t *stamps = assay__ring_stamps(&talk->ring, stream);
    uint64_t n = atomic_load_explicit(assay__ring_count(&talk->ring, stream), memory_order_acquire);
    struct assay__samples *samples = &talk->outcome->streams[stream];
    *count = 0;
    if (n == 0) return 0;
    if (n > talk->ring.capacity) return assay__talk_bad(talk, "a count beyond the end of the ring");
    if (assay__samples_reserve(samples, (size_t)n)) return assay__no_memory(&talk->error);
    double *values = samples->values + samples->count;
    for (size_t i = 0; i < n; i++) {
        if (stamps[i + 1] < stamps[i])
            return assay__talk_bad(talk, "timestamps that run backwards");
        values[i] = (double)(stamps[i + 1] - stamps[i]);
    }
    samples->count += (size_t)n;
    *count = (size_t)n;
    if (stamps[0] < *start) *start = stamps[0];
    if (stamps[n] > *end) *end = stamps[n];
    struct assay__outcome *outcome = talk->outcome;
    if (talk->request->store && outcome->store_error.code == 0)
        assay__store_add_samples(talk->request->store, talk->request->trial, talk->request->launch,
                                 (int)stream, values, (size_t)n, &outcome->store_error);
    return 0;
}

/* Hands the window to who wants each of them, and forgets its samples. */
static void hand_over(struct assay__talk *talk, double wall_ns)
{
    const struct assay__request *request = talk->request;
    struct assay__outcome *outcome = talk->outcome;
    const double *durations_ns[ASSAY__RING_STREAMS];
    size_t counts[ASSAY__RING_STREAMS];
    for (int s = 0; s < outcome->stream_count; s++) {
        durations_ns[s] = outcome->streams[s].values;
        counts[s] = outcome->streams[s].count;
    }
    const struct assay__window_seen seen = {durations_ns, counts, outcome->stream_count, wall_ns};
    request->window(request->window_context, &seen);
    for (int s = 0; s < outcome->stream_count; s++)
        outcome->streams[s].count = 0;
    outcome->window_count = 0;
}

void assay__talk_take_window(struct assay__talk *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    uint64_t start = UINT64_MAX, end = 0;
    struct assay__sample_window window = {.first = outcome->streams[0].count,
                                          .begin_ns = talk->window_ns,
                                          .end_ns = talk->window_ns ? assay__now_ns() : 0};
    struct assay_error before = talk->error;
    for (uint32_t s = 0; s < talk->ring.streams; s++) {
        size_t count = 0;
        if (take_stream(talk, s, &start, &end, &count)) break;
        if (s == 0) window.count = count;
        window.completions += count;
        /* Clears the ring before the worker is told about the next window: if it dies in between,
         * samples must not count twice. */
        atomic_store_explicit(assay__ring_count(&talk->ring, s), 0, memory_order_release);
    }
    if (before.code) talk->error = before; /* the first reason is the reason */
    if (talk->window_ns)
        assay__watch_window_ends(talk->request->watch, talk->request->launch, window.completions);
    talk->window_ns = 0;
    if (window.completions == 0) return;
    window.wall_ns = (double)(end - start);
    outcome->total += window.completions;
    outcome->wall_ns += window.wall_ns;
    if (assay__vec_grow((void **)&outcome->windows, &outcome->window_capacity,
                        outcome->window_count + 1, sizeof window)) {
        if (!talk->error.code) assay__no_memory(&talk->error);
        return;
    }
    outcome->windows[outcome->window_count++] = window;
    talk->pace_ns = window.wall_ns * talk->ring.streams / (double)window.completions;
    if (talk->request->window) hand_over(talk, window.wall_ns);
}

int assay__talk_summarise(struct assay__talk *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    if (outcome->summarised == outcome->total && outcome->total > 0) return 0;
    outcome->summarised = outcome->total;
    bool find_warmup = talk->request->job.warmup < 0;
    /* A script's clock has no steps. */
    double step_ns = talk->request->job.script ? 0 : outcome->facts.clock_step_ns;
    return assay__summary_compute(outcome->streams, outcome->streams ? outcome->stream_count : 0,
                                  find_warmup, true, step_ns, &outcome->summary);
}

/* Ours again, its samples forgotten. */
static void clear_ring(struct assay__talk *talk)
{
    for (uint32_t s = 0; s < talk->ring.streams; s++)
        atomic_store_explicit(assay__ring_count(&talk->ring, s), 0, memory_order_release);
}

/* The pre-run's pace: the median of its last samples (they are dropped afterwards). */
static void take_pace(struct assay__talk *talk)
{
    const uint64_t *stamps = assay__ring_stamps(&talk->ring, 0);
    uint64_t n = atomic_load_explicit(assay__ring_count(&talk->ring, 0), memory_order_acquire);
    double last[PACE_SAMPLES];
    size_t used = 0;
    if (n > talk->ring.capacity) n = 0;
    for (uint64_t i = n; i > 0 && used < PACE_SAMPLES; i--)
        if (stamps[i] >= stamps[i - 1]) last[used++] = (double)(stamps[i] - stamps[i - 1]);
    assay__stats_sort(last, used);
    talk->pace_ns = used ? assay__stats_median(last, used) : talk->outcome->facts.first_ns;
    if (!isfinite(talk->pace_ns)) talk->pace_ns = 0;
    clear_ring(talk);
}

/* How fast the machine is now, and whether it was slow then or is now. */
static bool was_slow(struct assay__talk *talk)
{
    if (talk->request->job.script) return false;
    struct assay__speed before = talk->speed, now = assay__speed_read(talk->pid, &talk->best);
    struct assay__speed worst = assay__speed_worst(&before, &now);
    talk->best = assay__speed_best(&talk->best, &now);
    talk->speed = now;
    return assay__speed_slowdown(&worst, &talk->best) > SLOW;
}

static void begin_stretch(struct assay__talk *talk)
{
    talk->stretch_ns = assay__now_ns();
    talk->waited_known = !talk->request->job.script && /* a script's windows all count */
                         assay__process_waited_ns(talk->pid, &talk->waited_ns);
}

/* Whether other processes kept the worker from running during the window or block that just
 * ended. */
static bool was_disturbed(const struct assay__talk *talk)
{
    uint64_t waited_ns, now_ns = assay__now_ns();
    if (!talk->waited_known || !assay__process_waited_ns(talk->pid, &waited_ns)) return false;
    return (double)(waited_ns - talk->waited_ns) > DISTURBED * (double)(now_ns - talk->stretch_ns);
}

static int64_t rewarm_steps(const struct assay__talk *talk)
{
    if (talk->next_window == 1 && talk->request->job.warmup >= 0) return 0;
    if (talk->alternates && talk->pace_ns > 0)
        return (int64_t)fmin(fmax(REWARM_NS / talk->pace_ns, 1), REWARM_MOST);
    return talk->pace_ns >= REWARM_BELOW_NS ? 0 : REWARM_STEPS;
}

static void send_answer(struct assay__talk *talk, struct assay__message *message)
{
    if (talk->drop_block) assay__json_put_bool(&message->writer, "drop", true);
    talk->drop_block = false;
    assay__json_object_end(&message->writer);
    assay__json_object_end(&message->writer);
    int code = assay__channel_send(&talk->channel, &message->text, ANSWER_TIMEOUT_MS);
    assay__buf_free(&message->text);
    if (code && code != ASSAY_EIO) /* when it has ended, its last messages can still be read */
        assay_error_set(&talk->error, code, "worker does not read its answers");
}

/* Slow seconds pass. Only launches that are judged together wait: they wait for the machine that
 * the others saw. */
static void wait_for_speed(struct assay__talk *talk)
{
    const struct assay__request *request = talk->request;
    if (!request->goal.brief || request->job.script) return;
    while (assay__speed_slowdown(&talk->speed, &talk->best) > SLOW &&
           talk->waited_s < request->patience_s && !(request->interrupt && *request->interrupt)) {
        assay__sleep_ns(WAIT_STEP_NS);
        talk->waited_s += WAIT_STEP_NS * 1e-9;
        was_slow(talk);
    }
}

static void ask_window(struct assay__talk *talk, const struct assay__window_plan *plan)
{
    wait_for_speed(talk);
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "window");
    assay__json_object(out);
    assay__json_put_integer(out, "iterations", (int64_t)plan->iterations);
    assay__json_put_number(out, "seconds", plan->seconds);
    assay__json_put_integer(out, "rewarm", rewarm_steps(talk));
    assay__watch_window_begins(talk->request->watch, talk->request->launch);
    talk->window_ns = assay__now_ns();
    talk->window_s = plan->seconds;
    begin_stretch(talk);
    send_answer(talk, &message);
}

static void ask_block(struct assay__talk *talk)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "block");
    assay__json_object(out);
    const struct assay__sample_window *last =
        &talk->outcome->windows[talk->outcome->window_count - 1];
    double seconds = last->wall_ns * 1e-9 * BLOCK_WINDOWS;
    double most = talk->disturbed ? BLOCK_MOST_BUSY_S : BLOCK_MOST_S;
    if (talk->disturbed) seconds *= 2; /* a window is as short as on a quiet machine */
    assay__json_put_number(out, "seconds", fmin(fmax(seconds, BLOCK_LEAST_S), most));
    begin_stretch(talk);
    send_answer(talk, &message);
}

static void ask_stop(struct assay__talk *talk)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "stop");
    assay__json_object(out);
    assay__json_put_number(out, "latency_ns", talk->outcome->summary.p50);
    send_answer(talk, &message);
}

/* Once the goal is met: whether the layers need more windows and blocks to add up. */
static bool wants_more_layers(struct assay__talk *talk)
{
    const struct assay__outcome *outcome = talk->outcome;
    const struct assay__goal *goal = &talk->request->goal;
    bool fixed = goal->iterations > 0 || goal->time_s > 0; /* so long and no longer */
    size_t most = talk->disturbed ? 2 * WINDOWS_MORE : WINDOWS_MORE;
    if (!talk->alternates || fixed || talk->more_windows >= most) return false;
    talk->more_windows++;
    return talk->blocks < BLOCKS_LEAST ||
           !(fabs(talk->layers_ns / outcome->summary.p50 - 1) <= LAYERS_AGREE);
}

/* Blocks are spread over the windows of the goal; windows added after that have one block each. */
static bool wants_block(const struct assay__talk *talk)
{
    size_t every = talk->request->goal.time_s > 0 ? ASSAY__GOAL_WINDOWS / BLOCKS_WANTED : 1;
    size_t done = talk->blocks + talk->dropped;
    return talk->alternates && (talk->more_windows ||
                                (done < BLOCKS_WANTED && talk->outcome->window_count % every == 0));
}

static void decide(struct assay__talk *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    const struct assay__goal *goal = &talk->goal;
    struct assay__window_plan plan;
    struct assay__taken taken = {.windows = outcome->window_count,
                                 .samples = outcome->total,
                                 .wall_ns = outcome->wall_ns,
                                 .pace_ns = talk->pace_ns,
                                 .disturbed = talk->disturbed > 0};
    enum assay__decision decision = assay__goal_next(goal, &taken, &plan);
    if (decision != ASSAY__GOAL_WINDOW) {
        if (assay__talk_summarise(talk)) {
            assay__no_memory(&talk->error);
            return;
        }
        taken.summary = &outcome->summary;
        if (decision == ASSAY__GOAL_JUDGE) decision = assay__goal_next(goal, &taken, &plan);
    }
    if (decision == ASSAY__GOAL_STOP && wants_more_layers(talk)) {
        plan = (struct assay__window_plan){goal->capacity * (size_t)goal->streams, talk->window_s};
        decision = ASSAY__GOAL_WINDOW;
    }
    if (decision == ASSAY__GOAL_STOP && talk->alternates && talk->blocks == 0) {
        talk->last_block = true; /* whatever happens to it, it counts */
        ask_block(talk);
        return;
    }
    if (decision == ASSAY__GOAL_STOP) {
        assay__disturbance_read(&outcome->end);
        ask_stop(talk);
        return;
    }
    assay__talk_progress(talk, "measuring", assay__goal_done(goal, &taken));
    ask_window(talk, &plan);
}

/* Windows that were disturbed so often that this is normal here. */
static bool is_normal(const struct assay__talk *talk, size_t windows)
{
    const struct assay__outcome *outcome = talk->outcome;
    return windows >= DISTURBED_OFTEN && windows > (outcome->window_count + outcome->left_out) / 2;
}

/* A window that others disturbed, or during which the machine was slow, is repeated, as long as
 * that helps. */
static bool leave_out(struct assay__talk *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    if (talk->request->job.script || talk->request->window) return false;
    bool slow = was_slow(talk), disturbed = was_disturbed(talk);
    talk->slow += slow;
    talk->disturbed += disturbed;
    slow = slow && !is_normal(talk, talk->slow);
    disturbed = disturbed && !is_normal(talk, talk->disturbed);
    if (talk->request->watch || (!slow && !disturbed)) return false;
    double spent_ns = (double)(assay__now_ns() - talk->window_ns);
    double most_ns = talk->goal.amortise /* one of many launches, with its own time limit */
                         ? LEFT_OUT_SHARE * talk->goal.time_s * 1e9
                         : fmax(LEFT_OUT_MOST * outcome->wall_ns, LEFT_OUT_LEAST_S * 1e9);
    if (outcome->left_out_ns + spent_ns > most_ns) return false;
    outcome->left_out_ns += spent_ns;
    outcome->left_out++;
    clear_ring(talk);
    talk->window_ns = 0;
    return true;
}

void assay__talk_window(struct assay__talk *talk, const struct assay__json *window)
{
    int64_t index = assay__json_get_integer(window, "index", -1),
            prerun = assay__json_get_integer(window, "prerun", -1);
    if (index != talk->next_window || prerun < 0 || !talk->outcome->facts.known) {
        assay__talk_bad(talk, "an unexpected window");
        return;
    }
    if (index == 0) {
        talk->outcome->prerun = (size_t)prerun;
        assay__disturbance_read(&talk->outcome->warm);
        talk->outcome->warm_known = true;
        take_pace(talk);
        talk->outcome->ready_ns = assay__now_ns();
        talk->goal = assay__goal_amortised(
            &talk->request->goal,
            (double)(talk->outcome->ready_ns - talk->outcome->begin_ns) / 1e9);
        talk->phase = PHASE_MEASURING;
        was_slow(talk);
        talk->alternates = assay__json_get_bool(window, "alternates", false);
    }
    talk->next_window++;
    bool kept = index > 0 && !leave_out(talk);
    if (kept) {
        assay__talk_take_window(talk);
        if (talk->speed_count < ASSAY__TALK_SPEEDS) talk->speeds[talk->speed_count++] = talk->speed;
    }
    if (talk->error.code) return;
    if (kept && wants_block(talk))
        ask_block(talk);
    else
        decide(talk);
}

void assay__talk_block(struct assay__talk *talk, const struct assay__json *block)
{
    if (!talk->alternates) {
        assay__talk_bad(talk, "a block that was not requested");
        return;
    }
    bool disturbed = was_disturbed(talk);
    talk->drop_block = (was_slow(talk) || disturbed) &&
                       talk->dropped < talk->blocks + DROPPED_MORE && !talk->last_block;
    if (assay__json_get_bool(block, "failed", false))
        talk->alternates = talk->drop_block = false; /* what there is must do */
    else if (talk->drop_block)
        talk->dropped++;
    else
        talk->blocks++, talk->layers_ns = assay__json_get_number(block, "layers_ns", 0);
    decide(talk);
}
