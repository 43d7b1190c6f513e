/* kernel_class.c - kernel names and what they mean. Names are compared in lower case and cut at
 * NAME_BYTES, after which templates only repeat themselves. */
#include "explain/kernel_class.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NAME_BYTES 4096

#define WORD(id, name) name,
const char *const assay__kernel_kinds[] = {ASSAY__KERNEL_KIND_ROWS(WORD)};
#undef WORD
const char *const assay__kernel_traits[] = {"float64", "strided",    "naive",  "matrix-units",
                                            "tuned",   "vectorised", "float32"};

struct pattern {
    const char *text;
    enum assay__kernel_kind kind;
};

/* The first that the name contains decides: what is special stands before what it contains. */
static const struct pattern patterns[] = {
    {"nccl", ASSAY__KERNEL_COMMUNICATION},
    {"rccl", ASSAY__KERNEL_COMMUNICATION},
    {"oneccl", ASSAY__KERNEL_COMMUNICATION},
    {"allreduce", ASSAY__KERNEL_COMMUNICATION},
    {"all_reduce", ASSAY__KERNEL_COMMUNICATION},
    {"allgather", ASSAY__KERNEL_COMMUNICATION},
    {"all_gather", ASSAY__KERNEL_COMMUNICATION},
    {"reduce_scatter", ASSAY__KERNEL_COMMUNICATION},
    {"reducescatter", ASSAY__KERNEL_COMMUNICATION},
    {"cross_device_reduce", ASSAY__KERNEL_COMMUNICATION},
    {"multi_tensor_apply", ASSAY__KERNEL_OPTIMISER},
    {"fused_adam", ASSAY__KERNEL_OPTIMISER},
    {"fusedadam", ASSAY__KERNEL_OPTIMISER},
    {"flash", ASSAY__KERNEL_ATTENTION},
    {"fmha", ASSAY__KERNEL_ATTENTION},
    {"attention", ASSAY__KERNEL_ATTENTION},
    {"sdpa", ASSAY__KERNEL_ATTENTION},
    {"softmax", ASSAY__KERNEL_SOFTMAX},
    {"fprop", ASSAY__KERNEL_CONVOLUTION},
    {"dgrad", ASSAY__KERNEL_CONVOLUTION},
    {"wgrad", ASSAY__KERNEL_CONVOLUTION},
    {"conv", ASSAY__KERNEL_CONVOLUTION},
    {"winograd", ASSAY__KERNEL_CONVOLUTION},
    {"im2col", ASSAY__KERNEL_CONVOLUTION},
    {"col2im", ASSAY__KERNEL_CONVOLUTION},
    {"vol2col", ASSAY__KERNEL_CONVOLUTION},
    {"scudnn", ASSAY__KERNEL_CONVOLUTION}, /* cuDNN's first generation: single precision … */
    {"hcudnn", ASSAY__KERNEL_CONVOLUTION}, /* … and half */
    {"cask_cudnn", ASSAY__KERNEL_CONVOLUTION},
    {"batch_norm", ASSAY__KERNEL_NORMALISATION},
    {"batchnorm", ASSAY__KERNEL_NORMALISATION},
    {"bn_fw", ASSAY__KERNEL_NORMALISATION},
    {"bn_bw", ASSAY__KERNEL_NORMALISATION},
    {"layer_norm", ASSAY__KERNEL_NORMALISATION},
    {"layernorm", ASSAY__KERNEL_NORMALISATION},
    {"rms_norm", ASSAY__KERNEL_NORMALISATION},
    {"rmsnorm", ASSAY__KERNEL_NORMALISATION},
    {"group_norm", ASSAY__KERNEL_NORMALISATION},
    {"rowwisemoments", ASSAY__KERNEL_NORMALISATION},
    {"splitkreduce", ASSAY__KERNEL_GEMM},
    {"gemm", ASSAY__KERNEL_GEMM},
    {"gemv", ASSAY__KERNEL_GEMM},
    {"gemmk1", ASSAY__KERNEL_GEMM},
    {"dot_kernel", ASSAY__KERNEL_GEMM},
    {"matmul", ASSAY__KERNEL_GEMM},
    {"nvjet", ASSAY__KERNEL_GEMM},
    {"cijk_", ASSAY__KERNEL_GEMM},
    {"cutlass", ASSAY__KERNEL_GEMM},
    {"xmma", ASSAY__KERNEL_GEMM},
    {"wgmma", ASSAY__KERNEL_GEMM},
    {"cublaslt", ASSAY__KERNEL_GEMM},
    {"_mm_", ASSAY__KERNEL_GEMM},
    {"scal_kernel", ASSAY__KERNEL_GEMM}, /* BLAS: alpha and beta of a product */
    {"direct_copy", ASSAY__KERNEL_COPYING},
    {"catarray", ASSAY__KERNEL_COPYING},
    {"memcpy", ASSAY__KERNEL_COPYING},
    {"transpose", ASSAY__KERNEL_COPYING},
    {"permute", ASSAY__KERNEL_COPYING},
    {"copy_kernel", ASSAY__KERNEL_COPYING},
    {"fillfunctor", ASSAY__KERNEL_COPYING},
    {"memset", ASSAY__KERNEL_COPYING},
    {"sort", ASSAY__KERNEL_SORT},
    {"topk", ASSAY__KERNEL_SORT},
    {"embedding", ASSAY__KERNEL_INDEXING},
    {"index", ASSAY__KERNEL_INDEXING},
    {"gather", ASSAY__KERNEL_INDEXING},
    {"scatter", ASSAY__KERNEL_INDEXING},
    {"distribution", ASSAY__KERNEL_RANDOM},
    {"philox", ASSAY__KERNEL_RANDOM},
    {"dropout", ASSAY__KERNEL_RANDOM},
    {"reduce", ASSAY__KERNEL_REDUCTION},
    {"triton_red", ASSAY__KERNEL_REDUCTION},
    {"triton_per", ASSAY__KERNEL_REDUCTION},
    {"triton_poi", ASSAY__KERNEL_ELEMENTWISE},
    {"elementwise", ASSAY__KERNEL_ELEMENTWISE},
    {"element_wise", ASSAY__KERNEL_ELEMENTWISE},
    {"pointwise", ASSAY__KERNEL_ELEMENTWISE},
    {"activation", ASSAY__KERNEL_ELEMENTWISE},
    {"gelu", ASSAY__KERNEL_ELEMENTWISE},
    {"relu", ASSAY__KERNEL_ELEMENTWISE},
    {"silu", ASSAY__KERNEL_ELEMENTWISE},
    {"binary", ASSAY__KERNEL_ELEMENTWISE},
    {"unary", ASSAY__KERNEL_ELEMENTWISE},
};

