/* hardware.c - GPUs and NPUs that the operating system lists, from four places, each device once
 * (by its PCI address):
 *   NVML                    NVIDIA's cards, with name, memory and the driver's version
 *   /sys/class/drm/cardN    GPUs with a driver: vendor and device, device/uevent (DRIVER=,
 *                           PCI_SLOT_NAME=), of amdgpu also product_name and mem_info_vram_total
 *   /sys/class/accel/accelN NPUs with a driver: device/uevent
 *   /sys/bus/pci/devices    devices without a driver, or with one that creates no such entry: PCI
 *                           classes 0x03 (display) and 0x12 (processing accelerator), and the NPUs
 *                           we know
 * On a Mac: IOKit's registry. Names are the driver's own, else from our small table, else the PCI
 * numbers.
 *
 * A display adapter of a virtual machine or of a service processor is listed, and its note says
 * what it is. */
#include "probe/hardware.h"

#include "base/no_memory.h"
#include "platform/accelerators.h"
#include "probe/nvml.h"
#include "probe/sysfs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DRM "/sys/class/drm"
#define ACCEL "/sys/class/accel"
#define PCI "/sys/bus/pci/devices"
#define NVIDIA 0x10deu
#define MAC_MOST 16
#define NVIDIA_DRIVER \
    "sudo apt install nvidia-driver (Debian); sudo ubuntu-drivers install (Ubuntu)"
#define NVIDIA_LIBRARY \
    "sudo apt install libnvidia-ml1 (Debian); in a container: docker run --gpus all …"

/* --- PCI numbers ------------------------------------------------------------------------------ */

/* Only those that are certain: the identifiers that the kernel's drivers bind to, and products
 * whose number names one chip. Everything else is shown by its numbers. */
static const struct vendor {
    unsigned vendor;
    const char *name;
    const char *display_only; /* why it cannot compute; NULL: it can */
} vendors[] = {
    {0x10de, "NVIDIA", NULL},
    {0x1002, "AMD", NULL},
    {0x1022, "AMD", NULL},
    {0x8086, "Intel", NULL},
    {0x17cb, "Qualcomm", NULL},
    {0x1da3, "Habana", NULL},
    {0x106b, "Apple", NULL},
    {0x1af4, "Red Hat", "the virtio display adapter of a virtual machine"},
    {0x15ad, "VMware", "the display adapter of a virtual machine"},
    {0x1234, "QEMU", "the display adapter of a virtual machine"},
    {0x1b36, "Red Hat", "the display adapter of a virtual machine"},
    {0x1013, "Cirrus Logic", "the display adapter of a virtual machine"},
    {0x1414, "Microsoft", "the display adapter of a virtual machine"},
    {0x1a03, "ASPEED", "the display adapter of the server's service processor"},
    {0x102b, "Matrox", "the display adapter of the server's service processor"},
};

/* Those with a module are NPUs. */
static const struct device {
    unsigned vendor, device;
    const char *name, *module;
} devices[] = {
    {0x8086, 0x7d1d, "Intel NPU (Meteor Lake)", "intel_vpu"},
    {0x8086, 0xad1d, "Intel NPU (Arrow Lake)", "intel_vpu"},
    {0x8086, 0x643e, "Intel NPU (Lunar Lake)", "intel_vpu"},
    {0x8086, 0xb03e, "Intel NPU (Panther Lake)", "intel_vpu"},
    {0x1022, 0x1502, "AMD NPU (XDNA)", "amdxdna"},
    {0x1022, 0x17f0, "AMD NPU (XDNA 2)", "amdxdna"},
    {0x17cb, 0xa080, "Qualcomm Cloud AI 080", "qaic"},
    {0x17cb, 0xa100, "Qualcomm Cloud AI 100", "qaic"},
    {0x1da3, 0x1000, "Habana Gaudi", "habanalabs"},
    {0x1da3, 0x1020, "Habana Gaudi 2", "habanalabs"},
    {0x1002, 0x738c, "AMD Instinct MI100", ""},
    {0x1002, 0x740c, "AMD Instinct MI250X / MI250", ""},
    {0x1002, 0x740f, "AMD Instinct MI210", ""},
    {0x1002, 0x74a0, "AMD Instinct MI300A", ""},
    {0x1002, 0x74a1, "AMD Instinct MI300X", ""},
    {0x1002, 0x73bf, "AMD Radeon RX 6800 / 6900 series (Navi 21)", ""},
    {0x1002, 0x744c, "AMD Radeon RX 7900 series (Navi 31)", ""},
    {0x8086, 0x56a0, "Intel Arc A770", ""},
    {0x8086, 0x56a1, "Intel Arc A750", ""},
    {0x8086, 0x56a5, "Intel Arc A380", ""},
    {0x8086, 0xe20b, "Intel Arc B580", ""},
    {0x8086, 0xe20c, "Intel Arc B570", ""},
    {0x8086, 0x0bd5, "Intel Data Center GPU Max 1550", ""},
};

