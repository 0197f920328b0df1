/*
 * rotate - moves an older recording out of the way of a new one, as NAME.old.
 *
 * Never touches a file that is not a recording, nor one that is still being written.
 */
#pragma once
#include <sys/types.h>

struct error;

enum recording_rotation {
	RECORDING_ROTATION_FREE,    /* nothing was in the way */
	RECORDING_ROTATION_KEPT,    /* an older recording is now path.old */
	RECORDING_ROTATION_AVOIDED, /* path is still being written: *out_path is another one */
};

/*
 * Decides where recording_writer_create() may make a recording requested at path: there, or at
 * <stem>.<pid>.fathom if another recorder is still writing at path. Stores it in *out_path,
 * which the caller frees. Returns an enum recording_rotation, or a negative errno and a
 * sentence: -EEXIST if a file that is not a recording is at path or at path.old.
 */
int recording_rotate(const char *path, pid_t pid, char **out_path, struct error *err);
