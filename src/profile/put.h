/* put.h - parts of a document as rows. The caller holds a transaction and checks the writer's code
 * when it ends. */
#ifndef ASSAY_PROFILE_PUT_H
#define ASSAY_PROFILE_PUT_H

#include "profile/profile.h"
#include "profile/writer.h"

void assay__put_profile(struct assay__writer *writer, const struct assay_profile *profile);
void assay__put_trial(struct assay__writer *writer, const struct assay__trial *trial);
void assay__put_launch(struct assay__writer *writer, int trial, const struct assay__launch *launch);
void assay__put_findings(struct assay__writer *writer, const struct assay_profile *profile);

#endif
