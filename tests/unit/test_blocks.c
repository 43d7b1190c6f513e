/* test_blocks.c - stages and blocks from the names of layers: of models of the zoo, of names as
 * other exporters write them, of names that tell nothing; and what is true of any names. */
#include "harness.h"

#include "base/buf.h"
#include "base/stats.h"
#include "judge/block_path.h"
#include "judge/blocks.h"
#include "zoo/zoo.h"

enum { MOST = 4096 };
static struct assay__layer items[MOST];
static struct assay__model_info model;
static struct assay__trial trial;
static struct assay__arena *arena;
static struct assay__blocks blocks;

/* --- making trials ---------------------------------------------------------------------------- */

static void begin(void)
{
    model = (struct assay__model_info){0};
    trial = (struct assay__trial){.model = &model, .layers = {.items = items}};
    assay__arena_free(arena);
    arena = assay__arena_new();
    CHECK(arena);
}

static void add(const char *name, const char *op)
{
    size_t at = trial.layers.count++;
    CHECK(at < MOST);
    items[at] = assay__layer_unknown();
    items[at].index = (int)at;
    items[at].name = name, items[at].op = op;
    items[at].time_ns = 100.0 * (double)(at + 1), items[at].state = ASSAY_MEASURED;
}

/* Every level together is all layers; what is true of any names. */
static void check_levels(void)
{
    CHECK(blocks.level_count <= ASSAY__BLOCK_LEVELS);
    CHECK_INT(blocks.level_count ? blocks.level_first[blocks.level_count] : 0, blocks.count);
    for (int level = 0; level < blocks.level_count; level++) {
        size_t next = 0;
        double sum = 0, all = 0;
        for (size_t i = blocks.level_first[level]; i < blocks.level_first[level + 1]; i++) {
            const struct assay__layer_block *b = &blocks.items[i];
            CHECK_INT(b->id, i);
            CHECK_INT(b->level, level);
            CHECK_INT(b->first, next);
            CHECK(b->count > 0 && b->name && b->label);
            next += b->count;
            if (isfinite(b->time_ns)) sum += b->time_ns;
            CHECK_INT(isfinite(b->time_ns), b->timed > 0);
            for (size_t k = b->first; k < next; k++)
                CHECK_INT(blocks.of_layer[level][k], b->id);
            if (!level) CHECK_INT(b->parent, -1);
            if (!level) continue;
            const struct assay__layer_block *stage = &blocks.items[b->parent];
            CHECK(b->first >= stage->first && next <= stage->first + stage->count);
            CHECK(strncmp(b->name, stage->name, strlen(stage->name)) == 0);
        }
        CHECK_INT(next, trial.layers.count);
        for (size_t i = 0; i < trial.layers.count; i++)
            if (items[i].state != ASSAY_UNAVAILABLE && isfinite(items[i].time_ns))
                all += items[i].time_ns;
        CHECK_NEAR(sum, all, 1e-9 * all);
    }
}

static void make(void)
{
    CHECK_INT(assay__blocks(&trial, arena, &blocks), 0);
    check_levels();
}

/* "conv1*3 layer1*10": the runs of a level with their numbers of layers; "-" for no name. */
static const char *runs(int level, bool labels)
{
    static struct assay__buf text;
    assay__buf_clear(&text);
    if (level >= blocks.level_count) return "";
    for (size_t i = blocks.level_first[level]; i < blocks.level_first[level + 1]; i++) {
        const struct assay__layer_block *b = &blocks.items[i];
        const char *name = labels ? b->label : b->name;
        assay__buf_printf(&text, "%s%s*%zu", text.length ? " " : "", *name ? name : "-", b->count);
    }
    return assay__buf_text(&text);
}

static struct assay__model *zoo;

