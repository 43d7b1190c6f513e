/* rules_require.c - the thresholds of a requirement table as rules: floors are missed below 0.8 of
 * what is required, budgets are near from 0.8 on and exceeded above 1. The shortfall is not a
 * potential: none is given. */
#include "advise/rules.h"

#include <math.h>

#define FLOOR 0.8 /* the monitoring guide recommends a change below this share of a floor … */
#define BUDGET_NEAR 0.8 /* … and warns above this share of a budget */

static const char no_table[] = "requirement: the run was not checked against a table";

static enum assay__rule_outcome rate(struct assay__advice *a)
{
    double share = assay__trial_value(a->trial, "compute.efficiency"),
           own = assay__trial_value(a->trial, "compute.rate");
    if (!isfinite(share)) return assay__rule_missing(a, no_table);
    if (share >= FLOOR) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%s is %s %% of the required rate", assay__scaled(own, "FLOP/s").text,
                         assay__percent(share).text);
    return assay__rule_found(a, NAN);
}

struct budget {
    const char *metric, *what;
};

static const struct budget memory = {"memory.budget_share", "peak memory"},
                           power = {"power.budget_share", "power"};

static enum assay__rule_outcome budget(struct assay__advice *a)
{
    const struct budget *of = a->result->rule->with;
    double share = assay__trial_value(a->trial, of->metric);
    if (!isfinite(share)) return assay__rule_missing(a, no_table);
    if (share <= BUDGET_NEAR) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%s is %s %% of the budget%s", of->what, assay__percent(share).text,
                         share > 1 ? ": exceeded" : "");
    return assay__rule_found(a, NAN);
}

const struct assay__rule assay__rules_require[] = {
    {"rate-required", "requirement", "high", "large", 0, rate, assay__try_batch, NULL,
     "The compute rate is below what is required", "less than 0.8 of the FLOP/s in the table",
     "try larger batches first (a sweep of 1 to 32 shows which), then the findings above"},
    {"memory-budget", "requirement", "high", "medium", 0, budget, NULL, &memory,
     "Memory is near or above its budget", "more than 0.8 of the budget in the table",
     "use a smaller batch, 16-bit or int8 weights, fewer requests in flight; assay memory shows "
     "where it goes"},
    {"power-budget", "requirement", "high", "medium", 0, budget, NULL, &power,
     "Power is near or above its budget", "more than 0.8 of the budget in the table",
     "use fewer threads, a lower clock or power limit, a more efficient device"},
    {0},
};
