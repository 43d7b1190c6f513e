/* worker_state.c - counts numbers of fed-back states and of other outputs that are infinite or NaN:
 * all bits of the exponent are set. Nothing is converted, because a state may be as large as
 * memory. */
#include "run/worker/worker_state.h"

#include <math.h>
#include <string.h>

static double count_16(const uint16_t *numbers, size_t count, uint16_t exponent)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += (numbers[i] & exponent) == exponent;
    return (double)found;
}

static double count_32(const uint32_t *numbers, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += (numbers[i] & 0x7f800000u) == 0x7f800000u;
    return (double)found;
}

static double count_64(const uint64_t *numbers, size_t count)
{
    const uint64_t exponent = UINT64_C(0x7ff0000000000000);
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += (numbers[i] & exponent) == exponent;
    return (double)found;
}

/* Whole numbers are finite. */
static double count_nonfinite(const struct assay__host_tensor *tensor)
{
    if (!tensor->data) return tensor->data_size ? (double)NAN : 0;
    switch (tensor->dtype) {
    case ASSAY__FLOAT16: return count_16(tensor->data, tensor->data_size / 2, 0x7c00);
    case ASSAY__BFLOAT16: return count_16(tensor->data, tensor->data_size / 2, 0x7f80);
    case ASSAY__FLOAT32: return count_32(tensor->data, tensor->data_size / 4);
    case ASSAY__FLOAT64: return count_64(tensor->data, tensor->data_size / 8);
    default: return 0;
    }
}

void assay__worker_state_read(const struct assay__engine_ops *engine,
                              struct assay__session *session,
                              const struct assay__feedback *feedback, size_t count,
                              struct assay__worker_state *state)
{
    const struct assay__host_tensor *outputs = NULL;
    size_t output_count = 0, found = 0;
    double nonfinite = 0, others = 0;
    *state = (struct assay__worker_state){NAN, NAN};
    if (!engine->outputs || engine->outputs(session, &outputs, &output_count, NULL)) return;
    for (size_t k = 0; k < output_count; k++) {
        size_t i = 0;
        while (i < count && strcmp(outputs[k].name, feedback[i].output) != 0)
            i++;
        if (i < count) {
            nonfinite += count_nonfinite(&outputs[k]);
            found++;
        } else {
            others += count_nonfinite(&outputs[k]);
        }
    }
    if (count && found == count) state->nonfinite = nonfinite;
    if (found < output_count) state->outputs_nonfinite = others;
}
