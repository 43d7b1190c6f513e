/* test_ncp_facts.c - what assay__ncp_facts says of a network: the wiring's facts against networkx
 * (tests/fixtures/ncp/facts.txt, written by tests/oracle/ncp_facts.py), the work that the wiring
 * needs against a count of its synapses, steps and groups against the sum of the nodes, and
 * metadata that contradicts itself. */
#include "unit/zoo_check.h"

#include "cost/ncp.h"
#include "model/rewrite/rewrite.h"

struct studied {
    struct assay__model *model;
    struct assay__workload *workload;
    struct assay__analysis *analysis;
    struct assay__arena *arena;
    struct assay__ncp ncp;
};

static struct studied study_model(struct assay__model *model, int64_t batch)
{
    struct studied s = {.model = model, .arena = assay__arena_new()};
    struct assay__workload_options options = {.batch = batch, .seed = 1};
    struct assay_error error = {0};
    bool found = false;
    ZOO_MUST(assay__workload_plan(s.model, &options, &s.workload, &error));
    ZOO_MUST(assay__analyse(s.model, s.workload, &s.analysis, &error));
    ZOO_MUST(assay__ncp_facts(s.model, s.analysis, s.arena, &found, &s.ncp, &error));
    CHECK(found);
    return s;
}

static struct studied study(const char *spec, int64_t batch)
{
    return study_model(zoo_built(spec), batch);
}

static void drop(struct studied *s)
{
    assay__analysis_free(s->analysis);
    assay__workload_free(s->workload);
    assay__model_free(s->model);
    assay__arena_free(s->arena);
}

static const struct assay__ncp_group *group(const struct assay__ncp *ncp, const char *name)
{
    for (size_t i = 0; i < ncp->group_count; i++)
        if (strcmp(ncp->groups[i].name, name) == 0) return &ncp->groups[i];
    return NULL;
}

/* --- the wiring's facts ----------------------------------------------------------------------- */

static void check_degree(const struct assay__ncp_degree *degree, size_t min, double mean,
                         size_t max)
{
    CHECK_INT(degree->min, min);
    CHECK_INT(degree->max, max);
    if (isnan(mean))
        CHECK(isnan(degree->mean));
    else
        CHECK_NEAR(degree->mean, mean, 1e-9);
}

static void check_groups(const struct assay__ncp *ncp, const char *text)
{
    char name[32];
    size_t neurons, low[2], high[2], count = 0;
    double mean[2];
    int used = 0;
    for (; sscanf(text, "%31s %zu %zu %lf %zu %zu %lf %zu%n", name, &neurons, &low[0], &mean[0],
                  &high[0], &low[1], &mean[1], &high[1], &used) == 8;
         text += used, count++) {
        const struct assay__ncp_group *found = group(ncp, name);
        CHECK(found != NULL);
        CHECK_INT(found->neurons, neurons);
        check_degree(&found->in, low[0], mean[0], high[0]);
        check_degree(&found->out, low[1], mean[1], high[1]);
    }
    CHECK(count >= 3);
}

/* 2 FLOPs, per row, per missing synapse, in ff1 and in ff2, at every step. */
static void check_needed(const struct assay__ncp *ncp, double missing, double rows)
{
    CHECK(ncp->flops_needed > 0);
    CHECK_NEAR(ncp->flops - ncp->flops_needed, 2 * 2 * missing * rows * (double)ncp->steps, 1e-6);
}

static void check_facts(const char *line)
{
    char spec[256], name[300];
    size_t synapses, sensory, excitatory, components, largest, cyclic, path, missing;
    int used = 0;
    CHECK_INT(sscanf(line, "%255s %zu %zu %zu %zu %zu %zu %zu %zu%n", spec, &synapses, &sensory,
                     &excitatory, &components, &largest, &cyclic, &path, &missing, &used),
              9);
    snprintf(name, sizeof name, "cfc:%s,seq=3", spec);
    struct studied s = study(name, 2);
    CHECK(s.ncp.wired);
    CHECK_INT(s.ncp.synapses, synapses);
    CHECK_INT(s.ncp.sensory_synapses, sensory);
    CHECK_INT(s.ncp.excitatory, excitatory);
    CHECK_INT(s.ncp.inhibitory, synapses + sensory - excitatory);
    CHECK_NEAR(s.ncp.sparsity, 1 - (double)synapses / (double)(s.ncp.units * s.ncp.units), 1e-12);
    CHECK_NEAR(s.ncp.sensory_sparsity, 1 - (double)sensory / (double)(s.ncp.inputs * s.ncp.units),
               1e-12);
    CHECK_INT(s.ncp.components, components);
    CHECK_INT(s.ncp.largest_component, largest);
    CHECK_INT(s.ncp.cyclic_components, cyclic);
    CHECK_INT(s.ncp.longest_path, path);
    check_groups(&s.ncp, line + used);
    check_needed(&s.ncp, (double)missing, 2);
    drop(&s);
}

