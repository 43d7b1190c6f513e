/* watch_model.h - a model that runs again and again on a thread of its own while `assay watch`
 * shows it: started, restarted with growing pauses when it fails, stopped. */
#ifndef ASSAY_CLI_WATCH_MODEL_H
#define ASSAY_CLI_WATCH_MODEL_H

#include "monitor/monitor.h"
#include "run/run_options.h"

struct assay__model_thread;

/** Nothing runs yet. options: borrowed until it is stopped; the windows' length is window_s. 0 or
 * ASSAY_ENOMEM. */
int assay__model_thread_new(const struct assay__run_options *options, double window_s,
                            struct assay__model_thread **thread, struct assay_error *error);
/** The rows that it gives to a monitor, which must end before it is stopped. NULL: none. */
struct assay__given_rows assay__model_thread_rows(struct assay__model_thread *thread);
/** The row with the power of its device; NULL: not known. */
const char *assay__model_thread_power(const struct assay__model_thread *thread);
int assay__model_thread_start(struct assay__model_thread *thread, struct assay_error *error);
/** Says in the view what it is doing. False: it could not be run even once, and the error says why.
 */
bool assay__model_thread_show(struct assay__model_thread *thread, struct assay__view *view,
                              struct assay_error *error);
/** Ends its worker, waits for that, and frees it. NULL legal. */
void assay__model_thread_stop(struct assay__model_thread *thread);

#endif
