/* worker_main.c - assay-worker: runs one launch for a parent that holds the other end of descriptor
 * 3. Not meant to be started by hand. */
#include "run/worker/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    if (fcntl(ASSAY__WORKER_SOCKET, F_GETFD) < 0 || fcntl(ASSAY__WORKER_SHARED, F_GETFD) < 0) {
        fputs("assay-worker: started by assay run for each launch; it does nothing on its own\n",
              stderr);
        return 2;
    }
    /* Newer builds of ONNX Runtime for Linux collect usage data: a device id and a database in the
     * user's cache folder, a file in $TMPDIR. A measurement should leave no such traces, and should
     * not compete with that work. The variable must be set before the library is loaded; a value
     * set by the user is kept. */
    setenv("ORT_DISABLE_TELEMETRY", "1", 0);
    return assay__worker_main();
}
