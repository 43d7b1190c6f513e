/* test_cost_rows.c - the tables of costs: how many operators they know, that no row hides another,
 * that every row is found by its name; and one case, worked out by hand, for every formula. */
#include "cost_fixture.h"

#include "cost/cost_table.h"

static const char *full_domain(const char *row)
{
    return strcmp(row, "ms") == 0       ? "com.microsoft"
           : strcmp(row, "nchwc") == 0  ? "com.microsoft.nchwc"
           : strcmp(row, "nhwc") == 0   ? "com.ms.internal.nhwc"
           : strcmp(row, "ml") == 0     ? "ai.onnx.ml"
           : strcmp(row, "coreml") == 0 ? "coreml"
                                        : "";
}

static void test_rows_are_found(void)
{
    struct assay__cost_index *index = assay__cost_index_over(NULL);
    const struct assay__cost_row *row;
    char op[ASSAY__WORD], other_op[ASSAY__WORD];
    size_t plain = 0, microsoft = 0, coreml = 0;
    CHECK(index);
    for (size_t i = 0; (row = assay__cost_row_at(i, op)); i++) {
        CHECK(assay__cost_find(index, op, full_domain(row->domain)) == row);
        plain += !*row->domain || *row->domain == '*';
        microsoft += strcmp(row->domain, "ms") == 0;
        coreml += strcmp(row->domain, "coreml") == 0;
        for (size_t k = 0; k < i; k++) {
            const struct assay__cost_row *other = assay__cost_row_at(k, other_op);
            if (strcmp(op, other_op) != 0) continue;
            CHECK(strcmp(row->domain, other->domain) != 0); /* one row per operator and domain */
            /* "*" must not cover what another row says of the same operator, but Core ML's */
            CHECK(*row->domain != '*' || strcmp(other->domain, "coreml") == 0);
            CHECK(*other->domain != '*' || strcmp(row->domain, "coreml") == 0);
        }
    }
    printf("  %zu ai.onnx, %zu com.microsoft, %zu Core ML\n", plain, microsoft, coreml);
    CHECK(plain >= 150);
    CHECK(microsoft >= 60);
    CHECK(coreml >= 100);
    CHECK(!assay__cost_find(index, "NoSuchOperator", ""));
    CHECK(!assay__cost_find(index, "Relu", "org.example"));
    CHECK(!assay__cost_find(index, "relu", ""));
    CHECK(assay__cost_find(index, "Relu", "ai.onnx") == assay__cost_find(index, "Relu", ""));
    CHECK(assay__cost_find(index, "Attention", "") !=
          assay__cost_find(index, "Attention", "com.microsoft"));
    assay__cost_index_free(index);
}

struct one {
    const char *domain, *line, *attributes;
    double macs, flops; /* NaN: must be unknown */
};

static bool same(double a, double b)
{
    return isnan(b) ? isnan(a) : fabs(a - b) <= 1e-9 * fabs(b);
}

static void check_cases(const struct one *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct assay__cost cost = cost_line(cases[i].domain, cases[i].line, cases[i].attributes);
        if (same(cost.macs, cases[i].macs) && same(cost.flops, cases[i].flops)) {
            CHECK((cost.why != NULL) ==
                  isnan(cost.macs + cost.flops + cost.bytes_read + cost.bytes_written));
            continue;
        }
        printf("  %s (%s): %.17g MACs, %.17g FLOPs, expected %.17g and %.17g\n", cases[i].line,
               cases[i].attributes, cost.macs, cost.flops, cases[i].macs, cases[i].flops);
        harness_fail(__FILE__, __LINE__, "another cost");
    }
}
#define CHECK_CASES(cases) check_cases(cases, sizeof cases / sizeof cases[0])

