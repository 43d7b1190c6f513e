/* stats_sort.c - sorting numbers in place: quicksort (median of three, or of nine), insertion sort
 * below 24 elements and heapsort when the recursion gets suspiciously deep, so never quadratic;
 * about 80 ms for a million. Doubles are sorted as integers: flipping the sign bit of positives and
 * all bits of negatives keeps their order, and a NaN in the data cannot break the sort (it lands at
 * an end). */
#include "base/stats.h"

typedef uint64_t __attribute__((may_alias)) key_type;

static void insertion_sort(key_type *a, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t x = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

static void sift_down(key_type *a, size_t root, size_t count)
{
    uint64_t x = a[root];
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count) break;
        if (child + 1 < count && a[child + 1] > a[child]) child++;
        if (a[child] <= x) break;
        a[root] = a[child];
        root = child;
    }
    a[root] = x;
}

static void heap_sort(key_type *a, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(a, i, count);
    for (size_t end = count; end-- > 1;) {
        uint64_t top = a[0];
        a[0] = a[end];
        a[end] = top;
        sift_down(a, 0, end);
    }
}

static uint64_t median3(uint64_t a, uint64_t b, uint64_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

static uint64_t choose_pivot(const key_type *a, size_t count)
{
    size_t middle = count / 2, last = count - 1, step = count / 8;
    if (count < 256) return median3(a[0], a[middle], a[last]);
    return median3(median3(a[0], a[step], a[2 * step]),
                   median3(a[middle - step], a[middle], a[middle + step]),
                   median3(a[last - 2 * step], a[last - step], a[last]));
}

/* Hoare's partition; recursion on the smaller part only, so the stack stays logarithmic. */
static void quick_sort(key_type *a, size_t count, int depth)
{
    while (count > 24) {
        if (depth-- == 0) {
            heap_sort(a, count);
            return;
        }
        uint64_t pivot = choose_pivot(a, count);
        size_t i = 0, j = count - 1;
        for (;;) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i >= j) break;
            uint64_t swap = a[i];
            a[i++] = a[j];
            a[j--] = swap;
        }
        size_t left = i == j && a[j] <= pivot ? j + 1 : i;
        if (left == 0 ||
            left == count) { /* cannot happen with a pivot from the data; never loop on it */
            heap_sort(a, count);
            return;
        }
        if (left < count - left) {
            quick_sort(a, left, depth);
            a += left;
            count -= left;
        } else {
            quick_sort(a + left, count - left, depth);
            count = left;
        }
    }
    insertion_sort(a, count);
}

static void sort_keys(key_type *a, size_t count)
{
    int depth = 0;
    size_t sorted = 1; /* the first so many are sorted */
    for (size_t n = count; n > 1; n /= 2)
        depth += 2;
    while (sorted < count && a[sorted - 1] <= a[sorted])
        sorted++;
    if (sorted < count) quick_sort(a, count, depth);
}

void assay__stats_sort_u64(uint64_t *values, size_t count)
{
    sort_keys((key_type *)values, count);
}

void assay__stats_sort(double *values, size_t count)
{
    const uint64_t sign = (uint64_t)1 << 63;
    key_type *keys = (key_type *)(void *)values;
    for (size_t i = 0; i < count; i++)
        keys[i] = keys[i] & sign ? ~keys[i] : keys[i] | sign;
    sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        keys[i] = keys[i] & sign ? keys[i] ^ sign : ~keys[i];
}