static const struct vendor *vendor_of(unsigned vendor)
{
    static const struct vendor unknown = {0, "", NULL};
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++)
        if (vendors[i].vendor == vendor) return &vendors[i];
    return &unknown;
}

static const struct device *device_of(unsigned vendor, unsigned device)
{
    static const struct device unknown = {0, 0, "", ""};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (devices[i].vendor == vendor && devices[i].device == device) return &devices[i];
    return &unknown;
}

/* --- the list --------------------------------------------------------------------------------- */

struct list {
    struct assay__arena *arena;
    struct assay__hardware *items;
    size_t count;
    const char *nvml_reason; /* why NVML lists nothing; "" it does */
    bool nvml_whole; /* its cards have no addresses: NVIDIA cards are not added from files */
};

static bool seen(const struct list *list, const char *pci)
{
    for (size_t i = 0; *pci && i < list->count; i++)
        if (strcmp(list->items[i].pci, pci) == 0) return true;
    return false;
}

/* What is not said is "". */
static void add(struct list *list, struct assay__hardware item)
{
    const char **texts[] = {&item.kind,           &item.name, &item.vendor, &item.driver,
                            &item.driver_version, &item.pci,  &item.uuid,   &item.source,
                            &item.note,           &item.help};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!*texts[i]) *texts[i] = "";
    void *grown = assay__arena_grow(list->arena, list->items, list->count, sizeof *list->items);
    if (!grown) return;
    list->items = grown;
    list->items[list->count++] = item;
}

/* --- one device of PCI ------------------------------------------------------------------------ */

struct pci {
    unsigned vendor, device; /* 0 unknown */
    unsigned class_code;     /* 0x030000; 0 unknown */
    const char *address;     /* "" unknown */
    const char *driver;      /* "" none or unknown */
    bool driver_known;       /* uevent was read */
};

/* Reads "0x1002\n" from a file; 0 if it does not exist. */
static unsigned number_of(struct list *list, const char *folder, const char *name)
{
    const char *text = assay__sysfs_text(list->arena, "%s/%s", folder, name);
    unsigned long value = text && strncmp(text, "0x", 2) == 0 ? strtoul(text, NULL, 16) : 0;
    return value <= 0xffffffu ? (unsigned)value : 0;
}

static struct pci read_pci(struct list *list, const char *folder)
{
    const char *uevent = assay__sysfs_text(list->arena, "%s/uevent", folder);
    struct pci pci = {.vendor = number_of(list, folder, "vendor"),
                      .device = number_of(list, folder, "device"),
                      .class_code = number_of(list, folder, "class"),
                      .address = assay__sysfs_line(list->arena, uevent, "PCI_SLOT_NAME"),
                      .driver = assay__sysfs_line(list->arena, uevent, "DRIVER"),
                      .driver_known = uevent != NULL};
    const char *ids = assay__sysfs_line(list->arena, uevent, "PCI_ID"); /* "8086:7D1D" */
    char *end;
    if (!pci.vendor && *ids) {
        pci.vendor = (unsigned)strtoul(ids, &end, 16) & 0xffffu;
        if (*end == ':') pci.device = (unsigned)strtoul(end + 1, NULL, 16) & 0xffffu;
    }
    return pci;
}

