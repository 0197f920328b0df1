/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * program_kind - the verdicts of program.h: whether an agent can be loaded into a program, or why
 * not.
 */
#pragma once
#include "abi/types.h"

/* For root they gain nothing, so ld.so loads the agent and perf events stay enabled. */
#define PROGRAM_PRIVILEGED_SENTENCE                                                    \
	"set-user-ID, set-group-ID or with file capabilities: where those are root's " \
	"rights, 'sudo fathom record' samples it, and what it starts"

/* The sentences stand in the report, behind the program's name. */
#define PROGRAM_KIND_MAP(X)                                                            \
	X(ENTERABLE, "")                                                               \
	X(MISSING, "its program file is gone")                                         \
	/* A user who may not read a file may not look into its process. */            \
	X(UNREADABLE, "its program file cannot be read")                               \
	/* A shell may execute it, or binfmt_misc. */                                  \
	X(NOT_A_PROGRAM, "neither an ELF file nor a script with \"#!\"")               \
	X(STATIC, "statically linked")                                                 \
	X(OTHER_CLASS, "a 32-bit program")                                             \
	X(OTHER_MACHINE, "built for another machine")                                  \
	X(MUSL, "linked with musl, not glibc")                                         \
	X(OTHER_LIBC, "started by another dynamic loader than ours")                   \
	X(PRIVILEGED, PROGRAM_PRIVILEGED_SENTENCE)                                     \
	X(GO, "a Go program: it takes signals by raw system calls")                    \
	/* ld.so was asked to do something else than to start a program. */            \
	X(LOADER, "the dynamic loader itself")                                         \
	/* The agent's file is not there: another root, or another mount namespace. */ \
	X(AGENT_OUT_OF_REACH, "it runs where the agent's file is not")

enum program_kind {
#define X(name, sentence) PROGRAM_##name,
	PROGRAM_KIND_MAP(X)
#undef X
		PROGRAM_KIND_COUNT,
};

#define PROGRAM_LIBRARIES_SIZE 160

struct program_answer {
	enum program_kind kind;
	u32 levels; /* "#!" lines followed, and programs started by ld.so */
	/*
	 * Of an enterable one: the libraries that must come before the agent in LD_PRELOAD, as
	 * they do in the program's list of libraries: "libasan.so.8", "a:b", or nothing.
	 */
	char first_libraries[PROGRAM_LIBRARIES_SIZE];
};