static bool has(const char *name, const char *text)
{
    return strstr(name, text) != NULL;
}

static bool has_any(const char *name, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has(name, texts[i])) return true;
    return false;
}
#define HAS_ANY(name, ...)                            \
    has_any(name, (const char *const[]){__VA_ARGS__}, \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* The text between characters that cannot be part of a word. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = name; (at = strstr(at, word)); at += length) {
        bool begins = at == name || !isalnum((unsigned char)at[-1]);
        bool ends = !isalnum((unsigned char)at[length]);
        if (begins && ends) return true;
    }
    return false;
}

/* "f64" of "gemm_f64f64_f64": not after a letter, not before a digit. */
static bool has_type(const char *name, const char *type)
{
    size_t length = strlen(type);
    for (const char *at = name; (at = strstr(at, type)); at += length)
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isdigit((unsigned char)at[length]))
            return true;
    return false;
}

/* A template with double and no smaller type computes in it; with both, it is an argument. */
static bool is_float64(const char *name)
{
    if (has_type(name, "f64") || has_type(name, "fp64") || has_word(name, "float64") ||
        HAS_ANY(name, "dgemm", "d884gemm", "zgemm", "dgemv", "cijk_ailk_bljk_db_",
                "cijk_alik_bljk_db_", "cijk_ailk_bjlk_db_", "cijk_alik_bjlk_db_"))
        return true;
    return has_word(name, "double") && !has_word(name, "float") && !has_word(name, "half") &&
           !HAS_ANY(name, "bfloat16", "float16", "c10::half", "f32", "f16");
}

