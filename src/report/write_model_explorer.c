/* write_model_explorer.c - the layers' times as node data for the Model Explorer viewer: one object
 * with its "name", "results" that are keyed by the names of the model's nodes, and a gradient. The
 * viewer shows one number per node, in milliseconds. It is the form of one graph (the viewer's
 * GraphNodeData), so it fits whatever the viewer calls the graph.
 *
 * A layer that the engine fused from several nodes has one time. It is given to the layer's first
 * node, which names the layer in every other report, and to no other: a time divided among them
 * would be made up. Layers without a node of the model (the engine's own, unattributed time) cannot
 * be shown there and are left out; so are layers without a time. Names that occur twice keep their
 * sum. */
#include "report/json/json_members.h"
#include "base/map.h"
#include "report/formats.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_MS 1e6

/* The first trial whose layers have times. */
static const struct assay__trial *find_trial(const struct assay_profile *profile)
{
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__layers *layers = &profile->trials[i].layers;
        for (size_t k = 0; k < layers->count; k++)
            if (layers->items[k].from_count && isfinite(layers->items[k].time_ns))
                return &profile->trials[i];
    }
    return NULL;
}

static void put_gradient(struct assay__json_writer *w)
{
    static const struct {
        double stop;
        const char *background, *text;
    } stops[] = {{0, "#ffffff", "#1a1a1a"}, {0.5, "#f5c26b", "#1a1a1a"}, {1, "#b3350a", "#ffffff"}};
    assay__json_put_array(w, "gradient");
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
        assay__json_record(w, NULL, json_number("stop", stops[i].stop),
                           json_string("bgColor", stops[i].background),
                           json_string("textColor", stops[i].text));
    assay__json_array_end(w);
}

/* Sums of time by first node, in the order in which the nodes first occur. */
struct sums {
    const char **names;
    double *times_ns;
    size_t count;
};

static int add_up(const struct assay__layers *layers, struct assay__map *places, struct sums *sums)
{
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        if (!layer->from_count || !isfinite(layer->time_ns)) continue;
        size_t at = assay__map_get(places, layer->from[0]);
        if (at == ASSAY__MAP_NONE) {
            at = sums->count++;
            sums->names[at] = layer->from[0];
            if (assay__map_set(places, layer->from[0], at)) return ASSAY_ENOMEM;
        }
        sums->times_ns[at] += layer->time_ns;
    }
    return 0;
}

int assay__write_model_explorer(struct assay__study *study,
                                const struct assay_report_options *options, struct assay__buf *out,
                                struct assay_error *error)
{
    const struct assay__trial *trial = find_trial(study->profile);
    struct assay__json_writer w;
    (void)options;
    if (!trial) {
        assay_error_set(error, ASSAY_ENOTFOUND,
                        "no layer of this profile has both a time and a node of the model");
        if (error) error->option = "layers";
        return ASSAY_ENOTFOUND;
    }
    size_t most = trial->layers.count;
    struct assay__map *places = assay__map_new();
    struct sums sums = {calloc(most, sizeof *sums.names), calloc(most, sizeof *sums.times_ns), 0};
    int code = places && sums.names && sums.times_ns ? add_up(&trial->layers, places, &sums)
                                                     : ASSAY_ENOMEM;
    assay__json_start(&w, out, true);
    assay__json_object(&w);
    assay__json_put_string(&w, "name", "time per inference (ms)");
    assay__json_put_object(&w, "results");
    for (size_t i = 0; i < sums.count && code == 0; i++)
        assay__json_record(&w, sums.names[i], json_number("value", sums.times_ns[i] / NS_PER_MS));
    assay__json_object_end(&w);
    put_gradient(&w);
    assay__json_tail(&w);
    assay__map_free(places);
    free(sums.names);
    free(sums.times_ns);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}
