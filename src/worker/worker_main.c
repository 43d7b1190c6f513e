/* worker_main.c - assay-worker: runs one launch for a parent that holds the other end of descriptor
 * 3. Not for people. */
#include "run/worker/worker.h"

#include <fcntl.h>
#include <stdio.h>

int main(void)
{
    if (fcntl(ASSAY__WORKER_SOCKET, F_GETFD) < 0 || fcntl(ASSAY__WORKER_SHARED, F_GETFD) < 0) {
        fputs("assay-worker: started by assay run for each launch; it does nothing by itself\n",
              stderr);
        return 2;
    }
    return assay__worker_main();
}
