/* watch_model.c - the thread: one run without end after the other (run_options.h). A run that ends
 * by itself has failed. If it never completed a window, it would fail again: that ends the command.
 * Else it is started again after 1, 2, 4 … 30 s, from 1 s again when it has run for a minute. */
#include "cli/watch_model.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "monitor/watched_model.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PAUSE_LEAST_S 1.0
#define PAUSE_MOST_S 30.0
#define STEADY_NS 60000000000u
#define SLICE_NS 50000000u

struct assay__model_thread {
    struct assay__run_options options;
    pthread_t thread;
    bool started;
    volatile int stop;
    const char *name, *device;
    char rail[64];        /* "": not known */
    pthread_mutex_t lock; /* protects what follows */
    struct assay__watched_model model;
    const char *state, *reason;
    uint64_t restarts;
    bool ran, hopeless;
    struct assay_error error; /* of the last run */
};

static void take_window(void *context, const struct assay__window_seen *window)
{
    struct assay__model_thread *thread = context;
    pthread_mutex_lock(&thread->lock);
    thread->ran = true;
    thread->state = "running";
    thread->reason = "";
    assay__watched_model_window(&thread->model, window);
    pthread_mutex_unlock(&thread->lock);
}

static void set_state(struct assay__model_thread *thread, const char *state, const char *reason)
{
    pthread_mutex_lock(&thread->lock);
    thread->state = state;
    thread->reason = reason;
    pthread_mutex_unlock(&thread->lock);
}

/* One run; false: it would not help to start it again. */
static bool run_once(struct assay__model_thread *thread)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    set_state(thread, "loading", "");
    int code = assay__run(&thread->options, &profile, &error);
    assay_profile_close(profile);
    if (thread->stop) return false;
    pthread_mutex_lock(&thread->lock);
    thread->error = error;
    thread->error.code = code ? code : ASSAY_EENGINE;
    thread->hopeless = !thread->ran;
    thread->state = "stopped";
    thread->reason = thread->error.message;
    thread->restarts++;
    bool again = thread->ran;
    pthread_mutex_unlock(&thread->lock);
    return again;
}

static void *run_again_and_again(void *argument)
{
    struct assay__model_thread *thread = argument;
    double pause_s = PAUSE_LEAST_S;
    for (;;) {
        uint64_t begin_ns = assay__now_ns();
        if (!run_once(thread)) return NULL;
        if (assay__now_ns() - begin_ns > STEADY_NS) pause_s = PAUSE_LEAST_S;
        uint64_t until_ns = assay__now_ns() + (uint64_t)(pause_s * 1e9);
        while (!thread->stop && assay__now_ns() < until_ns)
            assay__sleep_ns(SLICE_NS);
        if (thread->stop) return NULL;
        pause_s = pause_s * 2 < PAUSE_MOST_S ? pause_s * 2 : PAUSE_MOST_S;
    }
}

int assay__model_thread_new(const struct assay__run_options *options, double window_s,
                            struct assay__model_thread **thread, struct assay_error *error)
{
    struct assay__model_thread *made = *thread = NULL;
    made = calloc(1, sizeof *made);
    if (!made || pthread_mutex_init(&made->lock, NULL)) {
        free(made);
        return assay__no_memory(error);
    }
    made->options = *options;
    made->options.window = take_window;
    made->options.window_context = made;
    made->options.window_s = window_s;
    made->options.measuring.launches = 1;
    made->options.measuring.layers = ASSAY_LAYERS_OFF;
    made->options.keeping.output = NULL;
    made->options.callbacks = (struct assay_callbacks){.interrupt = &made->stop};
    made->name = options->workload.model ? options->workload.model : "script";
    made->device = options->target.device ? options->target.device : "cpu";
    made->state = "loading";
    made->reason = "";
    assay__watched_model_rail(made->device, made->rail, sizeof made->rail);
    *thread = made;
    return 0;
}

/* On the monitor's thread, at each tick. */
static void give(void *context, const struct assay__monitor *monitor, double *values,
                 const char **notes)
{
    struct assay__model_thread *thread = context;
    const char *note = "which rail feeds this device is not known";
    double power_w = NAN;
    if (*thread->rail) power_w = assay__monitor_value(monitor, thread->rail, &note);
    pthread_mutex_lock(&thread->lock);
    assay__watched_model_give(&thread->model, power_w, note, values, notes);
    pthread_mutex_unlock(&thread->lock);
}

struct assay__given_rows assay__model_thread_rows(struct assay__model_thread *thread)
{
    if (!thread) return (struct assay__given_rows){.count = 0};
    return (struct assay__given_rows){assay__watched_model_rows, ASSAY__WATCHED_ROWS, give, thread};
}

const char *assay__model_thread_power(const struct assay__model_thread *thread)
{
    return *thread->rail ? thread->rail : NULL;
}

int assay__model_thread_start(struct assay__model_thread *thread, struct assay_error *error)
{
    thread->started = pthread_create(&thread->thread, NULL, run_again_and_again, thread) == 0;
    return thread->started ? 0 : assay_error_set(error, ASSAY_ENOMEM, "no thread for the model");
}

bool assay__model_thread_show(struct assay__model_thread *thread, struct assay__view *view,
                              struct assay_error *error)
{
    pthread_mutex_lock(&thread->lock);
    view->model = (struct assay__shown_model){.name = thread->name,
                                              .device = thread->device,
                                              .state = thread->state,
                                              .inferences = thread->model.inferences,
                                              .restarts = thread->restarts};
    snprintf(view->model.reason, sizeof view->model.reason, "%.190s", thread->reason);
    bool hopeless = thread->hopeless;
    if (hopeless) *error = thread->error;
    pthread_mutex_unlock(&thread->lock);
    return !hopeless;
}

void assay__model_thread_stop(struct assay__model_thread *thread)
{
    if (!thread) return;
    thread->stop = 1;
    if (thread->started) pthread_join(thread->thread, NULL);
    pthread_mutex_destroy(&thread->lock);
    free(thread);
}