static void test_wirings(void)
{
    FILE *file = fopen(ASSAY_TEST_ROOT "/tests/fixtures/ncp/facts.txt", "r");
    char line[1024];
    size_t count = 0;
    CHECK(file != NULL);
    for (; fgets(line, sizeof line, file); count++)
        check_facts(line);
    fclose(file);
    CHECK_INT(count, 8);
}

/* --- cost ------------------------------------------------------------------------------------- */

/* Groups, parts and the rest make the whole; the whole is the analysis'. */
static void check_sums(const struct studied *s)
{
    double flops = 0, steps = 0;
    for (size_t i = 0; i < s->ncp.group_count; i++) {
        CHECK(s->ncp.groups[i].flops >= 0);
        CHECK(s->ncp.groups[i].flops_needed <= s->ncp.groups[i].flops + 1e-6);
        flops += s->ncp.groups[i].flops;
    }
    for (size_t i = 0; i < s->ncp.per_step_count; i++)
        steps += s->ncp.per_step[i].flops;
    CHECK_NEAR(s->ncp.flops, s->analysis->flops, 1e-6 * s->analysis->flops);
    CHECK_NEAR(flops, s->ncp.flops_per_step * (double)s->ncp.steps, 1e-6 * flops);
    CHECK_NEAR(steps / (double)s->ncp.per_step_count, s->ncp.flops_per_step, 1e-6 * steps);
}

static void test_forms(void)
{
    static const char *const cells[] = {"cfc", "ltc", "cfc:mixed_memory=1,mode=no_gate",
                                        "cfc:backbone_units=64x32", "ltc:wiring=random,dt=input"};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        char name[200];
        char colon = strchr(cells[i], ':') ? ',' : ':';
        struct studied step = study(cells[i], 2);
        snprintf(name, sizeof name, "%s%cseq=5", cells[i], colon);
        struct studied unrolled = study(name, 2);
        snprintf(name, sizeof name, "%s%cseq=5,form=scan", cells[i], colon);
        struct studied scan = study(name, 2);
        check_sums(&step);
        check_sums(&unrolled);
        check_sums(&scan);
        CHECK_INT(unrolled.ncp.per_step_count, 5);
        CHECK_INT(scan.ncp.per_step_count, 1);
        CHECK_NEAR(unrolled.ncp.flops_per_step, step.ncp.flops_per_step, 1e-6);
        CHECK_NEAR(scan.ncp.flops_per_step, step.ncp.flops_per_step, 1e-6);
        CHECK_NEAR(scan.ncp.flops_needed, unrolled.ncp.flops_needed, 1e-3);
        CHECK_NEAR(unrolled.ncp.per_step[4].flops, step.ncp.flops, 1e-6);
        drop(&step);
        drop(&unrolled);
        drop(&scan);
    }
}

/* CfC 64/16 of 32 inputs, one row: Gemms of the three groups by hand. */
static void test_groups(void)
{
    struct studied s = study("cfc", 1);
    const struct assay__ncp_group *inter = group(&s.ncp, "inter"),
                                  *command = group(&s.ncp, "command"),
                                  *motor = group(&s.ncp, "motor"),
                                  *sensory = group(&s.ncp, "sensory");
    CHECK(inter && command && motor && sensory);
    CHECK(inter->flops > 4 * (2.0 * 61 * 29 + 29));
    CHECK(inter->flops < 4 * (2.0 * 61 * 29 + 29) + 29 * 60);
    CHECK_NEAR(inter->flops - inter->flops_needed, 4 * (32 * 29 - 448), 1e-9);
    CHECK(command->flops > 4 * (2.0 * 48 * 19 + 19));
    CHECK(motor->flops > 4 * (2.0 * 35 * 16 + 16));
    CHECK_INT(sensory->neurons, 32);
    CHECK_NEAR(sensory->flops, 0, 0);
    CHECK(!inter->shared);
    CHECK_INT(s.ncp.steps, 1);
    CHECK_STR(s.ncp.form, "step");
    CHECK_STR(s.ncp.wiring, "AutoNCP");
    drop(&s);
}

static double pair_flops(const struct studied *s, const char *scope)
{
    double sum = 0;
    for (size_t i = 0; i < s->model->graph.node_count; i++) {
        const char *name = s->model->graph.nodes[i].name;
        if (strncmp(name, scope, strlen(scope)) == 0 && strstr(name, "/synapses/"))
            sum += s->analysis->costs[i].flops;
    }
    return sum;
}

