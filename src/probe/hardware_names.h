/* hardware_names.h - who made a PCI device and what it is called, from tables of our own. Inside
 * probe/ only. */
#ifndef ASSAY_PROBE_HARDWARE_NAMES_H
#define ASSAY_PROBE_HARDWARE_NAMES_H

/** "AMD" of 0x1002; "" unknown. */
const char *assay__pci_vendor(unsigned vendor);
/** "Intel NPU (Meteor Lake)" of 0x8086, 0x7d1d; "" where we are not certain. */
const char *assay__pci_name(unsigned vendor, unsigned device);
/** What the kernel's module for that NPU is called; "" when it is none that we know: the PCI class
 *  alone does not tell. */
const char *assay__pci_npu_module(unsigned vendor, unsigned device);
/** Not NULL: a display adapter that computes nothing (of a virtual machine, of a service
 *  processor), in words. */
const char *assay__pci_display_only(unsigned vendor);

#endif
