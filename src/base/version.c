/* version.c - the version of the library, as a function so that a program can query what it was
 * linked with. */
#include <assay/api.h>

const char *assay_version(void)
{
    return ASSAY_VERSION_STRING;
}
