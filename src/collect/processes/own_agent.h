/*
 * own_agent - the agent as a running process has it mapped: a memfd (abi/attach.h), of which only the
 * recorder has the file.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A mapping with its first page, in a process; build_id_len 0: not known, it is read in its memory. */
struct own_agent_mapping {
	const char *path;
	pid_t pid;
	uint64_t start, file_offset;
	const uint8_t *build_id;
	size_t build_id_len;
};

/* Whether it is of this very file, and not of another version's. */
bool own_agent_is(const struct own_agent_mapping *mapping, const char *agent_path);
