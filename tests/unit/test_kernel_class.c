/* test_kernel_class.c - what names of kernels say, and how they are shortened: real names of
 * cuBLAS, cuDNN, CUTLASS, PyTorch, rocBLAS, NCCL and Triton. */
#include "harness.h"

#include "explain/kernel_class.h"

static void check(const char *name, enum assay__kernel_kind kind, unsigned traits)
{
    struct assay__kernel_class class = assay__kernel_class_of(name);
    if (class.kind != kind || class.traits != traits)
        printf("  %s: %s, traits %u\n", name, assay__kernel_kinds[class.kind], class.traits);
    CHECK_INT(class.kind, kind);
    CHECK_INT(class.traits, traits);
}

static void test_products(void)
{
    check("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_bias_TNT", ASSAY__KERNEL_GEMM,
          ASSAY__TRAIT_MATRIX | ASSAY__TRAIT_TUNED);
    check("ampere_fp16_s16816gemm_fp16_128x256_ldg8_f2f_stages_64x3_tn", ASSAY__KERNEL_GEMM,
          ASSAY__TRAIT_MATRIX | ASSAY__TRAIT_TUNED);
    check("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>(Params)",
          ASSAY__KERNEL_GEMM, ASSAY__TRAIT_TUNED | ASSAY__TRAIT_FLOAT32);
    check("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4",
          ASSAY__KERNEL_GEMM, ASSAY__TRAIT_TUNED | ASSAY__TRAIT_FLOAT32);
    check("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN", ASSAY__KERNEL_GEMM,
          ASSAY__TRAIT_MATRIX | ASSAY__TRAIT_TUNED);
    check("void cudnn::ops::nchwToNhwcKernel<float>(cudnn::ops::nchw2nhwc_params_t<float>)",
          ASSAY__KERNEL_OTHER, 0);
    check("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16",
          ASSAY__KERNEL_CONVOLUTION, ASSAY__TRAIT_MATRIX | ASSAY__TRAIT_TUNED);
    check("void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false>>(Params)",
          ASSAY__KERNEL_ATTENTION, ASSAY__TRAIT_MATRIX | ASSAY__TRAIT_TUNED);
}

static void test_double_precision(void)
{
    check("sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize128x64x32_stage3_tensor16x8x16",
          ASSAY__KERNEL_GEMM, ASSAY__TRAIT_FLOAT64);
    check("volta_dgemm_128x64_nn", ASSAY__KERNEL_GEMM, ASSAY__TRAIT_FLOAT64);
    check("Cijk_Ailk_Bljk_DB_MT64x64x16_SN", ASSAY__KERNEL_GEMM, ASSAY__TRAIT_FLOAT64);
    check("void at::native::vectorized_elementwise_kernel<2, at::native::AUnaryFunctor<double, "
          "double, double, at::native::MulFunctor<double> >, std::array<char*, 2ul> >(int)",
          ASSAY__KERNEL_ELEMENTWISE, ASSAY__TRAIT_FLOAT64);
    /* double as the type of scalar arguments of a kernel for floats */
    check("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor"
          "<float, 4>, float const*, double, double, double>(int)",
          ASSAY__KERNEL_OPTIMISER, 0);
    check("void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true>(int)", ASSAY__KERNEL_GEMM,
          ASSAY__TRAIT_TUNED);
    check("kernel_lds64<true>", ASSAY__KERNEL_OTHER, 0);
}

static void test_elementwise(void)
{
    check("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
          "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>(int)",
          ASSAY__KERNEL_COPYING, ASSAY__TRAIT_STRIDED);
    check("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
          "std::array<char*, 3ul> >(int)",
          ASSAY__KERNEL_ELEMENTWISE, ASSAY__TRAIT_VECTOR);
    check("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
          "at::native::BinaryFunctor<float, float, float, MulFunctor<float> > >(int)",
          ASSAY__KERNEL_ELEMENTWISE, 0); /* broadcasting uses it, too */
    check("triton_poi_fused_add_gelu_3", ASSAY__KERNEL_ELEMENTWISE, 0);
    check("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)",
          ASSAY__KERNEL_REDUCTION, 0);
}

static void test_others(void)
{
    check("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          ASSAY__KERNEL_COMMUNICATION, 0);
    check("my_kernel_1", ASSAY__KERNEL_OTHER, 0);
    check("cudnn_ampere_scudnn_128x64_relu_medium_nn_v1", ASSAY__KERNEL_CONVOLUTION,
          ASSAY__TRAIT_TUNED | ASSAY__TRAIT_FLOAT32);
    check("matmul_naive(float*, float*, int)", ASSAY__KERNEL_GEMM, ASSAY__TRAIT_NAIVE);
    check("", ASSAY__KERNEL_OTHER, 0);
}

static void check_brief(const char *name, const char *expected)
{
    struct assay__buf brief = {0};
    assay__kernel_brief(&brief, name);
    CHECK_STR(assay__buf_text(&brief), expected);
    assay__buf_free(&brief);
}

static void test_brief(void)
{
    check_brief("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl("
                "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}>(int)",
                "vectorized_elementwise_kernel<GeluCUDAKernelImpl>");
    check_brief("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
                "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)",
                "elementwise_kernel<direct_copy_kernel_cuda>");
    check_brief(
        "void at::native::(anonymous namespace)::softmax_warp_forward<float, float, 6>(int)",
        "softmax_warp_forward");
    check_brief("sm80_xmma_gemm_f32f32", "sm80_xmma_gemm_f32f32");
    check_brief("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)");
    check_brief("plain(int)", "plain");
    check_brief("<", "<");
    check_brief("", "");
}

static void test_equal_briefs(void)
{
    static const char first[] = "void x::f<4, at::native::A(int)::{lambda()#1}::operator()() "
                                "const::{lambda(float)#2}>(int)";
    static const char *const names[] = {
        "void cudnn::bn<float, float2, 128, true>(int)",
        "void cudnn::bn<float, float2, 32, true>(int)",
        "plain",
        first,
        "void x::f<8, at::native::A(int)::{lambda()#3}>(int, float, double, unsigned long long)",
    };
    static const char *const expected[] = {"bn<float2> [128]", "bn<float2> [32]", "plain",
                                           "f<A> #1", "f<A> #2"};
    struct assay__arena *arena = assay__arena_new();
    const char **briefs = assay__kernel_briefs(names, 5, arena);
    for (int i = 0; i < 5; i++)
        CHECK_STR(briefs[i], expected[i]);
    CHECK(assay__kernel_briefs(NULL, 0, arena) != NULL);
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"products", test_products},
        {"double_precision", test_double_precision},
        {"elementwise", test_elementwise},
        {"others", test_others},
        {"brief", test_brief},
        {"equal_briefs", test_equal_briefs},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
