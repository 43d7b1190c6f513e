/* nvml_abi.h - the part of the NVIDIA Management Library's binary interface that nvml.c uses,
 * declared by us from its public documentation: the library comes with the driver and is loaded at
 * run time. Numbers and layouts are stable across drivers; what changed got a new symbol name (_v2,
 * _v3). */
#ifndef ASSAY_PROBE_NVML_ABI_H
#define ASSAY_PROBE_NVML_ABI_H

enum nvml_result {
    NVML_OK = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_VERSION_MISMATCH = 18, /* library and kernel module */
    NVML_NO_DATA = 21,
    NVML_UNKNOWN = 999,
};

enum nvml_clock { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum nvml_pcie { NVML_PCIE_SENT = 0, NVML_PCIE_RECEIVED = 1 }; /* as seen from the GPU */
#define NVML_TEMPERATURE_GPU 0

/* Why clocks are lower than they could be: bits. */
#define NVML_SLOW_IDLE 0x1ull
#define NVML_SLOW_SETTING 0x2ull
#define NVML_SLOW_POWER_CAP 0x4ull
#define NVML_SLOW_HARDWARE 0x8ull
#define NVML_SLOW_THERMAL_SOFTWARE 0x20ull
#define NVML_SLOW_THERMAL_HARDWARE 0x40ull
#define NVML_SLOW_POWER_BRAKE 0x80ull

#define NVML_NOT_AVAILABLE (~0ull) /* memory of a process */
#define NVML_NAME_SIZE 96

struct nvml_utilization {
    unsigned gpu, memory; /* per cent of the last sample period (1/6 s … 1 s) */
};

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

struct nvml_process { /* of the _v2 and _v3 calls */
    unsigned pid;
    unsigned long long used; /* bytes */
    unsigned gpu_instance, compute_instance;
};

/* Later versions of the call write all of it, the first one less. */
struct nvml_pci {
    char old_text[16];
    unsigned domain, bus, device;
    unsigned ids, subsystem_ids; /* device << 16 | vendor */
    char text[32];
};

/* Each returns an nvml_result; a device is an opaque pointer. */
struct nvml_calls {
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int result);
    int (*count)(unsigned *count);
    int (*by_index)(unsigned index, void **device);
    int (*name)(void *device, char *name, unsigned size);
    int (*uuid)(void *device, char *uuid, unsigned size);
    int (*driver_version)(char *version, unsigned size);
    int (*pci)(void *device, struct nvml_pci *pci);
    int (*power)(void *device, unsigned *milliwatts);
    int (*energy)(void *device, unsigned long long *millijoules); /* since the driver was loaded */
    int (*clock)(void *device, int kind, unsigned *megahertz);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
    int (*utilization)(void *device, struct nvml_utilization *utilization);
    int (*memory)(void *device, struct nvml_memory *memory);
    int (*slow_reasons)(void *device, unsigned long long *bits);
    int (*pcie)(void *device, int direction, unsigned *kilobytes_per_s); /* waits 20 ms */
    int (*pcie_generation)(void *device, unsigned *generation);
    int (*pcie_width)(void *device, unsigned *lanes);
    /* In: capacity of `all`; out: how many there are. */
    int (*processes)(void *device, unsigned *count, struct nvml_process *all);
};

#endif
