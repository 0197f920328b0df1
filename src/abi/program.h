/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * program - what the kernel makes of a file that is executed, and whether our agent can be
 * preloaded into that.
 *
 * One judge for the recorder, which asks before it starts the command and when it has to say
 * why no agent came, and for the agent, which asks before each exec.  A program that cannot
 * be entered gets exactly the environment it would have without us: ld.so prints a line for
 * each library that it cannot preload, and musl's does not start the program at all.
 *
 * Freestanding, without allocation; every loop is bounded, every byte may be hostile.  What
 * includes this defines what a file is (struct program_file and the functions below).  Does
 * not search PATH, and does not know binfmt_misc: a file is judged as what it is.
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

/* Whose exec it is: their own rights decide what a file's rights change. */
struct program_ids {
	u32 ruid, euid;
	u32 rgid, egid;
};

/* What is executed, at first and then as "#!" lines lead on: defined by what includes this. */
struct program_file;
/*
 * Opens the regular file that path names, instead of what was open before: PROGRAM_ENTERABLE,
 * for it may be, or what else is known by that.
 */
static inline enum program_kind program_open(struct program_file *file, const char *path,
					     struct program_status *out_status);
/* The file's "security.capability": its length, at most len; 0 or negative: it has none. */
static inline long program_read_capabilities(struct program_file *file, void *dst, u32 len);
/* Whether set-user-ID bits and capabilities count: not with no_new_privs, nor on "nosuid". */
static inline bool program_may_gain(struct program_file *file);
/* Whether path (NULL: what is open) is the dynamic loader that started our own process. */
static inline bool program_is_our_loader(struct program_file *file, const char *path);

struct program_question {
	struct program_ids ids;
	/* argv[1], or NULL: ld.so, run by its name, starts that. */
	const char *first_argument;
};

#define PROGRAM_SET_UID   04000U
#define PROGRAM_SET_GID   02000U
#define PROGRAM_GROUP_RUN 00010U

/*
 * struct vfs_cap_data (linux/capability.h), little-endian: flags, the lowest being "effective",
 * then permitted and inheritable by turns.  Root by its real id gains nothing by them.
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
 * AT_SECURE, as cap_bprm_creds_from_file() decides (security/commoncap.c): the ids the
 * program will run by are not the caller's real ones, or it gains capabilities.
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

/* How a program that this machine runs is started. */
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
 * The interpreter of a "#!" line into out_path, as fs/binfmt_script.c finds it.  0 when this
 * is no script, negative when the kernel would not take it for one.
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
 * One file.  1 when it leads on to the one in next, which is its interpreter, or what ld.so is
 * to start; 0 when answer has its kind.
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

/* Judges what file has open. */
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
