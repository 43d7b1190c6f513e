/* published.c - the vendors' figures for their cards, copied by hand from the documents named.
 * NVIDIA's data sheets give tensor figures with sparsity; dense ones are half of them. float32 is
 * the figure without tensor cores: what the CUDA provider uses when TF32 is switched off. The whole
 * name is compared: "NVIDIA H200 NVL" is another card. */
#include "ceiling/published.h"

#include <string.h>

#define TERA 1e12
#define UNKNOWN 0

struct card {
    const char *name;                 /* as NVML, or AMD's driver, names it */
    double float32, tf32, half, int8; /* TFLOP/s, TOP/s; half: float16 and bfloat16 */
    double memory;                    /* TB/s */
    const char *source;
};

static const struct card cards[] = {
    {"NVIDIA H200", 67, 494.5, 989.5, 1979, 4.8, "NVIDIA H200 data sheet (SXM), dense"},
    {"NVIDIA H100 80GB HBM3", 67, 494.5, 989.5, 1979, 3.35, "NVIDIA H100 data sheet (SXM), dense"},
    {"NVIDIA H100 PCIe", 51, 378, 756.5, 1513, 2.0, "NVIDIA H100 data sheet (PCIe), dense"},
    {"NVIDIA A100-SXM4-40GB", 19.5, 156, 312, 624, 1.555, "NVIDIA A100 data sheet, dense"},
    {"NVIDIA A100-SXM4-80GB", 19.5, 156, 312, 624, 2.039, "NVIDIA A100 data sheet, dense"},
    {"NVIDIA A100-PCIE-40GB", 19.5, 156, 312, 624, 1.555, "NVIDIA A100 data sheet, dense"},
    {"NVIDIA A100 80GB PCIe", 19.5, 156, 312, 624, 1.935, "NVIDIA A100 data sheet, dense"},
    {"NVIDIA A10", 31.2, 62.5, 125, 250, 0.6, "NVIDIA A10 data sheet, dense"},
    {"NVIDIA L4", 30.3, 60, 121, 242.5, 0.3, "NVIDIA L4 data sheet, dense"},
    {"NVIDIA L40S", 91.6, 183, 362.05, 733, 0.864, "NVIDIA L40S data sheet, dense"},
    {"Tesla T4", 8.1, UNKNOWN, 65, 130, UNKNOWN, "NVIDIA T4 data sheet"},
    {"AMD Instinct MI300X", 163.4, 653.7, 1307.4, 2614.9, 5.3,
     "AMD Instinct MI300X data sheet, dense"},
};

static double figure(const struct card *card, const char *row)
{
    if (strcmp(row, "compute.float32.matmul") == 0) return card->float32;
    if (strcmp(row, "compute.tf32.matmul") == 0) return card->tf32;
    if (strcmp(row, "compute.float16.matmul") == 0) return card->half;
    if (strcmp(row, "compute.bfloat16.matmul") == 0)
        return strcmp(card->name, "Tesla T4") == 0 ? UNKNOWN : card->half; /* Turing has none */
    if (strcmp(row, "compute.int8.matmul") == 0) return card->int8;
    if (strcmp(row, "bandwidth.device.copy") == 0) return card->memory;
    return UNKNOWN;
}

bool assay__published_find(const char *hardware, const char *row, struct assay__published *out)
{
    for (size_t i = 0; hardware && i < sizeof cards / sizeof cards[0]; i++) {
        if (strcmp(cards[i].name, hardware) != 0) continue;
        double value = figure(&cards[i], row);
        if (!(value > 0)) return false;
        *out = (struct assay__published){value * TERA, cards[i].source};
        return true;
    }
    return false;
}