/* The nodes of a model of the zoo, as if each were a layer. */
static void make_zoo(const char *name)
{
    struct assay_error error = {0};
    begin();
    CHECK_INT(assay__zoo_build(name, &zoo, &error), 0);
    for (size_t i = 0; i < zoo->graph.node_count; i++)
        add(zoo->graph.nodes[i].name, zoo->graph.nodes[i].op);
    make();
}

/* --- models of the zoo ------------------------------------------------------------------------ */

static void test_resnet(void)
{
    make_zoo("resnet50");
    CHECK_INT(blocks.level_count, 2);
    CHECK_STR(runs(0, false), "conv1*3 -*1 layer1*32 layer2*42 layer3*62 layer4*32 -*2 fc*1");
    CHECK_STR(runs(1, false),
              "conv1*3 -*1 layer1.0*12 layer1.1*10 layer1.2*10 layer2.0*12 layer2.1*10 layer2.2*10 "
              "layer2.3*10 layer3.0*12 layer3.1*10 layer3.2*10 layer3.3*10 layer3.4*10 layer3.5*10 "
              "layer4.0*12 layer4.1*10 layer4.2*10 -*2 fc*1");
    CHECK_STR(blocks.items[blocks.level_first[1] + 2].label, "layer1.0");
    CHECK_INT(blocks.items[blocks.level_first[1] + 2].parent, 2);
    assay__model_free(zoo);
}

static void test_bert(void)
{
    make_zoo("bert:layers=2");
    CHECK_INT(blocks.level_count, 2);
    CHECK_HAS(runs(0, false), "layer.0*");
    CHECK_HAS(runs(0, true), " layer.1*"); /* not "layer", which holds nearly everything */
    CHECK_HAS(runs(1, false), "layer.0/attention*");
    CHECK_HAS(runs(1, true), " ffn*");
    assay__model_free(zoo);
}

static void test_gpt2(void)
{
    make_zoo("gpt2:layers=2,phase=decode,past=4");
    CHECK_INT(blocks.level_count, 2);
    CHECK_STR(runs(0, false), "positions*6 -*3 h.0*37 h.1*37 -*1 lm_head*3");
    CHECK_STR(runs(1, true), "-*6 -*3 -*1 attn*20 -*2 mlp*13 -*1 -*1 attn*20 -*2 mlp*13 -*1 -*1 "
                             "-*3");
    assay__model_free(zoo);
}

static void test_cfc(void)
{
    static const char *const ran[] = {"/time_a/Gemm", "/time_b/Gemm", "/gate/Add", "/gate/Sigmoid",
                                      "/gate/Sub",    "/ff1/Gemm",    "/gate/Mul", "/ff2/Gemm",
                                      "/gate/Mul_1",  "/gate/Add_1"};
    static const char *const groups[] = {"inter", "command", "motor"};
    make_zoo("cfc"); /* all of it is in step0 */
    CHECK_STR(runs(0, true), "state*1 inter*13 command*13 motor*13 state*1");
    CHECK_STR(blocks.items[1].name, "step0/inter");
    assay__model_free(zoo);
    begin(); /* in the order of ONNX Runtime: gates alternate with products, which is no level */
    add("/step0/state/Split", "Split");
    for (size_t g = 0; g < 3; g++) {
        add(assay__arena_printf(arena, "/step0/%s/Concat", groups[g]), "Concat");
        for (size_t i = 0; i < sizeof ran / sizeof ran[0]; i++)
            add(assay__arena_printf(arena, "/step0/%s%s", groups[g], ran[i]), "Gemm");
    }
    add("/step0/state/Concat", "Concat");
    make();
    CHECK_INT(blocks.level_count, 1);
    CHECK_STR(runs(0, true), "state*1 inter*11 command*11 motor*11 state*1");
    make_zoo("cfc:form=unrolled,seq=3");
    CHECK_STR(runs(0, true), "step0*42 step1*42 step2*42 stack*2");
    CHECK_HAS(runs(1, true), "input*1 state*1 inter*13 command*13 motor*13 state*1");
    assay__model_free(zoo);
}

