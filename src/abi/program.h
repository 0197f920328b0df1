/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * program - decides from a program's file whether our agent can be preloaded into it, as the
 * kernel and ld.so would start it.
 *
 * Used by the recorder, before it starts the command and when it must explain why no agent
 * registered, and by the agent, before each exec.  A program that cannot load the agent gets
 * exactly the environment it would have without us: ld.so prints a line for each library that it
 * cannot preload, and musl's does not start the program at all.
 *
 * Freestanding, without allocation; every loop is bounded, every byte may be hostile.  The file
 * that includes this defines how files are accessed (struct program_file and the functions
 * below).  Does not search PATH, and ignores binfmt_misc: a file is judged by its own content.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/program_libraries.h"
#include "abi/program_kind.h"
#include "abi/types.h"

/* exec_binprm() in fs/exec.c gives ELOOP at the sixth rewrite (Linux 5.8). */
#define PROGRAM_LEVELS_MAX 5

struct program_status {
	u32 mode; /* as stat(2) has it */
	u32 uid, gid;
};

/* The ids of the process that calls exec; a file's set-user-ID bits are compared with them. */
struct program_ids {
	u32 ruid, euid;
	u32 rgid, egid;
};

/*
 * The file executed, at first the program, then interpreters of "#!" lines; defined by the
 * includer.
 */
struct program_file;
/*
 * Opens the regular file that path names, in place of the one open before.  PROGRAM_ENTERABLE: it
 * may be enterable; else why it is not.
 */
static inline enum program_kind program_open(struct program_file *file, const char *path,
					     struct program_status *out_status);
/* Reads the file's "security.capability": the length, at most len; 0 or negative: it has none. */
static inline long program_read_capabilities(struct program_file *file, void *dst, u32 len);
/*
 * Whether set-user-ID bits and capabilities have an effect: not with no_new_privs, nor on
 * "nosuid".
 */
static inline bool program_may_gain(struct program_file *file);
/* Whether path (NULL: the open file) is the dynamic loader that started our own process. */
static inline bool program_is_our_loader(struct program_file *file, const char *path);

struct program_question {
	struct program_ids ids;
	/* argv[1], or NULL: the program that ld.so starts if it is run by its name. */
	const char *first_argument;
};

#define PROGRAM_SET_UID   04000U
#define PROGRAM_SET_GID   02000U
#define PROGRAM_GROUP_RUN 00010U

/*
 * struct vfs_cap_data (linux/capability.h), little-endian: flags, the lowest being "effective",
 * then permitted and inheritable in turns.  A process whose real id is root's gains nothing by
 * them.
 */
static inline bool program_has_capabilities(struct program_file *file)
{
	u8 data[24];
	const long len = program_read_capabilities(file, data, sizeof data);

	if (len < 12)
		return false;
	return (data[0] & 1) != 0 || program_u32(data + 4) != 0 ||
	       (len >= 20 && program_u32(data + 12) != 0);
}

/*
 * AT_SECURE, as cap_bprm_creds_from_file() decides (security/commoncap.c): the program's
 * effective ids are not the caller's real ones, or it gains capabilities.
 */
static inline bool program_is_privileged(struct program_file *file,
					 const struct program_status *status,
					 const struct program_ids *ids)
{
	const u32 set_gid = PROGRAM_SET_GID | PROGRAM_GROUP_RUN;
	u32 euid = ids->euid, egid = ids->egid;

	if (status->mode & PROGRAM_SET_UID)
		euid = status->uid;
	if ((status->mode & set_gid) == set_gid)
		egid = status->gid;
	const bool is_secure = ids->euid != ids->ruid || ids->egid != ids->rgid;
	const bool would_gain = euid != ids->ruid || egid != ids->rgid ||
				(ids->ruid != 0 && program_has_capabilities(file));

	return is_secure || (would_gain && program_may_gain(file));
}

static inline const char *program_last_part(const char *path)
{
	const char *last = path;

	for (u32 i = 0; path[i] != '\0'; i++) {
		if (path[i] == '/')
			last = path + i + 1;
	}
	return last;
}

