/* builders.h - the builders of zoo.c's table, one file each, and what they share. */
#ifndef ASSAY_ZOO_BUILDERS_H
#define ASSAY_ZOO_BUILDERS_H

#include "zoo/zoo.h"

/** After the last assay__zoo_param_int: an error for a key that was not asked for, before any
 *  work is done. */
int assay__zoo_params_done(const struct assay__zoo_params *params, struct assay_error *error);

assay__zoo_fn assay__zoo_cfc, assay__zoo_ltc;

assay__zoo_fn assay__zoo_resnet18, assay__zoo_resnet50, assay__zoo_mobilenetv2,
    assay__zoo_mobilenetv3_small, assay__zoo_squeezenet, assay__zoo_efficientnet_b0,
    assay__zoo_unet;

assay__zoo_fn assay__zoo_gpt2, assay__zoo_bert, assay__zoo_distilbert, assay__zoo_llama,
    assay__zoo_vit, assay__zoo_lora, assay__zoo_softmax, assay__zoo_layernorm, assay__zoo_rmsnorm,
    assay__zoo_matmul, assay__zoo_gelu, assay__zoo_attention, assay__zoo_mlp, assay__zoo_lstm,
    assay__zoo_gru;

#endif
