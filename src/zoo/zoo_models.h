/* zoo_models.h - the list of models of the zoo. To add one, write a file that defines
 * assay__zoo_NAME and add a row here. */
#ifndef ASSAY_ZOO_MODELS_H
#define ASSAY_ZOO_MODELS_H

#include "zoo/zoo.h"

/* X(NAME), in the order of `assay make --list`. */
#define ASSAY__ZOO_MODELS(X) \
    X(cfc)                   \
    X(ltc)                   \
    X(resnet18)              \
    X(resnet50)              \
    X(mobilenetv2)           \
    X(mobilenetv3_small)     \
    X(squeezenet)            \
    X(efficientnet_b0)       \
    X(unet)                  \
    X(gpt2)                  \
    X(llama)                 \
    X(bert)                  \
    X(distilbert)            \
    X(vit)                   \
    X(lora)                  \
    X(softmax)               \
    X(layernorm)             \
    X(rmsnorm)               \
    X(matmul)                \
    X(gelu)                  \
    X(attention)             \
    X(mlp)                   \
    X(lstm)                  \
    X(gru)

#define ASSAY__ZOO_DECLARE(NAME) extern const struct assay__zoo_entry assay__zoo_##NAME;
ASSAY__ZOO_MODELS(ASSAY__ZOO_DECLARE)

#endif