/* Judges a program for this machine by its dynamic loader. */
static inline enum program_kind program_judge_loader(struct program_file *file,
						     const struct program_elf *elf)
{
	if (!elf->has_interpreter)
		return PROGRAM_STATIC;
	if (program_begins_with(program_last_part(elf->interpreter), "ld-musl"))
		return PROGRAM_MUSL;
	return program_is_our_loader(file, elf->interpreter) ? PROGRAM_ENTERABLE
							     : PROGRAM_OTHER_LIBC;
}

/*
 * Copies the interpreter of a "#!" line to out_path, as fs/binfmt_script.c finds it.  0: no
 * script; negative: the kernel would not accept it as one.
 */
static inline int program_parse_script(const u8 *head, u32 len,
				       char out_path[PROGRAM_HEAD_SIZE])
{
	u32 from = 2, to;

	if (len < 2 || head[0] != '#' || head[1] != '!')
		return 0;
	while (from < len && (head[from] == ' ' || head[from] == '\t'))
		from++;
	to = from;
	while (to < len && head[to] != ' ' && head[to] != '\t' && head[to] != '\n' &&
	       head[to] != '\0')
		to++;
	const bool is_cut = to == len && len == PROGRAM_HEAD_SIZE;

	if (to == from || is_cut)
		return -1;
	for (u32 i = from; i < to; i++)
		out_path[i - from] = (char)head[i];
	out_path[to - from] = '\0';
	return 1;
}

static inline enum program_kind program_judge_elf(struct program_file *file,
						  const struct program_status *status,
						  const struct program_question *question,
						  struct program_elf *elf)
{
	const enum program_elf_verdict verdict = program_elf_read(elf);

	if (verdict == PROGRAM_ELF_OTHER_CLASS)
		return PROGRAM_OTHER_CLASS;
	if (verdict == PROGRAM_ELF_OTHER_MACHINE)
		return PROGRAM_OTHER_MACHINE;
	if (verdict != PROGRAM_ELF_OURS)
		return PROGRAM_NOT_A_PROGRAM;
	if (program_is_privileged(file, status, &question->ids))
		return PROGRAM_PRIVILEGED;

	const enum program_kind kind = program_judge_loader(file, elf);

	return kind == PROGRAM_ENTERABLE && program_elf_is_go(elf) ? PROGRAM_GO : kind;
}

/*
 * Judges one file.  1: go on with *next, which is its interpreter, or the program that ld.so is
 * to start; 0: *answer is complete.
 */
static inline int program_judge_one(struct program_file *file,
				    const struct program_status *status,
				    const struct program_question *question,
				    struct program_answer *answer, const char **next,
				    char script[PROGRAM_HEAD_SIZE])
{
	struct program_elf elf = { .file = file };
	u32 head_len;
	const u8 *head = program_head(&elf, &head_len);
	const int rc = program_parse_script(head, head_len, script);

	answer->kind = PROGRAM_NOT_A_PROGRAM;
	if (rc < 0)
		return 0;
	if (rc > 0) {
		*next = script;
		return 1;
	}
	answer->kind = program_judge_elf(file, status, question, &elf);
	if (answer->kind == PROGRAM_ENTERABLE)
		program_elf_first_libraries(&elf, answer->first_libraries);
	if (answer->kind != PROGRAM_STATIC || !program_is_our_loader(file, NULL))
		return 0;
	answer->kind = PROGRAM_LOADER;
	*next = question->first_argument;
	return *next != NULL && (*next)[0] != '-';
}

/* Judges the open file. */
static inline void program_judge(struct program_file *file, struct program_status status,
				 const struct program_question *question,
				 struct program_answer *out_answer)
{
	char script[PROGRAM_HEAD_SIZE];
	const char *next = NULL;

	*out_answer = (struct program_answer){ .kind = PROGRAM_NOT_A_PROGRAM };
	while (program_judge_one(file, &status, question, out_answer, &next, script)) {
		out_answer->kind = PROGRAM_NOT_A_PROGRAM;
		if (++out_answer->levels > PROGRAM_LEVELS_MAX)
			return;
		out_answer->kind = program_open(file, next, &status);
		if (out_answer->kind != PROGRAM_ENTERABLE)
			return;
	}
}
