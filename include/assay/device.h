/* device.h - the devices a model can run on, and why others cannot. Each is tried with a tiny model
 * in a separate process. */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <assay/error.h>
#include <assay/run.h>
#include <stdbool.h>
#include <stddef.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_devices_options {
    size_t size;
    const char *engine;  /* only its devices; NULL: every engine's */
    const char *library; /* of the engine; NULL: found as for a run */
    const char *device;  /* only this one */
    double timeout_s;    /* for a device to answer; 0: 30 */
    struct assay_callbacks callbacks;
};

struct assay_device {
    size_t size;      /* sizeof, set by the caller */
    const char *name; /* what assay_target_options.device takes: "cpu", "ovn/openvino:cpu" */
    const char *kind; /* "cpu" | "gpu" | "npu" */
    const char *engine, *library, *version;
    const char *hardware; /* the card behind it; "" unknown */
    bool software;        /* emulated on the CPU */
    bool available;
    const char *reason; /* why it is not; "" */
};

struct assay_devices;

/** Finds the devices. *devices is owned by the caller. options NULL: defaults. ASSAY_EINTERRUPTED
 * with what was found so far. May be called from several threads at once. */
ASSAY_API int assay_devices(const struct assay_devices_options *options,
                            struct assay_devices **devices, struct assay_error *error);
/** Fills *device, whose strings are borrowed until assay_devices_free; false past the end, when
 *  devices is NULL or size is not set. */
ASSAY_API bool assay_devices_at(const struct assay_devices *devices, size_t index,
                                struct assay_device *device);
/** NULL legal. */
ASSAY_API void assay_devices_free(struct assay_devices *devices);

#endif
