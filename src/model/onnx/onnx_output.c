/* onnx_output.c - writes a model's pieces and its data file to the disk. Large pieces go out from
 * where they lie, small ones are gathered, generated weights are made block by block: memory stays
 * at a megabyte whatever the model's size. Offsets in the data file are multiples of a page, so
 * that a reader can map each tensor; the gaps are holes. Not synced to disk: the files are results
 * that can be made again. */
#include "model/onnx/onnx_output.h"

#include "model/tensor_data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 20) /* bytes made or gathered at a time: fits a core's cache */

#define CHUNK ((size_t)16 << 20) /* bytes between two looks at the interrupt */

/* Where bytes go, and what may stop them. */
struct sink {
    int fd;
    const volatile int *interrupt;
};

/* Returns an errno; ECANCELED after an interrupt. */
static int write_all(const struct sink *sink, const uint8_t *data, size_t size)
{
    while (size > 0) {
        size_t chunk = size < CHUNK ? size : CHUNK;
        if (sink->interrupt && *sink->interrupt) return ECANCELED;
        ssize_t wrote = write(sink->fd, data, chunk);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return errno;
        data += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

static int write_generated(const struct assay__generator *generator, size_t size,
                           const struct sink *sink, uint8_t *block)
{
    const size_t some = BLOCK / sizeof(float), count = size / sizeof(float);
    int number = 0;
    for (size_t at = 0; at < count && !number; at += some) {
        size_t now = count - at < some ? count - at : some;
        assay__weights_fill(generator, at, (float *)(void *)block, now);
        number = write_all(sink, block, now * sizeof(float));
    }
    return number;
}

/* Returns an errno. */
static int write_pieces(const struct assay__onnx_output *output, const struct sink *sink,
                        uint8_t *block)
{
    size_t have = 0;
    int number = 0;
    for (size_t i = 0; i < output->piece_count && !number; i++) {
        const struct assay__onnx_piece *piece = &output->pieces[i];
        if (piece->size == 0) continue;
        const uint8_t *data = piece->data ? piece->data : output->bytes + piece->offset;
        if (piece->generator || piece->size > BLOCK - have) {
            number = write_all(sink, block, have);
            have = 0;
        }
        if (number) break;
        if (piece->generator) {
            number = write_generated(piece->generator, piece->size, sink, block);
        } else if (piece->size > BLOCK / 4) {
            number = write_all(sink, block, have);
            have = 0;
            if (!number) number = write_all(sink, data, piece->size);
        } else {
            memcpy(block + have, data, piece->size);
            have += piece->size;
        }
    }
    return number ? number : write_all(sink, block, have);
}

static int fail(const char *path, int number, struct assay_error *error)
{
    if (number == ECANCELED)
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted; nothing was written");
    return assay_error_set(error, ASSAY_EIO, "%.400s: cannot write: %s", path, strerror(number));
}

static int write_spilled(const struct assay__onnx_output *output, const char *path,
                         const struct sink *sink, uint8_t *block, struct assay_error *error)
{
    for (size_t i = 0; i < output->spilled_count; i++) {
        const struct assay__onnx_spilled *spilled = &output->spilled[i];
        const struct assay__tensor *tensor = spilled->tensor;
        struct assay__tensor_view view = {.size = 0};
        int number = 0;
        if (lseek(sink->fd, (off_t)spilled->offset, SEEK_SET) < 0) return fail(path, errno, error);
        if (tensor->generator && !tensor->external) {
            number = write_generated(tensor->generator, spilled->size, sink, block);
        } else {
            int code = assay__tensor_open(output->model, tensor, &view, error);
            if (code) return code;
            number = write_all(sink, view.data, view.size);
            assay__tensor_close(&view);
        }
        if (number) return fail(path, number, error);
    }
    return 0;
}

/* Writes to a fresh file beside `path`, whose name it leaves in `temporary`: "" when there is
 * none. */
static int write_temporary(const struct assay__onnx_output *output, const char *path, bool data,
                           uint8_t *block, char temporary[PATH_MAX], struct assay_error *error)
{
    int code = 0, number = EEXIST;
    struct sink sink = {-1, output->interrupt};
    for (unsigned attempt = 0; attempt < 100 && number == EEXIST; attempt++) {
        int length = snprintf(temporary, PATH_MAX, "%s.%ld.%u.tmp", path, (long)getpid(), attempt);
        bool fits = length >= 0 && length < PATH_MAX;
        if (fits) sink.fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        number = sink.fd >= 0 ? 0 : fits ? errno : ENAMETOOLONG;
    }
    if (number) {
        temporary[0] = '\0';
        return fail(path, number, error);
    }
    if (data)
        code = write_spilled(output, path, &sink, block, error);
    else
        number = write_pieces(output, &sink, block);
    if (close(sink.fd) && !number) number = errno;
    if (!code && number) code = fail(path, number, error);
    return code;
}

int assay__onnx_output_write(const struct assay__onnx_output *output, const char *path,
                             struct assay_error *error)
{
    char model[PATH_MAX] = "", data[PATH_MAX] = "", data_path[PATH_MAX];
    uint8_t *block = malloc(BLOCK);
    bool both = output->spilled_count > 0;
    int code = block ? 0 : assay_error_set(error, ASSAY_ENOMEM, "%.300s: out of memory", path);
    int length = snprintf(data_path, sizeof data_path, "%s.data", path);
    if (!code && (length < 0 || (size_t)length >= sizeof data_path))
        code = assay_error_set(error, ASSAY_ELIMIT, "%.200s…: the path is too long", path);
    if (!code && both) code = write_temporary(output, data_path, true, block, data, error);
    if (!code) code = write_temporary(output, path, false, block, model, error);
    if (!code && both) {
        if (rename(data, data_path))
            code = fail(data_path, errno, error);
        else
            data[0] = '\0';
    }
    if (!code && rename(model, path)) code = fail(path, errno, error);
    if (code && *data) unlink(data);
    if (code && *model) unlink(model);
    free(block);
    return code;
}