static const char *pci_name(struct list *list, const struct pci *pci)
{
    const char *known = device_of(pci->vendor, pci->device)->name;
    if (*known || !pci->vendor || !pci->device) return known;
    return assay__arena_text(list->arena, "0x%04x:0x%04x", pci->vendor, pci->device);
}

/* --- what is wrong with it -------------------------------------------------------------------- */

struct remark {
    const char *note, *help;
};

static struct remark nvidia_remark(struct list *list, const struct pci *pci)
{
    if (strcmp(pci->driver, "nouveau") == 0)
        return (struct remark){"its driver is nouveau, which does not support compute",
                               NVIDIA_DRIVER};
    if (pci->driver_known && !*pci->driver)
        return (struct remark){"no driver is loaded", NVIDIA_DRIVER};
    const char *why = list->nvml_reason;
    if (why == assay__nvml_no_library) /* but this one has its module */
        return (struct remark){"the library of its driver (NVML, libnvidia-ml.so.1) is missing",
                               NVIDIA_LIBRARY};
    return (struct remark){
        assay__arena_text(list->arena, "NVML does not list it%s%s", *why ? ": " : "", why), ""};
}

static struct remark remark_of(struct list *list, const struct pci *pci)
{
    const char *module = device_of(pci->vendor, pci->device)->module;
    const char *words = vendor_of(pci->vendor)->display_only;
    if (words)
        return (struct remark){assay__arena_text(list->arena, "%s: it cannot compute", words), ""};
    if (strcmp(pci->driver, "vfio-pci") == 0)
        return (struct remark){
            "it is reserved for virtual machines (vfio-pci): this system cannot use it", ""};
    if (pci->vendor == NVIDIA) return nvidia_remark(list, pci);
    if (!pci->driver_known || *pci->driver) return (struct remark){"", ""};
    bool gpu = pci->class_code >> 16 == 3;
    if (!*module && gpu && pci->vendor == 0x1002) module = "amdgpu";
    if (!*module && gpu && pci->vendor == 0x8086) module = "xe (older ones: i915)";
    return (struct remark){"no driver is loaded",
                           *module ? assay__arena_text(list->arena, "sudo modprobe %s", module)
                                   : ""};
}

/* --- the places ------------------------------------------------------------------------------- */

static void add_nvml(struct list *list)
{
    size_t count;
    const struct assay__nvml_gpu *gpus = assay__nvml_gpus(list->arena, &count, &list->nvml_reason);
    for (size_t i = 0; i < count; i++) {
        if (!*gpus[i].pci) list->nvml_whole = true;
        add(list, (struct assay__hardware){.kind = "gpu",
                                           .name = gpus[i].name,
                                           .vendor = "NVIDIA",
                                           .driver = "nvidia",
                                           .driver_version = gpus[i].driver_version,
                                           .memory_bytes = gpus[i].memory_bytes,
                                           .pci = gpus[i].pci,
                                           .uuid = gpus[i].uuid,
                                           .source = "NVML"});
    }
}

