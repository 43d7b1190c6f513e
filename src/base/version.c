/* version.c - the version of the library, as a function so that a program can ask what it was
 * linked to. */
#include <assay/api.h>

const char *assay_version(void)
{
    return ASSAY_VERSION_STRING;
}