/* LTC: work on every pair, in six unfolds; all of it is needed when every pair is a synapse. */
static void test_ltc(void)
{
    struct studied sparse = study("ltc", 1), full = study("ltc:wiring=full", 1);
    double neurons = pair_flops(&sparse, "/step0/neurons/"),
           sensory = pair_flops(&sparse, "/step0/sensory/");
    CHECK(neurons >= 6 * 7.0 * 64 * 64); /* three products, a difference, two sums, a sigmoid */
    CHECK_NEAR(neurons * 32 * 64, sensory * 6 * 64 * 64, 1e-3 * neurons);
    CHECK_NEAR(sparse.ncp.flops - sparse.ncp.flops_needed,
               neurons * (1 - 424 / 4096.0) + sensory * (1 - 448 / 2048.0), 1e-3);
    CHECK_NEAR(full.ncp.flops, full.ncp.flops_needed, 1e-6);
    CHECK_NEAR(full.ncp.flops, sparse.ncp.flops, 1e-6);
    const struct assay__ncp_group *inter = group(&sparse.ncp, "inter"),
                                  *motor = group(&sparse.ncp, "motor");
    CHECK(inter && motor && inter->shared && motor->shared);
    CHECK(inter->flops > motor->flops);
    CHECK(inter->flops_needed < motor->flops_needed); /* inter neurons only have sensory synapses */
    drop(&sparse);
    drop(&full);
}

static void test_dense(void)
{
    struct studied s = study("cfc:backbone_units=64x32", 1);
    CHECK(!s.ncp.wired);
    CHECK_STR(s.ncp.wiring, "none");
    CHECK_HAS(s.ncp.note, "backbone mixes all neurons");
    CHECK_NEAR(s.ncp.flops, s.ncp.flops_needed, 0);
    CHECK(isnan(s.ncp.sparsity));
    CHECK(group(&s.ncp, "backbone") && group(&s.ncp, "heads") && !group(&s.ncp, "inter"));
    CHECK(group(&s.ncp, "backbone")->flops > 2.0 * (96 * 64 + 64 * 32));
    drop(&s);
}

/* A cost that is not known is not zero. */
static void test_unknown(void)
{
    struct studied s = study("cfc", 1);
    bool found = false;
    struct assay_error error = {0};
    for (size_t i = 0; i < s.model->graph.node_count; i++)
        if (strcmp(s.model->graph.nodes[i].name, "/step0/command/ff1/Gemm") == 0)
            s.model->graph.nodes[i].op = "NoSuchOperator";
    ZOO_MUST(assay__ncp_facts(s.model, s.analysis, s.arena, &found, &s.ncp, &error));
    CHECK(isnan(s.ncp.flops) && isnan(s.ncp.flops_needed) && isnan(s.ncp.flops_per_step));
    CHECK(isnan(group(&s.ncp, "command")->flops));
    CHECK(group(&s.ncp, "inter")->flops > 0);
    CHECK_INT(s.ncp.synapses, 424);
    drop(&s);
}

/* Quantised products stand in the Gemms' place: the same synapses are missing. */
static void test_quantised(void)
{
    static const char *const specs[] = {"cfc", "cfc:mode=pure", "cfc:mode=no_gate,seq=3"};
    for (size_t i = 0; i < 3; i++) {
        struct assay_error error = {0};
        struct studied plain = study(specs[i], 2);
        for (int kind = 0; kind < 2; kind++) {
            struct assay__model *model = zoo_built(specs[i]);
            ZOO_MUST(kind ? assay__rewrite_dynamic_int8(model, NULL, &error)
                          : assay__rewrite_weights_int8(model, NULL, &error));
            struct studied s = study_model(model, 2);
            CHECK(s.ncp.flops > plain.ncp.flops);
            CHECK(plain.ncp.flops > plain.ncp.flops_needed);
            CHECK_NEAR(s.ncp.flops - s.ncp.flops_needed, plain.ncp.flops - plain.ncp.flops_needed,
                       1e-6);
            for (size_t g = 0; g < s.ncp.group_count; g++) {
                const struct assay__ncp_group *now = &s.ncp.groups[g],
                                              *was = group(&plain.ncp, now->name);
                CHECK_NEAR(now->flops - now->flops_needed, was->flops - was->flops_needed, 1e-6);
            }
            drop(&s);
        }
        drop(&plain);
    }
}

/* What the graph executes is known, but no longer which of it the wiring masks. */
static void test_need_unknown(void)
{
    for (int kind = 0; kind < 2; kind++) {
        struct studied s = study("cfc", 1);
        bool found = false;
        struct assay_error error = {0};
        double executed = s.ncp.flops;
        for (size_t i = 0; i < s.model->graph.node_count; i++) {
            struct assay__node *node = &s.model->graph.nodes[i];
            if (kind) /* names lost */
                node->name = "";
            else if (strcmp(node->name, "/step0/command/ff1/Gemm") == 0)
                node->name = "/step0/motor/ff1/Gemm"; /* not that group's product */
        }
        ZOO_MUST(assay__ncp_facts(s.model, s.analysis, s.arena, &found, &s.ncp, &error));
        CHECK_NEAR(s.ncp.flops, executed, 1e-6);
        CHECK(isnan(s.ncp.flops_needed));
        drop(&s);
    }
}

