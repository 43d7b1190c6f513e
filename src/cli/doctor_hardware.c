/* doctor_hardware.c - the check of assay doctor for GPUs and NPUs that are present but cannot be
 * used: no driver, or one whose library is missing. Each is named, with the command that would
 * change it. */
#include "cli/doctor.h"
#include "platform/guard.h"
#include "probe/hardware.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_NS 20000000000u /* NVML may have to wake its GPUs first */

static void name_item(struct assay__buf *out, const struct assay__hardware *item)
{
    if (strncmp(item->name, "0x", 2) == 0 && *item->vendor)
        assay__buf_printf(out, "%s %s", item->vendor, item->name);
    else if (*item->name)
        assay__buf_puts(out, item->name);
    else
        assay__buf_printf(out, "%s%s%s", item->vendor, *item->vendor ? " " : "",
                          item->kind[0] == 'n' ? "NPU" : "GPU");
    if (*item->pci) assay__buf_printf(out, " (%s)", item->pci);
}

struct listing {
    struct assay__arena *arena;
    const struct assay__hardware *items;
    size_t count;
    int code;
};

static void list_hardware(void *context)
{
    struct listing *listing = context;
    listing->code = assay__hardware_list(listing->arena, &listing->items, &listing->count, NULL);
}

static void drop_listing(void *context)
{
    struct listing *listing = context;
    if (!listing) return;
    assay__arena_free(listing->arena);
    free(listing);
}

void assay__check_drivers(const struct assay__patient *p, struct assay__diagnosis *d)
{
    (void)p;
    struct listing *listing = calloc(1, sizeof *listing);
    if (listing) listing->arena = assay__arena_new();
    int code = listing && listing->arena
                   ? assay__guard_run(list_hardware, drop_listing, listing, LIMIT_NS)
                   : ASSAY_ENOMEM;
    if (!code) code = listing->code;
    if (code)
        ASSAY__UNKNOWN(d, "GPUs and NPUs cannot be listed: %s",
                       code == ASSAY_ETIMEOUT ? "a driver did not answer within 20 s"
                                              : assay_error_text(code));
    for (size_t i = 0; !code && i < listing->count; i++) {
        const struct assay__hardware *item = &listing->items[i];
        if (!*item->help) continue;
        d->health = ASSAY__HEALTH_MISSING;
        assay__buf_puts(&d->says, d->says.length ? "; " : "");
        name_item(&d->says, item);
        assay__buf_printf(&d->says, ": %s", item->note);
        if (!strstr(assay__buf_text(&d->advice), item->help)) /* each command once */
            assay__buf_printf(&d->advice, "%s%s", d->advice.length ? "; " : "", item->help);
    }
    if (!code && !listing->count)
        assay__buf_puts(&d->says, "the operating system lists no GPU and no NPU");
    for (size_t i = 0; !code && i < listing->count && d->health != ASSAY__HEALTH_MISSING; i++) {
        assay__buf_puts(&d->says, i ? "; " : "found: ");
        name_item(&d->says, &listing->items[i]);
        if (*listing->items[i].note) assay__buf_printf(&d->says, ", %s", listing->items[i].note);
    }
    if (code != ASSAY_ETIMEOUT)
        drop_listing(listing); /* otherwise it belongs to the abandoned thread */
}
