/* map.h - string to size_t, open addressing, resistant to crafted keys (seeded hash).
 * Keys are borrowed: they must outlive the map. */
#ifndef ASSAY_BASE_MAP_H
#define ASSAY_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__MAP_NONE ((size_t)-1)

struct assay__map;
struct assay__names;

struct assay__map *assay__map_new(void);
/** A map for keys that mostly come from `names` (borrowed; NULL: as assay__map_new): an array of
 *  one value for each name, so that finding an interned key needs no hash and no comparison. Any
 *  other key works too, at the cost of a plain map. The array is as long as there are names: not
 *  for many small maps. Values must not be ASSAY__MAP_NONE. */
struct assay__map *assay__map_over(const struct assay__names *names);
void assay__map_free(struct assay__map *map);
/** Makes room for this many keys, so that the table does not have to grow. 0 or ASSAY_ENOMEM. */
int assay__map_reserve(struct assay__map *map, size_t count);
/** Sets or replaces. 0 or ASSAY_ENOMEM. */
int assay__map_set(struct assay__map *map, const char *key, size_t value);
/** The value, or ASSAY__MAP_NONE. */
size_t assay__map_get(const struct assay__map *map, const char *key);
static inline bool assay__map_has(const struct assay__map *map, const char *key)
{
    return assay__map_get(map, key) != ASSAY__MAP_NONE;
}
size_t assay__map_count(const struct assay__map *map);
bool assay__map_remove(struct assay__map *map, const char *key);

#endif