static void test_mobilenet(void)
{
    make_zoo("mobilenetv2");
    CHECK_HAS(runs(0, false), "features.0*3 features.1*5 features.2*8 features.3*9");
    CHECK_HAS(runs(0, false), "features.18*3 -*2 classifier*1");
    assay__model_free(zoo);
    make_zoo("mobilenetv3-small"); /* what is between, without a place, belongs to the block */
    CHECK_HAS(runs(0, false), "features.0*3 features.1*");
    CHECK(!strstr(runs(0, false), "-*1 features.2"));
    assay__model_free(zoo);
}

/* --- other names ------------------------------------------------------------------------------ */

static const char *path_of(const char *name)
{
    static char text[256];
    struct assay__map *operators = assay__map_new();
    struct assay__block_path path;
    static const char *const known[] = {"Conv",  "Relu", "MatMul", "Concat", "BatchNormalization",
                                        "Conv2D"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK_INT(assay__map_set(operators, known[i], 1), 0);
    assay__block_path(name, operators, &path);
    text[0] = 0;
    for (size_t i = 0; i < path.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", i ? "|" : "",
                 (int)path.parts[i].length, path.parts[i].text);
    assay__map_free(operators);
    return text;
}

static void test_paths(void)
{
    static const char *const cases[][2] = {
        {"/layer1/layer1.0/conv1/Conv", "layer1|0|conv1"},
        {"/layer1.0.conv1/Conv", "layer1|0|conv1"},
        {"/layer1/layer1.0/downsample/downsample.0/Conv", "layer1|0|downsample|0"},
        {"/model/model.22/cv2.0/cv2.0.1/conv/Conv_3", "model|22|cv2|0|1|conv"},
        {"/encoder/layer.3/attention/self/query/MatMul", "encoder|layer|3|attention|self|query"},
        {"/step0/state/Concat", "step0|state"},
        {"h.3.attn", "h|3"},
        {"h_3_attn/MatMul", "h_3|attn"},
        {"p2o.Conv.0", "p2o"},
        {"p2o.Relu.12", "p2o"},
        {"p2o.pd_op.conv2d.7", "p2o|pd_op"},
        {"Conv_0", ""},
        {"Conv.0", ""},
        {"/MatMul", ""},
        {"fc", ""},
        {"", ""},
        {"///", ""},
        {"...", ""},
        {"/conv1/BatchNormalization_output_0_nchwc", "conv1"},
        {"/h.0/attn/MatMul_1/MatmulTransposeFusion//MatMulScaleFusion/", "h|0|attn"},
        {"resnet50/conv2_block1_1_conv/Conv2D", "resnet50|conv2|block1|1|conv"},
        {"a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t", "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STR(path_of(cases[i][0]), cases[i][1]);
}

static void test_exporter(void) /* PyTorch's own, and the encoder around the layers */
{
    begin();
    add("/embeddings/word_embeddings/Gather", "Gather");
    add("/embeddings/LayerNorm/LayerNormalization", "LayerNormalization");
    for (int i = 0; i < 3; i++) {
        static const char *const forms[] = {"/encoder/layer.%d/attention/self/query/MatMul",
                                            "/encoder/layer.%d/attention/self/query/Add",
                                            "/encoder/layer.%d/attention/output/dense/MatMul",
                                            "/encoder/layer.%d/intermediate/dense/MatMul",
                                            "/encoder/layer.%d/output/dense/MatMul",
                                            "/encoder/layer.%d/output/dense/Add"};
        for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
            add(assay__arena_printf(arena, forms[k], i), k % 3 == 1 ? "Add" : "MatMul");
    }
    make();
    CHECK_STR(runs(0, true), "embeddings*2 layer.0*6 layer.1*6 layer.2*6");
    CHECK_STR(blocks.items[1].name, "encoder/layer.0");
    CHECK_INT(blocks.level_count, 2);
    CHECK_STR(runs(1, true), "word_embeddings*1 LayerNorm*1 attention*3 intermediate*1 output*2 "
                             "attention*3 intermediate*1 output*2 attention*3 intermediate*1 "
                             "output*2");
}

static void test_without_structure(void) /* as PP-OCR's, old exporters', Core ML's are */
{
    static const char *const forms[] = {"p2o.Conv.%d", "Conv_%d", "op_%d_cast_fp16", "%d", "n%d"};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        begin();
        for (int i = 0; i < 60; i++)
            add(assay__arena_printf(arena, forms[f], i), i % 3 ? "Conv" : "Relu");
        make();
        CHECK_INT(blocks.level_count, 0);
        CHECK_INT(blocks.count, 0);
        CHECK(blocks.of_layer[0] == NULL);
    }
    begin();
    make();
    CHECK_INT(blocks.level_count, 0);
}

static void test_fused(void) /* a fused layer is where its first node was */
{
    static const char *first[] = {"/a.0/conv/Conv", "/a.0/conv/Relu"};
    begin();
    add("fused Conv_3", "FusedConv");
    items[0].from = first, items[0].from_count = 2;
    add("ReorderInput", "ReorderInput"); /* the engine's own, inside of a.0 */
    add("/a.0/pool/Conv", "Conv");
    items[1].time_ns = NAN, items[1].state = ASSAY_UNAVAILABLE;
    add("/b/conv/Conv", "Conv");
    add("/b/conv2/Conv", "Conv");
    add("/b/conv3/Conv", "Conv");
    make();
    CHECK_STR(runs(0, false), "a*3 b*3");
    CHECK_INT(blocks.items[0].timed, 2);
    CHECK_NEAR(blocks.items[0].time_ns, 400, 0);
    for (size_t i = 3; i < 6; i++)
        items[i].state = ASSAY_UNAVAILABLE;
    make();
    CHECK(isnan(blocks.items[1].time_ns)); /* nothing timed is not 0 */
    CHECK_INT(blocks.items[1].timed, 0);
}

/* --- any names -------------------------------------------------------------------------------- */

static void test_any_names(void)
{
    static const char *const parts[] = {"a",    "b", "0", "1", "22",       "layer.3", "conv2_1",
                                        "Conv", "",  ".", "_", "\xff\xfe", "a.0.1"};
    struct assay__random state;
    assay__random_seed(&state, 1);
    for (int round = 0; round < 300; round++) {
        begin();
        size_t count = assay__random_below(&state, 60) + 1;
        for (size_t i = 0; i < count; i++) {
            struct assay__buf name = {0};
            size_t depth = assay__random_below(&state, 6);
            for (size_t d = 0; d < depth; d++)
                assay__buf_printf(&name, "%s%s", assay__random_below(&state, 3) ? "/" : ".",
                                  parts[assay__random_below(&state, sizeof parts / sizeof *parts)]);
            add(assay__arena_strdup(arena, assay__buf_text(&name)),
                assay__random_below(&state, 2) ? "Conv" : "Relu");
            if (assay__random_below(&state, 5) == 0) items[i].state = ASSAY_UNAVAILABLE;
            assay__buf_free(&name);
        }
        make();
        struct assay__blocks again;
        CHECK_INT(assay__blocks(&trial, arena, &again), 0);
        CHECK_INT(again.count, blocks.count);
        for (size_t i = 0; i < again.count; i++) {
            CHECK_STR(again.items[i].name, blocks.items[i].name);
            CHECK_INT(again.items[i].first, blocks.items[i].first);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"resnet", test_resnet},       {"bert", test_bert},
        {"gpt2", test_gpt2},           {"cfc", test_cfc},
        {"mobilenet", test_mobilenet}, {"paths", test_paths},
        {"exporter", test_exporter},   {"without_structure", test_without_structure},
        {"fused", test_fused},         {"any_names", test_any_names},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