static void test_math(void)
{
    static const struct one cases[] = {
        {"", "Add x[2,3] z[3] -> y", "", 0, 6},
        {"", "Max a[4] b[4] c[4] -> y", "", 0, 8},
        {"", "Mean a[4] b[4] c[4] -> y", "", 0, 12},
        {"", "Sigmoid x[5] -> y", "", 0, 20},
        {"", "Gelu x[10] -> y[10]", "", 0, 50},
        {"", "Gelu x[10] -> y[10]", "approximate=tanh", 0, 80},
        {"", "Clip x[10] lo[] - -> y", "", 0, 10},
        {"", "Clip x[10] lo[] hi[] -> y", "", 0, 20},
        {"", "Add x:i64[10] z:i64[10] -> y", "", 0, 0}, /* integers are no floating-point work */
        {"", "IsNaN x[10] -> y:b[10]", "", 0, 10},
        {"", "ReduceSum x[4,5] -> y[]", "", 0, 20},
        {"", "ReduceMean x[4,5] -> y", "axes=1, keepdims=0", 0, 24}, /* 20 additions, 4 divisions */
        {"", "ReduceL2 x[4,5] -> y", "axes=1, keepdims=0", 0, 44},
        {"", "ReduceLogSum x[4,5] -> y", "axes=1, keepdims=0", 0, 24},
        {"", "ArgMax x[4,5] -> y", "axis=1", 0, 20},
        {"", "TopK x[4,100] k{8} -> y[4,8] i:i64[4,8]", "axis=1", 0, 400 * 3},
        {"", "Unique x[16] -> y[16]", "", 0, 64},
        {"", "Det x[2,3,3] -> y[2]", "", 2 * 5, 2 * (10 + 3 + 2)},  /* 3·2·5/6 = 5 */
        {"", "Einsum a[2,3,4] b[2,4,5] -> y[2,3,5]", "", NAN, NAN}, /* no equation */
        {"", "CumSum x[10] axis{0} -> y", "", 0, 10},
        {"", "Range a[] b[] c[] -> y[7]", "", 0, 14},
        {"", "Hardmax x[10] -> y", "", 0, 10},
        {"", "Relu x[n] -> y", "", 0, NAN},
    };
    CHECK_CASES(cases);
}

