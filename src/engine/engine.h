/* engine.h - what the built-in engines share: their rows for the registry, and the reading of
 * session options. */
#ifndef ASSAY_ENGINE_ENGINE_H
#define ASSAY_ENGINE_ENGINE_H

#include "profile/facts.h"

#include <assay/engine.h>

struct assay__arena;

extern const struct assay_engine_ops assay__engine_ort;
extern const struct assay_engine_ops assay__engine_fake;

/** The fake engine's devices (fake_devices.c). */
int assay__fake_devices(const char *library, assay_device_fn *found, void *context,
                        struct assay_error *error);
int assay__fake_devices_each(const char *library, assay_device_about_fn *about,
                             assay_device_fn *found, void *context, struct assay_error *error);

/** The class of a device by its name, without a build's prefix: what the engine's table says. */
enum assay__device_class assay__engine_device_class(const char *engine, const char *device);

const char *assay__fake_device_kind(const char *name);
bool assay__fake_has_device(const char *name);
/** What $ASSAY_FAKE_SCRIPTS adds to the script on that device, in the arena; NULL: nothing, or out
 *  of memory. */
const char *assay__fake_device_script(const char *device, struct assay__arena *arena);
/** Its "gone=N:FILE": the N-th opening worked, this one does not. */
int assay__fake_device_gone(const char *script, struct assay_error *error);

/** Which provider would get which node: ort_assignment.c, fake_assignment.c. */
int assay__ort_assignment(const struct assay_assignment_options *options, assay_assigned_fn *found,
                          void *context, struct assay_error *error);
int assay__fake_assignment(const struct assay_assignment_options *options, assay_assigned_fn *found,
                           void *context, struct assay_error *error);
/** As assay__session_options_read. */
int assay__assignment_options_read(const struct assay_assignment_options *given,
                                   struct assay_assignment_options *own, struct assay_error *error);

/** A caller's options as this library knows them: members the caller's (older) struct does not have
 * are zero; bytes that this library does not know must be zero, else ASSAY_EINVAL. */
int assay__session_options_read(const struct assay_session_options *given,
                                struct assay_session_options *own, struct assay_error *error);

/** The counters that a caller asks of layers(); NULL: none, or its (older) struct has no place for
 *  them. */
const struct assay_layer_counters *assay__layer_counters(const struct assay_layer_options *options);

/** Tests: told of each step of the fake engine (1) and of each of its layers (its share of a step).
 *  NULL: nobody. */
extern void (*assay__fake_step_hook)(double steps);

#endif
