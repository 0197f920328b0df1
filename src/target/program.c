#include "program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "abi/program.h"
#include "base/memory.h"

struct program_file {
	int fd; /* -1: none */
	struct stat stat;
	char *path; /* of PATH_MAX bytes */
};

static const char *const sentences[] = {
#define X(name, sentence) [PROGRAM_##name] = sentence,
	PROGRAM_KIND_MAP(X)
#undef X
};

static void file_close(struct program_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/*
 * Checked before it is opened: opening a FIFO would wake its writer, and some devices act on
 * being opened.
 */
static inline enum program_kind program_open(struct program_file *file, const char *path,
					     struct program_status *out_status)
{
	file_close(file);
	if (stat(path, &file->stat) < 0)
		return errno == ENOENT || errno == ENOTDIR ? PROGRAM_MISSING
							   : PROGRAM_UNREADABLE;
	if (!S_ISREG(file->stat.st_mode))
		return PROGRAM_NOT_A_PROGRAM;
	snprintf(file->path, PATH_MAX, "%s", path);
	*out_status = (struct program_status){ file->stat.st_mode, file->stat.st_uid,
					       file->stat.st_gid };
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return file->fd >= 0 ? PROGRAM_ENTERABLE : PROGRAM_UNREADABLE;
}

static inline long program_read(struct program_file *file, void *dst, u32 len, u64 offset)
{
	return pread(file->fd, dst, len, (off_t)offset);
}

static inline long program_read_capabilities(struct program_file *file, void *dst, u32 len)
{
	return fgetxattr(file->fd, "security.capability", dst, len);
}

static inline bool program_may_gain(struct program_file *file)
{
	struct statvfs system;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	return fstatvfs(file->fd, &system) < 0 || (system.f_flag & ST_NOSUID) == 0;
}

/* The agent uses the glibc that this process was started with. */
static inline bool program_is_our_loader(struct program_file *file, const char *path)
{
	const void *start = (const void *)getauxval(AT_BASE);
	const char *ours = PROGRAM_USUAL_LOADER;
	struct stat our_stat, status = file->stat;
	Dl_info info;

	if (start != NULL && dladdr(start, &info) != 0 && info.dli_fname != NULL)
		ours = info.dli_fname;
	if (path != NULL && strcmp(path, ours) == 0)
		return true;
	if (path != NULL && stat(path, &status) < 0)
		return false;
	return stat(ours, &our_stat) == 0 && status.st_dev == our_stat.st_dev &&
	       status.st_ino == our_stat.st_ino;
}

bool program_has_no_agent(enum program_kind kind)
{
	return kind == PROGRAM_STATIC || kind == PROGRAM_OTHER_CLASS || kind == PROGRAM_MUSL ||
	       kind == PROGRAM_OTHER_LIBC || kind == PROGRAM_GO ||
	       kind == PROGRAM_OTHER_MACHINE;
}

void target_program_judge(const char *path, char *const *argv,
			  struct target_program *out_program)
{
	struct program_file file = { .fd = -1, .path = out_program->path };
	struct program_status status = { 0 };
	struct program_question question = { .ids = { getuid(), geteuid(), getgid(),
						      getegid() } };

	*out_program = (struct target_program){ 0 };
	if (argv != NULL && argv[0] != NULL)
		question.first_argument = argv[1];

	struct program_answer answer = { .kind = program_open(&file, path, &status) };

	if (answer.kind == PROGRAM_ENTERABLE)
		program_judge(&file, status, &question, &answer);
	file_close(&file);
	out_program->kind = answer.kind;
	out_program->is_enterable = answer.kind == PROGRAM_ENTERABLE;
	out_program->why_not = sentences[answer.kind];
	out_program->levels = answer.levels;
	memcpy(out_program->first_libraries, answer.first_libraries,
	       sizeof answer.first_libraries);
}