/* The fixture's attributes cannot hold a comma in a text. */
static void test_einsum(void)
{
    static const struct {
        const char *line, *equation;
        double macs, flops;
    } cases[] = {
        {"Einsum a[2,3,4] b[2,4,5] -> y[2,3,5]", "bij,bjk->bik", 120, 240},
        {"Einsum a[2,3,4] -> y[2]", "bij->b", 0, 24},
        {"Einsum a[7,2,3,4] b[4,5] -> y[7,2,3,5]", "...ij,jk->...ik", 7 * 2 * 60, 7 * 2 * 120},
        {"Einsum a[2,3] b[3,4] c[4,5] -> y[2,5]", "ij,jk,kl->il", 120, 360},
        {"Einsum a[2,n] b[n,4] -> y[2,4]", "ij,jk->ik", NAN, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct assay__model *model = fixture_model(17);
        struct assay__node *node = cost_node(model, "", cases[i].line, "");
        assay__node_set_string(model, node, "equation", cases[i].equation);
        struct assay__cost cost = cost_last(model);
        CHECK(same(cost.macs, cases[i].macs) && same(cost.flops, cases[i].flops));
    }
}

static void test_layers(void)
{
    static const struct one cases[] = {
        {"", "Conv x[1,3,8,8] w[4,3,3,3] b[4] -> y", "", 144 * 28, 144 * 55},
        {"", "Conv x[1,8,8,8] w[8,1,3,3] -> y", "group=8", 288 * 9, 288 * 18},
        {"nchwc", "Conv x[1,8,8,8] w[8,8,3,3] -> y[1,8,6,6]", "activation=Relu", 288 * 72,
         288 * 145},
        {"", "ConvTranspose x[1,4,5,5] w[4,6,3,3] b[6] -> y", "", 100 * 54 + 294,
         2 * 100 * 54 + 294},
        {"", "DeformConv x[1,2,5,5] w[3,2,3,3] o[1,18,3,3] b[3] m[1,9,3,3] -> y[1,3,3,3]", "",
         27 * 18 + 27, 2 * 27 * 18 + 27 + 9 * 2 * 9 * 9},
        {"", "Gemm a[3,4] b[4,5] c[5] -> y", "", 75, 135},
        {"", "MatMul a[2,3,4] b[4,6] -> y", "", 144, 288},
        {"", "Attention q[2,4,5,8] k[2,2,7,8] v[2,2,7,6] -> y[2,4,5,6]", "", 2 * 4 * 35 * 14,
         2 * 2 * 4 * 35 * 14 + 2 * 4 * 35 * 6},
        {"", "Attention q[2,5,32] k[2,7,16] v[2,7,12] m[5,10] pk[2,2,3,8] pv[2,2,3,6] -> y[2,5,24]",
         "q_num_heads=4 kv_num_heads=2 softcap=~2", 2 * 4 * 50 * 14,
         2 * 2 * 4 * 50 * 14 + 2 * 4 * 50 * (6 + 1 + 3)},
        {"", "RotaryEmbedding x[1,2,3,8] c[10,4] s[10,4] p:i64[1,3] -> y[1,2,3,8]", "", 0, 144},
        {"", "RotaryEmbedding x[1,3,16] c[10,2] s[10,2] p:i64[1,3] -> y[1,3,16]",
         "num_heads=2 rotary_embedding_dim=4", 0, 72},
        {"", "LinearAttention q[1,5,8] k[1,5,8] v[1,5,12] -> y[1,5,12]",
         "q_num_heads=2 kv_num_heads=2 update_rule=linear", 5 * 24 * 4, 2 * 5 * 24 * 4},
        {"", "LSTM x[9,2,5] w[1,28,5] r[1,28,7] b[1,56] -> y", "hidden_size=7",
         18 * 28 * 12 + 2 * 18 * 28, 2 * 18 * 28 * 12 + 2 * 18 * 28 + 18 * 7 * 9},
        {"", "GRU x[9,2,5] w[2,21,5] r[2,21,7] -> y", "hidden_size=7 direction=bidirectional",
         18 * 2 * 21 * 12, 2 * 18 * 2 * 21 * 12 + 18 * 2 * 7 * 10},
        {"", "RNN x[9,2,5] w[1,7,5] r[1,7,7] -> y", "hidden_size=7", 18 * 7 * 12,
         2 * 18 * 7 * 12 + 18 * 7},
        {"", "MaxPool x[1,2,8,8] -> y", "kernel_shape=3,3", 0, 72 * 9},
        {"", "LpPool x[1,2,8,8] -> y", "kernel_shape=3,3", 0, 72 * 19},
        {"", "GlobalAveragePool x[1,2,8,8] -> y", "", 0, 128},
        {"", "MaxRoiPool x[1,2,8,8] r[3,5] -> y[3,2,2,2]", "pooled_shape=2,2", 0, NAN},
        {"", "BatchNormalization x[2,3,4] s[3] b[3] m[3] v[3] -> y", "", 0, 48},
        {"", "BatchNormalization x[2,3,4] s[3] b[3] m[3] v[3] -> y a[3] c[3]", "training_mode=1", 0,
         192},
        {"", "LayerNormalization x[2,3,4] s[4] -> y", "", 0, 192},
        {"", "LRN x[1,8,2,2] -> y", "size=5", 0, 320},
        {"", "Resize x[1,2,4,4] - - n{1,2,8,8} -> y[1,2,8,8]", "mode=linear", 0, 128 * 8},
        {"", "Resize x[1,2,4,4] - - n{1,2,8,4} -> y[1,2,8,4]", "mode=cubic", 0, 64 * 8},
        {"", "Resize x[1,2,4,4] - - n{1,2,8,8} -> y[1,2,8,8]", "mode=nearest", 0, 0},
        {"", "GridSample x[1,2,4,4] g[1,5,6,2] -> y[1,2,5,6]", "mode=linear", 0, 60 * 8 + 180},
        {"", "GridSample x[1,2,4,4] g[1,5,6,2] -> y[1,2,5,6]", "mode=nearest", 0, 180},
        {"", "RoiAlign x[1,2,8,8] r[3,4] b:i64[3] -> y[3,2,2,2]",
         "sampling_ratio=2 output_height=2 output_width=2", 0, 24 * 36},
        {"", "RoiAlign x[1,2,8,8] r[3,4] b:i64[3] -> y[3,2,2,2]", "", 0, NAN},
        {"", "AffineGrid t[1,2,3] n{1,1,4,5} -> y[1,4,5,2]", "", 40 * 3, 40 * 5},
        {"", "Col2Im x[1,18,9] a{5,5} b{3,3} -> y[1,2,5,5]", "", 0, 162},
        {"", "SoftmaxCrossEntropyLoss x[4,10] l:i64[4] -> y[]", "", 0, 248},
        {"", "NegativeLogLikelihoodLoss x[4,10] l:i64[4] -> y[]", "", 0, 8},
        {"", "DFT x[2,16,1] -> y[2,16,2]", "axis=1", 0, 2 * 2.5 * 16 * 4},
        {"", "DFT x[2,16,2] - a{1} -> y[2,16,2]", "", 0, 2 * 5 * 16 * 4},
        {"", "DFT x[2,16,2] - a{-2} -> y[2,16,2]", "", 0, 2 * 5 * 16 * 4},
        {"", "DFT x[2,16,2] n{8} -> y[2,8,2]", "", 0, 2 * 5 * 8 * 3},
        {"", "DFT x[2,16,2] - a:i64[] -> y[2,16,2]", "", 0, NAN},
        {"", "TopK x[4,100] k{8} -> y[4,8] i:i64[4,8]", "axis=99999999999", 0, NAN},
        {"", "STFT x[1,100,1] s{10} w[16] -> y[1,9,9,2]", "", 0, 9 * (2.5 * 16 * 4 + 16)},
        {"ms", "Rfft x[3,16] -> y[3,9,2]", "signal_ndim=1", 0, 3 * 2.5 * 16 * 4},
        {"", "HannWindow n{10} z[1] -> y[10]", "", 0, 40},
    };
    CHECK_CASES(cases);
}

static void test_fused(void)
{
    static const struct one cases[] = {
        {"ms", "FusedConv x[1,3,8,8] w[4,3,3,3] b[4] z[1,4,6,6] -> y[1,4,6,6]", "activation=Relu",
         144 * 28, 144 * 57},
        {"ms", "FusedGemm a[3,4] b[4,5] c[5] -> y[3,5]", "activation=Relu", 75, 150},
        {"ms", "FusedMatMul a[2,4,3] b[2,4,6] -> y[2,3,6]", "transA=1", 144, 288},
        {"ms", "GemmFastGelu a[3,4] b[4,5] c[5] -> y[3,5]", "", 75, 135 + 120},
        {"ms", "CDist a[3,4] b[5,4] -> y[3,5]", "metric=euclidean", 0, 15 * 13},
        {"ms", "Inverse x[2,3,3] -> y[2,3,3]", "", 54, 108},
        /* projections 2·5·8·24 + bias 2·5·24, scores 2 heads × 25 × (4 + 4), softmax 5, scale 1 */
        {"ms", "Attention x[2,5,8] w[8,24] b[24] -> y[2,5,8]", "num_heads=2",
         1920 + 240 + 2 * 2 * 25 * 8, 3840 + 240 + 2 * 800 + 100 * 6},
        {"ms", "Attention x[2,5,8] w[8,24] b[24] - past[2,2,2,3,4] -> y[2,5,8]", "num_heads=2",
         1920 + 240 + 2 * 2 * 40 * 8, 3840 + 240 + 2 * 1280 + 160 * 6},
        {"ms", "QAttention x:u8[2,5,8] w:i8[8,24] b[24] s[] t[] -> y[2,5,8]", "num_heads=2",
         1920 + 240 + 800, 3840 + 240 + 1600 + 600},
        {"ms", "MultiHeadAttention q[2,5,8] k[2,7,8] v[2,7,8] -> y[2,5,8]", "num_heads=2",
         2 * 2 * 35 * 8, 2 * 2 * 2 * 35 * 8 + 140 * 6},
        {"ms",
         "MultiHeadAttention q[2,5,8] k[2,7,8] v[2,7,8] b[24] - - pk[2,2,3,4] pv[2,2,3,4] -> "
         "y[2,5,8]",
         "num_heads=2", 2 * 2 * 50 * 8 + 80 + 224, 2 * 1600 + 304 + 200 * 6},
        {"ms", "GroupQueryAttention q[1,5,16] k[1,5,8] v[1,5,8] - - s:i32[1] n{9} -> y[1,5,16]",
         "num_heads=4 kv_num_heads=2", 4 * 45 * 8, 2 * 4 * 45 * 8 + 180 * 6},
        {"ms",
         "GroupQueryAttention q[1,5,16] k[1,5,8] v[1,5,8] p[1,2,9,4] r[1,2,9,4] s:i32[1] "
         "n:i32[] -> y[1,5,16]",
         "num_heads=4 kv_num_heads=2", NAN, NAN},
        {"ms", "RotaryEmbedding x[1,2,3,8] p:i64[1,3] c[10,4] s[10,4] -> y[1,2,3,8]", "", 0, 144},
        {"ms", "SkipLayerNormalization x[2,3,4] s[2,3,4] g[4] b[4] c[4] -> y[2,3,4]", "", 0, 240},
        {"ms", "SkipSimplifiedLayerNormalization x[2,3,4] s[2,3,4] g[4] -> y[2,3,4]", "", 0, 144},
        {"ms", "GroupNorm x[1,4,4,8] g[8] b[8] -> y[1,4,4,8]", "groups=2 activation=1", 0,
         128 * 13},
        {"ms", "SkipGroupNorm x[1,4,4,8] g[8] b[8] s[1,4,4,8] c[8] -> y[1,4,4,8]", "groups=2", 0,
         128 * 10},
        {"ms",
         "EmbedLayerNormalization i:i32[2,5] s:i32[2,5] w[99,8] p[9,8] t[2,8] g[8] b[8] -> "
         "y[2,5,8]",
         "", 0, 80 * 10},
        {"ms", "FastGelu x[10] b[10] -> y[10]", "", 0, 90},
        {"ms", "BiasGelu x[10] b[10] -> y[10]", "", 0, 60},
        {"ms", "BiasAdd x[10] b[10] s[10] -> y[10]", "", 0, 20},
        {"ms", "CropAndResize x[1,2,8,8] r[3,4] b:i32[3] n{2,2} -> y[3,2,2,2]", "", 0, 192},
        /* 6 rows × k 2: fc1 16·8, fc2 8·16; biases 16 + 8; activation 16, sums 2·8; softmax
         * 5·6·4 */
        {"ms", "MoE x[6,8] r[6,4] a[4,16,8] b[4,16] c[4,8,16] d[4,8] -> y[6,8]", "k=2",
         12 * 256 + 12 * 24, 2 * 12 * 256 + 12 * 24 + 12 * 32 + 120},
        {"ms", "QMoE x[6,8] r[6,4] a:u8[4,16,4] s[4,16] - c:u8[4,8,8] t[4,8] -> y[6,8]",
         "k=2 expert_weight_bits=4", 12 * 256, 2 * 12 * 256 + 12 * 32 + 120},
        {"ms", "PagedAttention q[1,5,16] -> y[1,5,16]", "", NAN, NAN},
    };
    CHECK_CASES(cases);
}

static void test_quantised(void)
{
    static const struct one cases[] = {
        {"", "ConvInteger x:u8[1,3,8,8] w:i8[4,3,3,3] -> y", "", 144 * 27, 144 * 54},
        {"",
         "QLinearConv x:u8[1,3,8,8] s[] z:u8[] w:i8[4,3,3,3] t[] v:i8[] r[] q:u8[] b:i32[4] -> y",
         "", 144 * 28, 144 * 55},
        {"", "MatMulInteger a:u8[3,4] b:i8[4,5] -> y", "", 60, 120},
        {"", "QLinearMatMul a:u8[3,4] s[] z:u8[] b:u8[4,5] t[] v:u8[] r[] q:u8[] -> y", "", 60,
         120},
        {"ms", "MatMulNBits a[3,32] b:u8[5,1,16] s[5] - - c[5] -> y[3,5]", "K=32 N=5", 3 * 5 * 33,
         3 * 5 * 65},
        {"ms",
         "MatMulNBitsMlp a[3,32] k[3,32] n[32] g:u8[5,1,16] s[5] - u:u8[5,1,16] t[5] -> y[3,5]", "",
         2 * 15 * 32, 4 * 15 * 32 + 90 + 6 * 96},
        {"ms",
         "MatMulNBitsQkv a[3,32] - - q:u8[8,1,16] s[8] - k:u8[4,1,16] t[4] - v:u8[4,1,16] u[4] "
         "-> y[3,8] z[3,4] w[3,4]",
         "", 48 * 32, 96 * 32},
        {"ms", "DynamicQuantizeMatMul a[3,4] b:i8[4,5] s[] z:i8[] c[5] -> y[3,5]", "", 75,
         135 + 48 + 15},
        {"ms", "MatMulIntegerToFloat a:u8[3,4] b:i8[4,5] s[] t[] - - c[5] -> y[3,5]", "", 75, 150},
        {"ms", "QGemm a:u8[3,4] s[] z:u8[] b:i8[4,5] t[] v:i8[] c:i32[5] -> y:u8[3,5]", "", 75,
         135},
        {"ms", "DynamicQuantizeLSTM x[9,2,5] w:i8[1,5,28] r:i8[1,7,28] b[1,56] -> y[9,1,2,7]", "",
         18 * 28 * 12 + 2 * 18 * 28, 2 * 18 * 28 * 12 + 2 * 18 * 28 + 18 * 7 * 9 + 4 * 90},
        {"ms", "QLinearAdd a:u8[10] s[] z:u8[] b:u8[10] t[] w:u8[] -> y:u8[10]", "", 0, 70},
        {"ms", "QLinearAveragePool x:u8[1,2,8,8] s[] z:u8[] t[] w:u8[] -> y:u8[1,2,6,6]",
         "kernel_shape=3,3", 0, 72 * 13},
        {"ms", "QLinearGlobalAveragePool x:u8[1,2,8,8] s[] z:u8[] t[] w:u8[] -> y:u8[1,2,1,1]", "",
         0, 128},
        {"", "DequantizeLinear x:i8[10] s[] -> y", "", 0, 20},
        {"", "QuantizeLinear x[10] s[] z:u8[] -> y", "", 0, 20},
        {"", "DynamicQuantizeLinear x[10] -> y s z", "", 0, 40},
        {"ms", "GatherBlockQuantized t:u4[100,32] i:i64[3] s[100,1] -> y[3,32]", "", 0, 192},
        {"ms",
         "QOrderedAttention x:i8[1,5,8] a[] b[] c[] d[] q:i8[8,8] k:i8[8,8] v:i8[8,8] -> "
         "y:i8[1,5,8]",
         "num_heads=2", 960 + 2 * 25 * 8, 1920 + 800 + 50 * 6},
    };
    CHECK_CASES(cases);
}

static void test_coreml(void)
{
    static const struct one cases[] = {
        {"coreml", "constexpr_affine_dequantize q:u8[10] s[1] z:u8[1] -> y:f16[10]", "", 0, 20},
        {"coreml", "constexpr_lut_to_dense q:u8[5] l:f16[16] -> y:f16[10]", "", 0, 0},
        {"coreml", "linear x[2,3,4] w[5,4] b[5] -> y[2,3,5]", "", 150, 270},
        {"coreml", "matmul x[2,4,3] w[2,4,5] -> y[2,3,5]", "transpose_x=1", 120, 240},
        {"coreml", "conv x[1,3,8,8] w[4,3,3,3] b[4] -> y[1,4,6,6]", "", 144 * 28, 144 * 55},
        {"coreml",
         "scaled_dot_product_attention q[2,4,5,8] k[2,4,7,8] v[2,4,7,6] m[5,7] -> "
         "y[2,4,5,6]",
         "", 8 * 35 * 14, 2 * 8 * 35 * 14 + 8 * 35 * 7},
        {"coreml", "lstm x[9,2,5] w[28,5] r[28,7] b[28] h[2,7] c[2,7] -> y[9,2,7]", "",
         18 * 28 * 12 + 18 * 28, 2 * 18 * 28 * 12 + 18 * 28 + 18 * 63},
        {"coreml", "gru x[9,2,5] w[21,5] r[21,7] -> y[9,2,7]", "", 18 * 21 * 12,
         2 * 18 * 21 * 12 + 18 * 70},
        {"coreml", "silu x[10] -> y[10]", "", 0, 50},
        {"coreml", "gelu x[10] -> y[10]", "mode=TANH_APPROXIMATION", 0, 80},
        {"coreml", "gelu x[10] -> y[10]", "mode=SIGMOID_APPROXIMATION", 0, 60},
        {"coreml", "l2_norm x[1,2,3] -> y[1,2,3]", "", 0, 18},
        {"coreml", "local_response_norm x[1,8,2,2] -> y[1,8,2,2]", "size=5", 0, 320},
        {"coreml", "avg_pool x[1,2,8,8] -> y[1,2,6,6]", "kernel_sizes=3,3", 0, 72 * 9},
        {"coreml", "l2_pool x[1,2,8,8] -> y[1,2,6,6]", "kernel_sizes=3,3", 0, 72 * 19},
        {"coreml", "upsample_bilinear x[1,2,4,4] -> y[1,2,8,8]", "", 0, 128 * 8},
        {"coreml", "resample x[1,2,4,4] c[1,5,6,2] -> y[1,2,5,6]", "", 0, 60 * 8 + 180},
        {"coreml", "affine x[1,2,4,4] t[1,6] -> y[1,2,5,6]", "", 0, 60 * 8 + 240},
        {"coreml", "argsort x[2,16] -> y:i32[2,16]", "", 0, 128},
        {"coreml", "rsqrt x[10] -> y[10]", "", 0, 30},
        {"coreml", "sliding_windows x[10] -> y[8,3]", "", 0, 0},
        {"coreml", "non_maximum_suppression b[1,9,4] s[1,9,2] -> y[1,5,4]", "", 0, NAN},
        {"ml", "Scaler x[4,5] -> y[4,5]", "", 0, 40},
        {"ml", "TreeEnsembleRegressor x[4,5] -> y[4,1]", "", 0, NAN},
    };
    CHECK_CASES(cases);
}

struct traffic {
    const char *domain, *line, *attributes;
    double read, written;
};

static void test_bytes(void)
{
    static const struct traffic cases[] = {
        {"", "Relu x:f16[10] -> y", "", 20, 20},
        {"", "Add x[10] x -> y", "", 40, 40}, /* the same tensor is read once */
        {"", "Reshape x[2,3] n{6} -> y", "", 0, 0},
        {"", "Shape x[2,3] -> y", "", 0, 0},
        {"", "Dropout x[2,3] -> y", "", 0, 0},
        {"", "DequantizeLinear x:i4[9] s[] -> y[9]", "", 5 + 4, 36}, /* packed: 4.5, rounded up */
        {"", "Gather t[1000,8] i:i64[2,5] -> y", "", 2 * 5 * 8 * 4 + 80, 320},
        {"", "Gather t:f16[3,8] i:i64[9] -> y", "", 48 + 72, 144}, /* never more than there is */
        {"", "Slice x[100] a{0} b{10} c{0} -> y[10]", "", 40 + 24, 40},
        {"", "SplitToSequence x[100] -> y", "", 400, 400},
        {"", "ConcatFromSequence s -> y[100]", "", 400, 400},
        {"ms", "GatherBlockQuantized t:u4[100,32] i:i64[3] s[100,1] -> y[3,32]", "", 48 + 24 + 400,
         384},
        {"coreml", "coreml_update_state s[10] v[10] -> y[10]", "", 40, 40},
        {"coreml", "read_state s[10] -> y[10]", "", 0, 0},
        {"", "NoSuchOperator x[10] -> y[5]", "", 40, 20},
        {"", "NoSuchOperator x[10] -> y", "", 40, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct assay__cost cost = cost_line(cases[i].domain, cases[i].line, cases[i].attributes);
        if (same(cost.bytes_read, cases[i].read) && same(cost.bytes_written, cases[i].written))
            continue;
        printf("  %s: %.17g read, %.17g written, expected %.17g and %.17g\n", cases[i].line,
               cost.bytes_read, cost.bytes_written, cases[i].read, cases[i].written);
        harness_fail(__FILE__, __LINE__, "other bytes");
    }
}

/* What is made of constants alone is made once; unpacking weights is charged. */
static void test_constants(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,6");
    fixture_node(model, "Transpose w -> t");
    struct assay__cost cost = cost_last(model);
    CHECK(cost.constant && cost.flops == 0 && cost.bytes_read == 0 && cost.bytes_written == 0);
    model = fixture_model(17);
    fixture_weights(model, "w", ASSAY__INT8, "4,6");
    fixture_weights(model, "s", ASSAY__FLOAT32, "");
    fixture_node(model, "DequantizeLinear w,s -> t");
    cost = cost_last(model);
    CHECK(!cost.constant);
    CHECK_NEAR(cost.flops, 48, 0);
    CHECK_NEAR(cost.bytes_weights, 28, 0);
    model = fixture_model(17); /* what follows of constants counts as weights */
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,6");
    fixture_input(model, "x", ASSAY__FLOAT32, "3,6");
    struct assay__node *node = fixture_node(model, "Transpose w -> t");
    static const int64_t perm[] = {1, 0};
    assay__node_set_ints(model, node, "perm", perm, 2);
    fixture_node(model, "MatMul x,t -> y");
    cost = cost_last(model);
    CHECK_NEAR(cost.bytes_weights, 96, 0);
    CHECK_NEAR(cost.macs, 72, 0);
    model = fixture_model(17); /* random numbers are no constants */
    node = fixture_node(model, "RandomNormal -> y");
    static const int64_t five[] = {5};
    assay__node_set_ints(model, node, "shape", five, 1);
    cost = cost_last(model);
    CHECK(!cost.constant);
}

/* Each kind of not knowing has its reason. */
static void test_reasons(void)
{
    CHECK_STR(cost_line("", "NoSuchOperator x[10] -> y[5]", "").why, "no cost formula");
    CHECK_STR(cost_line("", "Relu x[n] -> y", "").why, "shape unknown");
    CHECK_STR(cost_line("", "StringConcat x:s[2] z:s[2] -> y:s[2]", "").why,
              "strings have no known size");
    CHECK_STR(cost_line("", "RoiAlign x[1,2,8,8] r[3,4] b:i64[3] -> y", "").why,
              "depends on the data");
    CHECK(!cost_line("", "Relu x[10] -> y", "").why);
}

/* A sparse initializer is read as it is stored. */
static void test_sparse(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "3,100");
    fixture_weights(model, "w", ASSAY__FLOAT32, "100,100");
    model->graph.initializers[0].nonzeros = 50;
    model->graph.initializers[0].sparse_bytes = 50 * 12;
    fixture_node(model, "MatMul x,w -> y");
    struct assay__cost cost = cost_last(model);
    CHECK_NEAR(cost.bytes_weights, 600, 0);
    CHECK_NEAR(cost.bytes_read, 1200 + 600, 0);
}

/* Thousands of inputs to one node, and thousands of nodes, take no quadratic time. */
static void test_large(void)
{
    enum { COUNT = 200000 };
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "2");
    const char **inputs = calloc(COUNT, sizeof *inputs);
    for (size_t i = 0; i < COUNT; i++)
        inputs[i] = assay__arena_printf(model->arena, "x%zu", i);
    static const char *const out[] = {"y"};
    CHECK(assay__graph_add_node(model, &model->graph, "Concat", "c", inputs, COUNT, out, 1));
    struct assay__cost cost = cost_last(model);
    CHECK(isnan(cost.bytes_read)); /* nobody makes them */
    free(inputs);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"rows_are_found", test_rows_are_found},
        {"math", test_math},
        {"einsum", test_einsum},
        {"layers", test_layers},
        {"fused", test_fused},
        {"quantised", test_quantised},
        {"coreml", test_coreml},
        {"bytes", test_bytes},
        {"constants", test_constants},
        {"reasons", test_reasons},
        {"sparse", test_sparse},
        {"large", test_large},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
