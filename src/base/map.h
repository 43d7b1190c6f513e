/* map.h - string to size_t, open addressing, resistant to crafted keys (seeded hash).
 * Keys are borrowed: they must outlive the map. */
#ifndef ASSAY_BASE_MAP_H
#define ASSAY_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__MAP_NONE ((size_t)-1)

struct assay__map;

struct assay__map *assay__map_new(void);
void assay__map_free(struct assay__map *map);
/** Sets or replaces. 0 or ASSAY_ENOMEM. */
int assay__map_set(struct assay__map *map, const char *key, size_t value);
/** The value, or ASSAY__MAP_NONE. */
size_t assay__map_get(const struct assay__map *map, const char *key);
size_t assay__map_count(const struct assay__map *map);
bool assay__map_remove(struct assay__map *map, const char *key);

#endif
