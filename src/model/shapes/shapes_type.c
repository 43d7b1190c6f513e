/* shapes_type.c - what a TypeProto says of sequences and optionals, which the reader carries but
 * does not interpret: TypeProto { 1 tensor { 1 element type, 2 shape { 1 dim { 1 value, 2 symbol }
 * } }, 4 sequence { 1 TypeProto }, 9 optional { 1 TypeProto } }. Nesting beyond sequence and
 * optional is left unknown. */
#include "model/shapes/shapes_scope.h"

#include "model/wire.h"

static bool find_field(const uint8_t *data, size_t size, uint32_t number,
                       struct assay__wire_field *out)
{
    struct assay__wire wire = assay__wire_over(data, size);
    while (assay__wire_next(&wire, out) == ASSAY__WIRE_FIELD)
        if (out->number == number) return true;
    return false;
}

static int64_t read_dim(struct assay__shape_state *state, const struct assay__wire_field *dim)
{
    struct assay__wire_field field;
    if (find_field(dim->data, dim->size, 1, &field) && field.type == ASSAY__WIRE_VARINT)
        return field.value <= INT64_MAX ? (int64_t)field.value : ASSAY__NUM_ANY;
    if (!find_field(dim->data, dim->size, 2, &field) || field.type != ASSAY__WIRE_BYTES)
        return ASSAY__NUM_ANY;
    char *name = assay__arena_strndup(state->arena, (const char *)field.data, field.size);
    return name ? assay__num_symbol(state->symbols, name) : ASSAY__NUM_ANY;
}

static int read_tensor(struct assay__shape_state *state, const struct assay__wire_field *tensor,
                       struct assay__fact *fact)
{
    struct assay__wire_field field, shape;
    enum assay__dtype dtype = ASSAY__UNDEFINED;
    int64_t nums[ASSAY__SHAPE_RANK];
    int rank = 0;
    if (find_field(tensor->data, tensor->size, 1, &field) && field.type == ASSAY__WIRE_VARINT &&
        field.value <= ASSAY__INT2)
        dtype = (enum assay__dtype)field.value;
    if (!find_field(tensor->data, tensor->size, 2, &shape) || shape.type != ASSAY__WIRE_BYTES)
        return assay__fact_set(state, fact, dtype, -1, NULL);
    struct assay__wire wire = assay__wire_over(shape.data, shape.size);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        if (rank == ASSAY__SHAPE_RANK) return assay__fact_set(state, fact, dtype, -1, NULL);
        nums[rank++] = read_dim(state, &field);
    }
    return assay__fact_set(state, fact, dtype, rank, nums);
}

int assay__fact_from_type(struct assay__shape_state *state, const uint8_t *data, size_t size,
                          struct assay__fact *fact)
{
    struct assay__wire_field field, inner;
    for (int depth = 0; depth < 4; depth++) {
        if (find_field(data, size, 1, &field) && field.type == ASSAY__WIRE_BYTES)
            return read_tensor(state, &field, fact);
        bool sequence = find_field(data, size, 4, &field);
        if (!sequence && !find_field(data, size, 9, &field)) return 0;
        if (field.type != ASSAY__WIRE_BYTES || fact->sequence) return 0;
        fact->sequence = sequence;
        fact->optional = fact->optional || !sequence;
        if (!find_field(field.data, field.size, 1, &inner) || inner.type != ASSAY__WIRE_BYTES)
            return 0;
        data = inner.data;
        size = inner.size;
    }
    return 0;
}
