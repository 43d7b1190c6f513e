/* adapter.c - queries Vulkan or CUDA for the name of the card behind a device.
 *
 * Vulkan: ONNX Runtime's WebGPU provider does not report which adapter it uses. It requests a
 * Vulkan adapter, and a software device (VkPhysicalDeviceType 4, CPU) ranks after every real one.
 * So: when all physical devices are of type CPU the adapter is software for certain; when exactly
 * one is not, that one is the adapter; with several real ones it is unknown which, and so is the
 * name. Limits: devices hidden from this process are not seen.
 *
 * CUDA: cuDeviceGetName numbers devices like the runtime in the same process (CUDA_VISIBLE_DEVICES,
 * CUDA_DEVICE_ORDER). */
#include "engine/adapter.h"

#include "platform/platform.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE_MOST 16u
#define TYPE_CPU 4u

/* --- the part of Vulkan 1.0 that is used ------------------------------------------------------ */

typedef struct VkInstance_T *VkInstance;
typedef struct VkPhysicalDevice_T *VkPhysicalDevice;

struct instance_create_info { /* VkInstanceCreateInfo: sType 1, no layers, no extensions */
    int32_t type;
    const void *next;
    uint32_t flags;
    const void *application;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
};

struct
    /* VkPhysicalDeviceProperties: its head; limits and the like follow (824 bytes in all) */
    device_properties {
    uint32_t api_version, driver_version, vendor_id, device_id;
    uint32_t device_type;
    char device_name[256];
    unsigned char rest[1024];
};

typedef int32_t create_instance_fn(const struct instance_create_info *info, const void *allocator,
                                   VkInstance *instance);
typedef void destroy_instance_fn(VkInstance instance, const void *allocator);
typedef int32_t enumerate_fn(VkInstance instance, uint32_t *count, VkPhysicalDevice *devices);
typedef void properties_fn(VkPhysicalDevice device, struct device_properties *properties);

/* POSIX guarantees that an object pointer from dlsym() can be called; ISO C has no cast for it. */
union vulkan_symbol {
    void *object;
    create_instance_fn *create;
    destroy_instance_fn *destroy;
    enumerate_fn *enumerate;
    properties_fn *properties;
};

static const char *or_default(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : otherwise;
}

/* The device that WebGPU uses. */
static void choose(const struct device_properties *found, uint32_t count,
                   struct assay__adapter *adapter)
{
    uint32_t real = 0, chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (found[i].device_type == TYPE_CPU) continue;
        if (real++ == 0) chosen = i;
    }
    if (real > 1) {
        snprintf(adapter->note, sizeof adapter->note,
                 "the provider does not say which of %u Vulkan devices it uses", (unsigned)real);
        return;
    }
    snprintf(adapter->name, sizeof adapter->name, "%s", found[chosen].device_name);
    adapter->software = real == 0;
    snprintf(adapter->note, sizeof adapter->note, "%s",
             real        ? "the only Vulkan device that is not of type CPU"
             : count > 1 ? "every Vulkan device here is of type CPU"
                         : "the only Vulkan device is of type CPU");
}

/* NULL, or why the adapter is unknown. */
static const char *ask_vulkan(void *library, struct assay__adapter *adapter)
{
    if (!library) return "there is no libvulkan.so.1 to query";
    union vulkan_symbol create = {assay__library_symbol(library, "vkCreateInstance")},
                        destroy = {assay__library_symbol(library, "vkDestroyInstance")},
                        enumerate = {assay__library_symbol(library, "vkEnumeratePhysicalDevices")},
                        get = {assay__library_symbol(library, "vkGetPhysicalDeviceProperties")};
    struct instance_create_info info = {.type = 1};
    VkInstance instance = NULL;
    VkPhysicalDevice devices[DEVICE_MOST] = {NULL};
    struct device_properties found[DEVICE_MOST] = {{0}}; /* 20 kB */
    uint32_t count = DEVICE_MOST;
    if (!create.object || !destroy.object || !enumerate.object || !get.object ||
        create.create(&info, NULL, &instance) != 0)
        return "Vulkan returns no instance";
    /* VK_INCOMPLETE (5): more than requested; these are enough to know that there are several */
    int32_t result = enumerate.enumerate(instance, &count, devices);
    bool listed = result >= 0 && count > 0 && count <= DEVICE_MOST;
    for (uint32_t i = 0; i < count && listed; i++) {
        get.properties(devices[i], &found[i]);
        found[i].device_name[sizeof found[i].device_name - 1] = '\0';
    }
    if (listed) choose(found, count, adapter);
    destroy.destroy(instance, NULL);
    return listed ? NULL : "Vulkan lists no device";
}

void assay__adapter_vulkan(struct assay__adapter *adapter)
{
    *adapter = (struct assay__adapter){0};
    void *library = assay__library_open(or_default("ASSAY_VULKAN_LIBRARY", "libvulkan.so.1"), NULL);
    const char *unknown = ask_vulkan(library, adapter);
    if (unknown)
        snprintf(adapter->note, sizeof adapter->note, "its adapter is unknown: %s", unknown);
    if (library) assay__library_close(library);
}

typedef int cuda_init_fn(unsigned flags);
typedef int cuda_get_fn(int *device, int number);
typedef int cuda_name_fn(char *name, int size, int device);

union cuda_symbol {
    void *object;
    cuda_init_fn *init;
    cuda_get_fn *get;
    cuda_name_fn *name;
};

void assay__adapter_cuda(int number, struct assay__adapter *adapter)
{
    *adapter = (struct assay__adapter){0};
    void *library = assay__library_open(or_default("ASSAY_CUDA_LIBRARY", "libcuda.so.1"), NULL);
    if (!library) return;
    union cuda_symbol init = {assay__library_symbol(library, "cuInit")},
                      get = {assay__library_symbol(library, "cuDeviceGet")},
                      name = {assay__library_symbol(library, "cuDeviceGetName")};
    int device = 0;
    if (init.object && get.object && name.object && init.init(0) == 0 &&
        get.get(&device, number) == 0 &&
        name.name(adapter->name, (int)sizeof adapter->name - 1, device) == 0)
        snprintf(adapter->note, sizeof adapter->note, "named by the CUDA driver");
    else
        adapter->name[0] = '\0';
    /* not closed: the provider uses the same library */
}
