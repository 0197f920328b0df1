#include "cli/record_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/say.h"
#include "record/rotate.h"
#include "record/writer.h"

int record_file_create(const char *path, struct record_file *out_file,
		       struct recording_writer **out_writer, struct error *err)
{
	struct record_file file = { 0 };

	if (!path)
		path = "profile.fathom";
	int rc = recording_rotate(path, getpid(), &file.path, err);

	if (rc < 0)
		return error_wrap(err, rc, "cannot record");
	if (rc == RECORDING_ROTATION_KEPT)
		file.kept_path = xasprintf("%s.old", file.path);
	if (rc == RECORDING_ROTATION_AVOIDED)
		say("%s is still being written: this recording is %s", path, file.path);
	rc = recording_writer_create(file.path, out_writer, err);
	if (rc < 0) {
		if (file.kept_path)
			rename(file.kept_path, file.path);
		record_file_done(&file);
		return error_wrap(err, rc, "cannot record");
	}
	*out_file = file;
	return 0;
}

void record_file_take_back(struct record_file *file)
{
	/* The rename replaces the new file; without an older one the new file is removed. */
	if (file->kept_path)
		rename(file->kept_path, file->path);
	else
		unlink(file->path);
}

void record_file_done(struct record_file *file)
{
	free(file->path);
	free(file->kept_path);
	*file = (struct record_file){ 0 };
}