/* PyTorch's element-wise kernel without vector loads: for operands that are not contiguous. Of
 * additions and products it also serves broadcasting, so that only copies and unary functions say
 * that memory is read through strides. */
static bool is_strided(const char *name)
{
    const char *kernel = strstr(name, "elementwise_kernel<");
    if (!kernel || HAS_ANY(name, "vectorized_elementwise", "unrolled_elementwise",
                           "index_elementwise", "distribution_elementwise"))
        return has(name, "strided_copy") || has(name, "noncontiguous");
    return has(name, "direct_copy") || has(name, "unaryfunctor") || has(name, "_kernel_cuda");
}

static bool uses_matrix_units(const char *name)
{
    if (HAS_ANY(name, "simt", "ffma", "f64", "dgemm", "sgemm")) return false;
    return HAS_ANY(name, "nvjet", "tensorop", "wgmma", "hmma", "h884", "s884", "h1688", "s1688",
                   "h16816", "s16816", "i8816", "i16832", "bf16", "fp16", "tf32", "e4m3", "e5m2",
                   "f16f16", "warpgroup", "_mi16x16", "_mi32x32", "_xdl", "mfma", "wmma",
                   "flash_fwd", "flash_bwd", "fmha", "hgemm", "tensor16x8", "device_kernel");
}

static bool is_tuned(const char *name)
{
    return HAS_ANY(name, "nvjet", "cutlass", "xmma", "cublas", "cudnn", "cijk_", "ampere_",
                   "volta_", "turing_", "hopper_", "maxwell_", "gemmsn", "sgemm_largek", "gemv2",
                   "flash", "fmha", "ck_tile", "ck::", "sm80_", "sm90_", "sm100_", "sm86_",
                   "sm75_");
}

static unsigned traits_of(const char *name, enum assay__kernel_kind kind)
{
    unsigned traits = 0;
    bool product = kind == ASSAY__KERNEL_GEMM || kind == ASSAY__KERNEL_CONVOLUTION ||
                   kind == ASSAY__KERNEL_ATTENTION;
    if (is_float64(name)) traits |= ASSAY__TRAIT_FLOAT64;
    if (is_strided(name)) traits |= ASSAY__TRAIT_STRIDED;
    if (HAS_ANY(name, "naive", "slow_", "_slow", "unoptimi", "_ref_", "reference", "im2col",
                "vol2col", "uncoalesced"))
        traits |= ASSAY__TRAIT_NAIVE;
    if (product && uses_matrix_units(name)) traits |= ASSAY__TRAIT_MATRIX;
    if (product && is_tuned(name)) traits |= ASSAY__TRAIT_TUNED;
    if (has(name, "vectorized_elementwise")) traits |= ASSAY__TRAIT_VECTOR;
    if (product && HAS_ANY(name, "sgemm", "scudnn", "ffma", "f32f32_f32f32", "simt") &&
        !(traits & ASSAY__TRAIT_FLOAT64))
        traits |= ASSAY__TRAIT_FLOAT32;
    return traits & ASSAY__TRAITS_SLOW ? traits & ~(unsigned)ASSAY__TRAITS_FAST : traits;
}

struct assay__kernel_class assay__kernel_class_of(const char *name)
{
    char lower[NAME_BYTES];
    size_t length = 0;
    for (; name[length] && length < sizeof lower - 1; length++)
        lower[length] = (char)tolower((unsigned char)name[length]);
    lower[length] = '\0';
    struct assay__kernel_class found = {ASSAY__KERNEL_OTHER, 0};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (has(lower, patterns[i].text)) {
            found.kind = patterns[i].kind;
            break;
        }
    found.traits = traits_of(lower, found.kind);
    return found;
}