/* --- metadata of anyone's --------------------------------------------------------------------- */

static void wrong(const char *metadata, const char *why)
{
    struct studied s = study("cfc:units=4,outputs=1,inputs=1", 1);
    struct assay_error error = {0};
    bool found = false;
    CHECK_INT(assay__model_set_metadata(s.model, ASSAY__NCP_METADATA, metadata), 0);
    CHECK_INT(assay__ncp_facts(s.model, s.analysis, s.arena, &found, &s.ncp, &error),
              ASSAY_EFORMAT);
    CHECK_HAS(error.message, why);
    drop(&s);
}

#define HEAD(wiring)                                                                              \
    "{\"version\":1,\"cell\":\"CfC\",\"mode\":\"default\",\"form\":\"step\",\"wiring\":\"" wiring \
    "\",\"inputs\":1,\"outputs\":1,\"steps\":1,"

static void test_bad_metadata(void)
{
    wrong("", "not a JSON object");
    wrong("[1]", "not a JSON object");
    wrong("{\"version\":1", "not a JSON object");
    wrong("{\"version\":2}", "version is not 1");
    wrong("{\"version\":1,\"cell\":\"RNN\"}", "unknown cell");
    wrong(HEAD("Odd") "\"units\":2}", "unknown wiring");
    wrong(HEAD("NCP") "\"units\":-2}", "units");
    wrong(HEAD("NCP") "\"units\":1e30}", "units");
    wrong(HEAD("NCP") "\"units\":100000}", "units");
    wrong(HEAD("NCP") "\"units\":2}", "matrix");
    wrong(HEAD("NCP") "\"units\":2,\"adjacency\":\"+-..\",\"sensory\":\"+\"}", "matrix");
    wrong(HEAD("NCP") "\"units\":2,\"adjacency\":\"+-x.\",\"sensory\":\"+.\"}", "matrix");
    wrong(HEAD("NCP") "\"units\":2,\"adjacency\":\"+-..\",\"sensory\":\"+.\"}", "groups");
    wrong(HEAD("NCP") "\"units\":2,\"adjacency\":\"+-..\",\"sensory\":\"+.\",\"groups\":["
                      "{\"name\":\"a\",\"first\":0,\"count\":2},"
                      "{\"name\":\"b\",\"first\":1,\"count\":1}]}",
          "groups");
    wrong(HEAD("NCP") "\"units\":2,\"adjacency\":\"+-..\",\"sensory\":\"+.\",\"groups\":["
                      "{\"name\":\"a\",\"first\":1,\"count\":2}]}",
          "groups");
}

static void test_none(void)
{
    struct studied s = study("cfc", 1);
    struct assay__model *other = zoo_built("cfc:units=5,outputs=1");
    struct assay_error error = {0};
    bool found = true;
    other->extra = NULL;
    other->extra_size = 0;
    CHECK(assay__model_metadata(other, ASSAY__NCP_METADATA) == NULL);
    ZOO_MUST(assay__ncp_facts(other, s.analysis, s.arena, &found, &s.ncp, &error));
    CHECK(!found);
    assay__model_free(other);
    drop(&s);
}

static void test_place(void)
{
    char name[16];
    int64_t step = 0;
    CHECK(assay__ncp_place("/step12/inter/ff1/Gemm", &step, name, sizeof name));
    CHECK_INT(step, 12);
    CHECK_STR(name, "inter");
    CHECK(assay__ncp_place("/step/a_name_that_is_too_long/Add", &step, name, sizeof name));
    CHECK_INT(step, -1);
    CHECK_STR(name, "a_name_that_is_");
    CHECK(assay__ncp_place("/step3/input/Slice", &step, name, sizeof name));
    CHECK_INT(step, 3);
    CHECK_STR(name, "sensory"); /* who takes the step's inputs */
    CHECK(!assay__ncp_place("/step12/Gemm", &step, name, sizeof name));
    CHECK(!assay__ncp_place("/stepper/inter/Gemm", &step, name, sizeof name));
    CHECK(!assay__ncp_place("/step99999999999999999999/inter/Gemm", &step, name, sizeof name));
    CHECK(!assay__ncp_place("", &step, name, sizeof name));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"wirings", test_wirings},
        {"forms", test_forms},
        {"groups", test_groups},
        {"ltc", test_ltc},
        {"dense", test_dense},
        {"unknown", test_unknown},
        {"quantised", test_quantised},
        {"need_unknown", test_need_unknown},
        {"bad_metadata", test_bad_metadata},
        {"none", test_none},
        {"place", test_place},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
