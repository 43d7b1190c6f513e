/* rules.h - the list of families of rules. A rule is a row of its family's table in rules_FAMILY.c;
 * to add a family, write such a file and add a row here. doc/rules.md is generated from the
 * tables. */
#ifndef ASSAY_ADVISE_RULES_H
#define ASSAY_ADVISE_RULES_H

#include "advise/rule.h"

/* X(FAMILY), in the order of the report for findings of equal weight. */
#define ASSAY__RULE_FAMILIES(X) \
    X(target)                   \
    X(batch)                    \
    X(precision)                \
    X(graph)                    \
    X(fusion)                   \
    X(bound)                    \
    X(device)                   \
    X(machine)                  \
    X(memory)                   \
    X(start)                    \
    X(sequence)                 \
    X(require)

/* Each ends with a NULL id. */
#define ASSAY__RULES_DECLARE(FAMILY) extern const struct assay__rule assay__rules_##FAMILY[];
ASSAY__RULE_FAMILIES(ASSAY__RULES_DECLARE)

#endif