static void add_device(struct list *list, const char *folder, const char *source, bool gpu)
{
    static const char *const npus[][2] = {{"intel_vpu", "Intel"}, {"amdxdna", "AMD"},
                                          {"qaic", "Qualcomm"},   {"habanalabs", "Habana"},
                                          {"rocket", "Rockchip"}, {"ethosu", "Arm"}};
    struct pci pci = read_pci(list, folder);
    double bytes = 0;
    if (seen(list, pci.address) || (gpu && pci.vendor == NVIDIA && list->nvml_whole)) return;
    struct remark remark = remark_of(list, &pci);
    const char *vendor = vendor_of(pci.vendor)->name, *name = NULL;
    for (size_t i = 0; !gpu && i < sizeof npus / sizeof npus[0]; i++)
        if (strcmp(pci.driver, npus[i][0]) == 0) vendor = npus[i][1];
    if (gpu) name = assay__sysfs_text(list->arena, "%s/product_name", folder);
    if (gpu && (!name || !*name) && *pci.address) /* the kernel module's own file, without NVML */
        name = assay__sysfs_line(
            list->arena,
            assay__sysfs_text(list->arena, "/proc/driver/nvidia/gpus/%s/information", pci.address),
            "Model");
    if (!name || !*name) name = pci_name(list, &pci);
    if (!gpu && !*name && *vendor) name = assay__arena_text(list->arena, "%s NPU", vendor);
    if (gpu) assay__sysfs_value(&bytes, "%s/mem_info_vram_total", folder);
    add(list, (struct assay__hardware){.kind = gpu ? "gpu" : "npu",
                                       .name = name,
                                       .vendor = vendor,
                                       .driver = pci.driver,
                                       .memory_bytes = bytes > 0 ? (uint64_t)bytes : 0,
                                       .pci = pci.address,
                                       .source = source,
                                       .note = remark.note,
                                       .help = remark.help});
}

/* Devices with a driver: /sys/class/drm/cardN, /sys/class/accel/accelN. */
static void add_class(struct list *list, bool gpus)
{
    const char *class = gpus ? DRM : ACCEL;
    const char **all = assay__sysfs_list(list->arena, class, gpus ? "card" : "accel");
    for (; all && *all; all++) {
        if (gpus && !assay__sysfs_is_card(*all)) continue;
        const char *source = assay__arena_text(list->arena, "%s/%s", class, *all);
        const char *folder = assay__arena_text(list->arena, "%s/device", source);
        add_device(list, folder, source, gpus);
    }
}

/* What those did not show. */
static void add_pci(struct list *list, bool gpus)
{
    const char **all = assay__sysfs_list(list->arena, PCI, "");
    for (; all && *all; all++) {
        const char *folder = assay__arena_text(list->arena, PCI "/%s", *all);
        unsigned base = number_of(list, folder, "class") >> 16;
        if (gpus ? base != 0x03 : base != 0x11 && base != 0x12) continue;
        bool npu = base == 0x12 ||
                   *device_of(number_of(list, folder, "vendor"), number_of(list, folder, "device"))
                        ->module;
        if (seen(list, *all) || (!gpus && !npu)) continue;
        size_t before = list->count;
        add_device(list, folder, PCI, gpus);
        if (list->count > before && !*list->items[before].pci) list->items[before].pci = *all;
    }
}

static void add_mac(struct list *list, const char *kind)
{
    struct assay__os_accelerator items[MAC_MOST];
    size_t count = assay__accelerators(list->arena, items, MAC_MOST);
    for (size_t i = 0; i < count; i++) {
        const struct assay__os_accelerator *a = &items[i];
        if (strcmp(a->kind, kind) != 0) continue;
        bool apple = strncmp(a->name, "Apple", 5) == 0;
        const char *name = a->name;
        if (a->cores > 0) name = assay__arena_text(list->arena, "%s, %d cores", a->name, a->cores);
        add(list, (struct assay__hardware){.kind = kind,
                                           .name = name,
                                           .vendor = apple ? "Apple" : "",
                                           .driver = a->driver,
                                           .source = "IOKit",
                                           .note = apple ? "it shares the machine's memory" : ""});
    }
}

int assay__hardware_list(struct assay__arena *arena, const struct assay__hardware **items,
                         size_t *count, struct assay_error *error)
{
    struct list list = {.arena = arena, .nvml_reason = ""};
    add_nvml(&list);
    for (int npus = 0; npus < 2; npus++) {
        add_class(&list, !npus);
        add_pci(&list, !npus);
        add_mac(&list, npus ? "npu" : "gpu");
    }
    bool failed = assay__arena_failed(arena);
    *items = failed ? NULL : list.items;
    *count = failed ? 0 : list.count;
    return failed ? assay__no_memory(error) : 0;
}
