/* hardware_names.c - PCI numbers and what they stand for. Only where we are certain: the
 * identifiers that the kernel's drivers bind to, and products of which the number names one chip.
 * Everything else is shown by its numbers. */
#include "probe/hardware_names.h"

#include <stddef.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct {
    unsigned vendor;
    const char *name;
    const char *display_only; /* in words; NULL: it can compute */
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
static const struct {
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

const char *assay__pci_vendor(unsigned vendor)
{
    for (size_t i = 0; i < COUNT(vendors); i++)
        if (vendors[i].vendor == vendor) return vendors[i].name;
    return "";
}

const char *assay__pci_display_only(unsigned vendor)
{
    for (size_t i = 0; i < COUNT(vendors); i++)
        if (vendors[i].vendor == vendor) return vendors[i].display_only;
    return NULL;
}

const char *assay__pci_name(unsigned vendor, unsigned device)
{
    for (size_t i = 0; i < COUNT(devices); i++)
        if (devices[i].vendor == vendor && devices[i].device == device) return devices[i].name;
    return "";
}

const char *assay__pci_npu_module(unsigned vendor, unsigned device)
{
    for (size_t i = 0; i < COUNT(devices); i++)
        if (devices[i].vendor == vendor && devices[i].device == device) return devices[i].module;
    return "";
}
