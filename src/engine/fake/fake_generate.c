/* fake_generate.c - generations of the fake engine: a step makes `tokens` tokens, the first when
 * `steady` and the like say, the others `decode` apart. Sequence b's k-th token is 100 b + k. The
 * times of GENERATIONS_KEPT generations are kept until they are asked for; more are counted as
 * dropped. */
#include "engine/fake/fake.h"

#include <stdlib.h>
#include <string.h>

#define GENERATIONS_KEPT 4096u
#define TOKENS_MOST 65536

int assay__fake_generation_open(struct assay__session *session,
                                const struct assay__session_options *options,
                                struct assay_error *error)
{
    const struct assay__generation *plan = options->generation;
    if (!plan) return 0;
    if (plan->tokens < 1 || plan->tokens > TOKENS_MOST || session->stream_count != 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the fake engine makes 1 to %d tokens, in one stream", TOKENS_MOST);
    for (size_t i = 0; i < options->input_count && plan->ids; i++)
        if (strcmp(options->inputs[i].name, plan->ids) == 0 && options->inputs[i].rank == 2) {
            session->batch = options->inputs[i].dims[0];
            session->prompt = options->inputs[i].dims[1];
        }
    if (session->batch < 1 || session->batch > 4096)
        return assay_error_set(error, ASSAY_ELIMIT, "the fake engine makes 1 to 4096 sequences");
    session->tokens = plan->tokens;
    session->times_ns = calloc(GENERATIONS_KEPT * (size_t)plan->tokens, sizeof(uint64_t));
    session->ids = calloc((size_t)(plan->tokens * session->batch), sizeof(int64_t));
    if (!session->times_ns || !session->ids) return assay__no_memory(error);
    for (int64_t b = 0; b < session->batch; b++)
        for (int64_t k = 0; k < plan->tokens; k++)
            session->ids[b * plan->tokens + k] = 100 * b + k;
    return 0;
}

uint64_t assay__fake_generation_step(struct assay__session *session, uint64_t first_ns)
{
    bool room = session->generations < GENERATIONS_KEPT;
    uint64_t now_ns = first_ns,
             *times = session->times_ns + session->generations * (size_t)session->tokens;
    for (int64_t k = 0; k < session->tokens; k++) {
        if (k > 0) now_ns += session->decode_ns[(size_t)(k - 1) % session->decode_count];
        if (room) times[k] = now_ns;
    }
    if (room)
        session->generations++;
    else
        session->dropped++;
    return now_ns;
}

int assay__fake_tokens(struct assay__session *session, struct assay__token_times *times,
                       struct assay_error *error)
{
    if (session->tokens < 1)
        return assay_error_set(error, ASSAY_EINVAL, "the session was not opened to generate");
    *times = (struct assay__token_times){
        .tokens = session->tokens,
        .prompt = session->prompt,
        .batch = session->batch,
        .generations = session->generations,
        .dropped = session->dropped,
        .ns = session->times_ns,
        .ids = session->ids,
        .choose_ns = (double)session->choose_ns,
    };
    session->generations = session->dropped = 0;
    return 0;
}
