#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* exec_binprm() in fs/exec.c gives ELOOP at the sixth rewrite (Linux 5.8). */
#define SCRIPT_LEVELS_MAX 5
/* BINPRM_BUF_SIZE since Linux 5.1: what the kernel reads of a file to recognize it. */
#define SCRIPT_HEAD_SIZE 256

static int open_executable(const char *path, struct stat *out_stat, struct error *err)
{
	if (stat(path, out_stat) < 0)
		return error_errno(err, -errno, "cannot run %s", path);
	if (S_ISDIR(out_stat->st_mode))
		return error_set(err, -EACCES, "cannot run %s: it is a directory", path);
	if (!S_ISREG(out_stat->st_mode))
		return error_set(err, -EACCES, "cannot run %s: not a regular file", path);
	/* By the effective ids, as exec does. */
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return error_errno(err, -errno, "cannot run %s", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? error_errno(err, -errno, "cannot look into %s", path) : fd;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * The interpreter of a "#!" head (len bytes, followed by a NUL) into out_path.  0 when this
 * is no script; -ENOEXEC when the kernel would not take it for one.
 */
static int parse_script(const char *head, size_t len, char out_path[SCRIPT_HEAD_SIZE])
{
	if (len < 2 || head[0] != '#' || head[1] != '!')
		return 0;

	const char *at = head + 2;
	while (is_blank(*at))
		at++;
	size_t path_len = strcspn(at, " \t\n");
	bool is_cut = at[path_len] == '\0' && len == SCRIPT_HEAD_SIZE;
	if (path_len == 0 || is_cut)
		return -ENOEXEC;
	memcpy(out_path, at, path_len);
	out_path[path_len] = '\0';
	return 1;
}

static bool has_capabilities(int fd)
{
	return fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* One level: 1 and the interpreter in out_next, or 0 and *program filled. */
static int inspect_file(const char *path, struct target_program *program,
			char out_next[SCRIPT_HEAD_SIZE], struct error *err)
{
	char head[SCRIPT_HEAD_SIZE + 1] = { 0 };
	struct stat st;
	CLEANUP(closep) int fd = open_executable(path, &st, err);

	if (fd < 0)
		return fd;
	ssize_t len = pread(fd, head, SCRIPT_HEAD_SIZE, 0);
	if (len < 0)
		return error_errno(err, -errno, "cannot look into %s", path);
	int rc = parse_script(head, (size_t)len, out_next);
	if (rc < 0)
		return error_set(err, rc, "%s: its \"#!\" line names no interpreter", path);
	if (rc > 0)
		return 1;
	rc = elf_header_read_fd(fd, path, &program->elf, NULL);
	if (rc < 0)
		return error_set(err, rc, "%s: neither an ELF file nor a script with \"#!\"",
				 path);
	program->is_privileged = (st.st_mode & (S_ISUID | S_ISGID)) || has_capabilities(fd);
	return 0;
}

int target_program_inspect(const char *path, struct target_program *out_program,
			   struct error *err)
{
	struct target_program program = { 0 };
	char next[SCRIPT_HEAD_SIZE];

	if ((size_t)snprintf(program.path, sizeof program.path, "%s", path) >=
	    sizeof program.path)
		return error_set(err, -ENAMETOOLONG, "cannot run %s: its path is too long",
				 path);
	for (;;) {
		int rc = inspect_file(program.path, &program, next, err);
		if (rc < 0 && program.script_levels > 0)
			return error_wrap(err, rc, "%s: its interpreter", path);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		if (++program.script_levels > SCRIPT_LEVELS_MAX)
			return error_set(err, -ELOOP,
					 "cannot run %s: too many interpreters of interpreters",
					 path);
		memcpy(program.path, next, sizeof next);
	}
	*out_program = program;
	return 0;
}
